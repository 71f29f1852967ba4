import { type StreamPlan, segmentStartMs, TRANSPORT_OFFSET_MS } from '../segments/plan.ts';
import type { Cue } from './cues.ts';

export const TELETEXT = 'dvb_teletext';

/** Codecs that are text, or become it, when a worker takes them out; one that ffmpeg cannot read would fail the others with it. */
export const TEXT_CODECS: readonly string[] = [
  ...['subrip', 'ass', 'ssa', 'webvtt', 'mov_text', 'text'],
  ...[TELETEXT, 'eia_608'],
];

/**
 * Where a text track of a file is kept once a worker has taken it out (bucket `foyer-subtitles`): SubRip, WebVTT or
 * SubStation in UTF-8, as its beginning says, on the film's clock.
 */
export function textTrackKey(source: { fileId: string; version: string }, streamIndex: number): string {
  return `tracks/${source.fileId}/${source.version}/${streamIndex}.txt`;
}

/** What fonts the file carries: written once they all are. */
export function fontsKey(source: { fileId: string; version: string }): string {
  return `fonts/${source.fileId}/${source.version}/list.json`;
}

/** A font that the file carries, by its place among the attached files. */
export function fontKey(source: { fileId: string; version: string }, place: number): string {
  return `fonts/${source.fileId}/${source.version}/${place}`;
}

/** In one segment; a player draws no more. */
const MOST_SHOWN = 200;

/**
 * One WebVTT segment: the cues shown during it, with their whole times, so that one that crosses a border is in both and
 * players take it once. The map says what the clock of the segments shows at the film's beginning.
 */
export function vttSegment(plan: StreamPlan, n: number, cues: readonly Cue[]): string {
  const [start, end] = [segmentStartMs(plan, n), segmentStartMs(plan, n + 1)];
  const ticks = plan.container === 'ts' ? TRANSPORT_OFFSET_MS * 90 : 0;
  const head = `WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:${ticks},LOCAL:00:00:00.000\n`;
  const shown = cues.filter((cue) => cue.startMs < end && cue.endMs > start).slice(0, MOST_SHOWN);
  return `${head}${shown.map(webvttBlock).join('') || '\n'}`;
}

/** A cue as WebVTT has it, with the empty line before. */
export function webvttBlock({ startMs, endMs, settings, text }: Cue): string {
  return `\n${clock(startMs)} --> ${clock(endMs)}${settings ? ` ${settings}` : ''}\n${text}\n`;
}

function clock(ms: number): string {
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(h)}:${two(m)}:${two(s)}.${String(ms % 1000).padStart(3, '0')}`;
}
