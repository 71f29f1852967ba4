import type { StretchRow } from '#areas/subtitles/speech/turns.store.ts';
import type { Child } from './child.ts';
import { toTag } from './load-model.ts';
import { readSound, type Soundtrack } from './sound.ts';

const PART_MS = 30_000;
/** Where the three parts lie whose language is judged. */
const PLACES = [0.15, 0.5, 0.8];
/** Without speech in it, a part is looked for so often further on. */
const MOST_TRIES = 4;
/** So many stretches that disagree change the language. */
const AGAINST = 3;
/** The language is compared in so many stretches with speech. */
export const COMPARED = 8;

/** The language of a soundtrack by three parts of it; undefined without speech. */
export async function judgeLanguage(
  child: Child,
  track: Soundtrack,
  { durationMs, signal }: { durationMs: number; signal: AbortSignal },
): Promise<string | undefined> {
  const sums = new Map<string, number>();
  for (const place of PLACES) {
    const sound = await partWithSpeech(track, { fromMs: Math.round(durationMs * place), durationMs, signal });
    for (const [code, probability] of sound ? await child.detect(sound) : [])
      sums.set(toTag(code), (sums.get(toTag(code)) ?? 0) + probability);
  }
  return [...sums].sort(([, a], [, b]) => b - a)[0]?.[0];
}

async function partWithSpeech(
  track: Soundtrack,
  { fromMs, durationMs, signal }: { fromMs: number; durationMs: number; signal: AbortSignal },
): Promise<Buffer | undefined> {
  let at = Math.max(0, Math.min(fromMs, durationMs - PART_MS));
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const sound = await readSound(track, { fromMs: at, lengthMs: PART_MS, signal });
    const spokenMs = sound.speech.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
    if (spokenMs > PART_MS / 10) return sound.samples;
    at = (at + PART_MS) % Math.max(1, durationMs);
  }
  return undefined;
}

/**
 * The language to begin again in: the stretches disagree with the present one and agree with each other. `over` is true
 * when all was heard, so that fewer stretches decide.
 */
export function betterLanguage(
  stretches: readonly Pick<StretchRow, 'heard'>[],
  spoken: string,
  over: boolean,
): string | undefined {
  const heard = stretches.flatMap((stretch) => stretch.heard ?? []).slice(0, COMPARED);
  const counts = Map.groupBy(heard, (language) => language);
  const [best, votes] = [...counts].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  if (best === undefined || best === spoken || !votes) return undefined;
  return votes.length > heard.length / 2 && (over || votes.length >= AGAINST) ? best : undefined;
}
