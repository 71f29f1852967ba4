// Films whose speech is known, and texts next to them.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { saveVoice } from '#areas/libraries/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import { newId } from '#platform/ids.ts';
import { shownAt, type Timing } from '#platform/subtitles/timing.ts';
import { soundtrackOf } from '#workers/voice/listen.ts';
import type { Api } from './api.ts';
import type { GivenLibrary } from './given-items.ts';
import { tool } from './hls-validator.ts';
import { type ProbedFilm, probedFilm } from './probed-film.ts';

export interface Span {
  startMs: number;
  endMs: number;
}

/** Numbers between 0 and 1 of a linear congruential generator. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Lines of a film with pauses and scenes without words. */
export function linesOf(seed: number, lengthMs: number): Span[] {
  const random = randomOf(seed);
  const lines: Span[] = [];
  for (let at = 4000; at < lengthMs - 8000; ) {
    const endMs = at + 800 + random() ** 2 * 4500;
    lines.push({ startMs: Math.round(at), endMs: Math.round(endMs) });
    at = endMs + (random() < 0.88 ? 200 + random() * 2500 : 6000 + random() * 30_000);
  }
  return lines;
}

export const clock = (ms: number): string => new Date(Math.max(0, ms)).toISOString().slice(11, 23).replace('.', ',');
export const srt = (cues: readonly Span[]): string =>
  cues.map(({ startMs, endMs }, i) => `${i + 1}\n${clock(startMs)} --> ${clock(endMs)}\nLine ${i}\n`).join('\n');
export const moved = (cues: readonly Span[], to: (ms: number) => number): Span[] =>
  cues.map(({ startMs, endMs }) => ({ startMs: Math.round(to(startMs)), endMs: Math.round(to(endMs)) }));
export const rightOf = (timing: Timing, cues: readonly Span[], truth: readonly Span[]): number =>
  cues.filter(({ startMs }, i) => Math.abs(shownAt(timing, startMs) - (truth[i]?.startMs ?? 0)) <= 200).length /
  cues.length;

/** Stores the speech of the soundtrack of a film. */
export async function saySpeech({ deps: { db } }: Api, fileId: string, speech: readonly Span[]): Promise<void> {
  const source = await findSource(db, fileId);
  const stream = source?.probe && soundtrackOf(source.probe);
  if (!source || !stream) throw new Error('no soundtrack');
  await saveVoice(db, { ...source, streamIndex: stream.index }, speech);
}

/** A film of silence with known speech, of the name and length. */
export async function spokenFilm(
  api: Api,
  library: GivenLibrary,
  { name, lengthMs, speech }: { name: string; lengthMs: number; speech: readonly Span[] },
): Promise<ProbedFilm> {
  const path = join(api.mediaRoot, name);
  const seconds = lengthMs / 1000;
  const inputs = [
    '-f',
    'lavfi',
    '-i',
    `color=s=16x16:r=1:d=${seconds}`,
    '-f',
    'lavfi',
    '-i',
    `anullsrc=r=8000:d=${seconds}`,
  ];
  await tool('ffmpeg', ['-v', 'error', ...inputs, '-c:v', 'libx264', '-c:a', 'aac', '-b:a', '8k', path]);
  const made = await probedFilm(api, library, path);
  await saySpeech(api, made.fileId, speech);
  return made;
}

let texts = 0;

/** A text next to a film, with its ids and its path. */
export async function sidecar(
  { deps: { db }, mediaRoot }: Api,
  { fileId, itemId }: ProbedFilm,
  cues: readonly Span[],
): Promise<{ ids: { id: string; streamId: string }; path: string }> {
  texts += 1;
  const name = `Text ${texts}.srt`;
  const path = join(mediaRoot, name);
  writeFileSync(path, srt(cues));
  const { size, mtimeMs } = statSync(path);
  const streamId = newId();
  await db('media_streams').insert({
    ...{ id: streamId, file_id: fileId, kind: 'subtitle', codec: 'subrip', stream_index: 1000 + texts },
    ...{ external_path: name, external_size: size, external_modified_ms: mtimeMs, probe: '{}' },
  } as never);
  return { ids: { id: itemId, streamId }, path };
}
