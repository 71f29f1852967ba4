// The captions of a recording: those of its parts, as tracks of SubRip on the clock of the joined file.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CaptionCue, type CaptionService, readCaptions, type SegmentCaptions } from '#platform/live/captions.ts';
import { PARTS_BUCKET, partCaptionsKey } from '#platform/live/parts.ts';
import type { LiveSegment } from '#platform/live/segments.ts';
import type { Objects } from '#platform/objects.ts';

const WRAP = 2 ** 33;
/** A jump of the clock by more starts a new timeline in the joined file. */
export const JUMP_SECONDS = 3;
/** Cues that end and begin within this are one text over two parts. */
const SEAM_MS = 60;
const MOST_CUES = 50_000;
const TOP = 50;

export interface CaptionTrack {
  service: CaptionService;
  cues: CaptionCue[];
}

export interface CaptionedPart {
  part: Pick<LiveSegment, 'durationMs'>;
  captions: SegmentCaptions | undefined;
}

/** The cues of all parts. Pure. */
export function joinCaptions(parts: readonly CaptionedPart[]): CaptionTrack[] {
  const tracks = new Map<string, CaptionTrack>();
  let atMs = 0;
  let expected: number | undefined;
  for (const { part, captions } of parts) {
    const ticks = captions?.ticks ?? expected;
    if (ticks !== undefined && expected !== undefined) atMs += gapOf(ticks, expected);
    for (const service of captions?.services ?? []) collect(tracks, service, atMs);
    atMs += part.durationMs;
    expected = ticks && (ticks + part.durationMs * 90) % WRAP;
  }
  return [...tracks.values()].filter(({ cues }) => cues.length > 0);
}

function collect(
  tracks: Map<string, CaptionTrack>,
  { cues, ...service }: SegmentCaptions['services'][number],
  atMs: number,
): void {
  const track = tracks.get(service.id) ?? { service, cues: [] };
  tracks.set(service.id, track);
  for (const cue of cues) add(track.cues, { ...cue, startMs: cue.startMs + atMs, endMs: cue.endMs + atMs });
}

/** Milliseconds between the expected time of a part and its own; 0 where a new timeline begins. */
function gapOf(ticks: number, expected: number): number {
  const gap = ((((ticks - expected) % WRAP) + WRAP * 1.5) % WRAP) - WRAP / 2;
  return Math.abs(gap) <= JUMP_SECONDS * 90_000 ? Math.round(gap / 90) : 0;
}

function add(cues: CaptionCue[], cue: CaptionCue): void {
  const last = cues.at(-1);
  const goesOn = last && last.text === cue.text && last.line === cue.line && cue.startMs - last.endMs <= SEAM_MS;
  if (goesOn) last.endMs = cue.endMs;
  else if (cues.length < MOST_CUES) cues.push(cue);
}

const clock = (ms: number): string => new Date(Math.max(0, ms)).toISOString().slice(11, 23).replace('.', ',');

function subRip({ cues }: CaptionTrack): string {
  const blocks = cues.map(({ startMs, endMs, text, line }, at) => {
    const words = text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('{', '(').replaceAll('}', ')'); // no markup
    const place = line !== undefined && line < TOP ? '{\\an8}' : '';
    return `${at + 1}\n${clock(startMs)} --> ${clock(endMs)}\n${place}${words}\n`;
  });
  return blocks.join('\n');
}

/** Arguments of ffmpeg: inputs after the first one, and what becomes of them. */
export interface CaptionArguments {
  inputs: string[];
  outputs: string[];
}

/** Writes the captions of a recording into a folder, and returns how ffmpeg adds them. */
export async function captionArguments(
  { objects }: { objects: Objects },
  { recordingId, parts, folder }: { recordingId: string; parts: readonly LiveSegment[]; folder: string },
): Promise<CaptionArguments> {
  const read: CaptionedPart[] = [];
  for (const part of parts)
    read.push({ part, captions: await readCaptions({ objects }, partCaptionsKey(recordingId, part), PARTS_BUCKET) });
  const tracks = joinCaptions(read);
  const files = await Promise.all(
    tracks.map(async (track, at) => {
      const path = join(folder, `${at}.srt`);
      await writeFile(path, subRip(track));
      return path;
    }),
  );
  return {
    inputs: files.flatMap((path) => ['-protocol_whitelist', 'file', '-f', 'srt', '-i', path]),
    outputs: tracks.flatMap(({ service }, at) => [
      ...['-map', `${at + 1}:0`, `-metadata:s:s:${at}`, `language=${service.language}`],
      ...[`-disposition:s:${at}`, service.hearingImpaired ? 'hearing_impaired' : '0'],
    ]),
  };
}
