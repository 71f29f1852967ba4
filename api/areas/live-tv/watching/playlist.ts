import { type LiveSegment, segmentEnd } from '#platform/live/segments.ts';

export interface PlaylistOptions {
  window: 'short' | 'full';
  /** A delta: older segments that the player knows are left out. */
  skip: boolean;
  /** Repeated in every address. */
  ticket?: string | undefined;
  /** Where playback starts, Unix ms. */
  startMs?: number | undefined;
  /** Of the files of segments. */
  suffix?: 'ts' | 'vtt' | 'm4s';
  /** Name of the init segment of a segment, where they have one. */
  initOf?: (segment: LiveSegment) => string;
}

const SHORT_MS = 30_000;
/** Missing numbers that are listed as gaps; after more of them the list starts over. */
const MOST_MISSING = 100;
const LEAST_TARGET_SEC = 4;

/** Target duration of a list in seconds. */
export function targetOf(segments: readonly LiveSegment[]): number {
  return segments.reduce((most, one) => Math.max(most, Math.round(one.durationMs / 1000)), LEAST_TARGET_SEC);
}

/** The segments of a list: those of the window, without numbers that jump. */
export function windowOf(segments: readonly LiveSegment[], window: 'short' | 'full'): LiveSegment[] {
  const jump = segments.findLastIndex((one, at) => {
    const before = segments[at - 1];
    return before !== undefined && one.sequence - before.sequence > MOST_MISSING;
  });
  const connected = jump > 0 ? segments.slice(jump) : [...segments];
  const last = connected.at(-1);
  if (window === 'full' || !last) return connected;
  return connected.filter((one) => segmentEnd(one) > segmentEnd(last) - SHORT_MS);
}

/** The parts of a recording from its beginning: a list that grows until the recording is over. */
export function recordedPlaylist(
  parts: readonly LiveSegment[],
  { startMs = 0, isOver, ticket }: { startMs?: number | undefined; isOver: boolean; ticket?: string | undefined },
): string {
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:8',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-TARGETDURATION:${targetOf(parts)}`,
    '#EXT-X-PLAYLIST-TYPE:EVENT',
    `#EXT-X-MEDIA-SEQUENCE:${parts[0]?.sequence ?? 0}`,
    startAt(startMs),
    ...parts.flatMap((one, at) => entryOf(one, parts[at - 1], { ticket })),
    ...(isOver ? ['#EXT-X-ENDLIST'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** A sliding list of a rendition. `segments` are those of its window. */
export function livePlaylist(segments: readonly LiveSegment[], options: PlaylistOptions): string {
  const first = segments[0];
  const target = targetOf(segments);
  const skipped = options.skip ? skippedOf(segments, target) : 0;
  const entries = segments.map((one, at) => [
    ...(at === skipped && at > 0 ? mapOf(one, options) : []),
    ...entryOf(one, segments[at - 1], options),
  ]);
  const lines = [
    '#EXTM3U',
    `#EXT-X-VERSION:${skipped > 0 ? 9 : 8}`,
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-TARGETDURATION:${target}`,
    `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=${(target * 6).toFixed(1)}`,
    `#EXT-X-MEDIA-SEQUENCE:${first?.sequence ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${first?.discontinuity ?? 0}`,
    ...startLine(segments, options.startMs),
    ...(skipped > 0 ? [`#EXT-X-SKIP:SKIPPED-SEGMENTS=${numberOf(segments, skipped)}`] : []),
    ...entries.slice(skipped).flat(),
  ];
  return `${lines.join('\n')}\n`;
}

/** How many of the first segments are older than six target durations. */
function skippedOf(segments: readonly LiveSegment[], target: number): number {
  let left = target * 6000;
  let at = segments.length;
  while (at > 0 && left > 0) {
    at -= 1;
    left -= segments[at]?.durationMs ?? 0;
  }
  return at;
}

/** Entries of the list before the one at `at`, gaps included. */
function numberOf(segments: readonly LiveSegment[], at: number): number {
  const [first, last] = [segments[0], segments[at - 1]];
  return first && last ? last.sequence - first.sequence + 1 : 0;
}

function startLine(segments: readonly LiveSegment[], startMs: number | undefined): string[] {
  if (startMs === undefined) return [];
  let offsetMs = 0;
  for (const one of segments) {
    if (segmentEnd(one) > startMs) return [startAt(offsetMs + Math.max(0, startMs - one.startMs))];
    offsetMs += one.durationMs;
  }
  return [];
}

const startAt = (ms: number): string => `#EXT-X-START:TIME-OFFSET=${(ms / 1000).toFixed(3)},PRECISE=YES`;

/** The lines of a segment, after those of missing ones. */
function entryOf(
  one: LiveSegment,
  before: LiveSegment | undefined,
  options: Pick<PlaylistOptions, 'ticket' | 'suffix' | 'initOf'>,
): string[] {
  const ending = `.${options.suffix ?? 'ts'}${queryOf(options)}`;
  const lines = linesOf(one, ending);
  if (!before) return [...mapOf(one, options), ...lines];
  const missing = one.sequence - before.sequence - 1;
  const isListed = missing > 0 && missing <= MOST_MISSING;
  const gaps = isListed ? gapsBetween(before, one, { missing, ending }) : [];
  const isNew = before.discontinuity !== one.discontinuity || missing > MOST_MISSING;
  return [...gaps, ...(isNew ? ['#EXT-X-DISCONTINUITY', ...mapOf(one, options)] : []), ...lines];
}

const queryOf = ({ ticket }: Pick<PlaylistOptions, 'ticket'>): string =>
  ticket ? `?${new URLSearchParams({ ticket }).toString()}` : '';

/** The init segment from this segment on. */
const mapOf = (one: LiveSegment, options: Pick<PlaylistOptions, 'ticket' | 'initOf'>): string[] =>
  options.initOf ? [`#EXT-X-MAP:URI="segments/${options.initOf(one)}${queryOf(options)}"`] : [];

const linesOf = ({ sequence, startMs, durationMs }: LiveSegment, ending: string): string[] => [
  `#EXT-X-PROGRAM-DATE-TIME:${new Date(startMs).toISOString()}`,
  `#EXTINF:${(durationMs / 1000).toFixed(3)},`,
  `segments/${sequence}${ending}`,
];

/** Numbers without a segment keep their place, so that those of the list stay the stream's. */
function gapsBetween(
  before: LiveSegment,
  after: LiveSegment,
  { missing, ending }: { missing: number; ending: string },
): string[] {
  const durationMs = Math.min(4000, Math.max(1, (after.startMs - segmentEnd(before)) / missing));
  return Array.from({ length: missing }, (_, at) => {
    const startMs = Math.round(segmentEnd(before) + at * durationMs);
    return ['#EXT-X-GAP', ...linesOf({ ...before, sequence: before.sequence + 1 + at, startMs, durationMs }, ending)];
  }).flat();
}
