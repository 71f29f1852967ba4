// Listens to as much of a soundtrack as the fit of a text needs.
import { findVoice, saveVoice } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { HeldSound, joined } from '../../voice/held-sound.ts';
import { type Listening, listen, listenToStretches } from '../../voice/listen.ts';
import type { Work } from '../../work.ts';
import type { Fit } from './align.ts';
import type { Heard, Span } from './correlate.ts';
import type { TrackFilm } from './cues-of-track.ts';
import { fitToAll, fitToStretches } from './fit.ts';
import { Refusal } from './refusal.ts';

/** Below it nothing changes. */
export const LEAST_CONFIDENCE = 0.5;
const STRETCHES = 12;
const STRETCH_MS = 90_000;
/** The whole sound of a shorter film fits into memory: 69 MB. */
const LONG_FILM_MS = 2 * STRETCHES * STRETCH_MS;
/** Stretches of a short film that are listened to first, how much of it they are, and the length below which one shows too little. */
const FIRST_STRETCHES = 5;
const FIRST_SHARE = 1 / 3;
const FIRST_MS = 60_000;
/** Decoded behind the length that the container names. Sound there shows that the film is longer. */
const BEHIND_MS = 1000;
/** Of a shorter film the stretches are most; it is heard whole. */
const SHORTEST_FILM_MS = 600_000;

interface Comparing {
  film: TrackFilm;
  /** Index of the soundtrack. */
  stream: number;
  cues: readonly Span[];
}

interface Compared {
  fit: Fit;
  heard: Heard;
}

/** By the stored speech; else by a few stretches, and where these do not agree by the whole soundtrack. */
export async function heardFit(comparing: Comparing, work: Work): Promise<Compared> {
  const { film, stream, cues } = comparing;
  const of = { ...film, streamIndex: stream };
  const all = [{ startMs: 0, endMs: film.durationMs }];
  const known = await findVoice(work.db, of);
  if (known) return compared(cues, { speech: known, stretches: all });
  const found = film.durationMs < LONG_FILM_MS ? await hearShort(comparing, work) : await hearLong(comparing, work);
  if ('fit' in found) return found;
  await saveVoice(work.db, of, found.speech);
  return compared(cues, { speech: found.speech, stretches: all });
}

const compared = async (cues: readonly Span[], heard: Heard): Promise<Compared> => ({
  fit: await fitToAll(cues, heard),
  heard,
});

/** Undefined where the stretches do not agree. */
async function byStretches(cues: readonly Span[], heard: Heard): Promise<Compared | undefined> {
  const fit = await fitToStretches(cues, heard);
  return fit && fit.confidence >= LEAST_CONFIDENCE ? { fit, heard } : undefined;
}

type Found = Compared | { speech: Span[] };

/** Decodes a film once. Listening takes most of the processor: the parts between the first stretches only when they are needed. */
async function hearShort({ film, stream, cues }: Comparing, work: Work): Promise<Found> {
  const { durationMs } = film;
  const sound = await opened({ film, stream, totalMs: durationMs }, work, (given) =>
    HeldSound.read(given, durationMs + BEHIND_MS),
  );
  const progress = reporterOf(work, durationMs);
  const stretches = firstStretches(durationMs);
  const speech = await sound.speechIn(stretches, progress);
  const some = stretches.length > 0 ? await byStretches(cues, { speech, stretches }) : undefined;
  if (some) return some;
  if (sound.lengthMs > durationMs + BEHIND_MS / 2) return hearWhole({ film, stream }, work);
  const rest = between(stretches, durationMs);
  const done = durationMs - rest.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const others = await sound.speechIn(rest, (heardMs) => progress(done + heardMs));
  return { speech: joined([...speech, ...others], [...stretches, ...rest]) };
}

/** Stretches of a short film that are listened to first: evenly over it, its beginning and its end included. */
export function firstStretches(durationMs: number): Span[] {
  if (durationMs < SHORTEST_FILM_MS) return [];
  const lengthMs = Math.max(FIRST_MS, Math.round((durationMs * FIRST_SHARE) / FIRST_STRETCHES));
  const step = (durationMs - lengthMs) / (FIRST_STRETCHES - 1);
  return Array.from({ length: FIRST_STRETCHES }, (_, n) => {
    const startMs = Math.round(n * step);
    return { startMs, endMs: startMs + lengthMs };
  });
}

/** The parts of a film between stretches. */
function between(stretches: readonly Span[], durationMs: number): Span[] {
  const starts = [...stretches.map(({ startMs }) => startMs), durationMs];
  const parts = starts.map((endMs, n) => ({ startMs: stretches[n - 1]?.endMs ?? 0, endMs }));
  return parts.filter(({ startMs, endMs }) => endMs > startMs);
}

async function hearLong({ film, stream, cues }: Comparing, work: Work): Promise<Found> {
  const { durationMs } = film;
  const lengthMs = STRETCH_MS;
  const starts = Array.from({ length: STRETCHES }, (_, n) =>
    Math.round((durationMs / STRETCHES) * (n + 0.5) - lengthMs / 2),
  );
  const totalMs = 2 * STRETCHES * lengthMs;
  const some = await opened({ film, stream, totalMs }, work, (given) => listenToStretches(given, { starts, lengthMs }));
  const stretches = starts.map((startMs) => ({ startMs, endMs: startMs + lengthMs }));
  const found = await byStretches(cues, { speech: some, stretches });
  return found ?? hearWhole({ film, stream }, work);
}

async function hearWhole({ film, stream }: Pick<Comparing, 'film' | 'stream'>, work: Work): Promise<Found> {
  return { speech: await opened({ film, stream, totalMs: film.durationMs }, work, listen) };
}

interface Hearing {
  film: TrackFilm;
  stream: number;
  /** Of which progress is reported. */
  totalMs: number;
}

/** Reads a soundtrack. Throws a refusal when its storage is unavailable, and when it cannot be decoded. */
async function opened<T>(
  { film, stream, totalMs }: Hearing,
  work: Work,
  read: (given: Listening) => Promise<T | undefined>,
): Promise<T> {
  const place = await openMedia(work, film);
  if (place.kind !== 'there') throw new Refusal('storage');
  const given = { file: place.absolute, probe: film.probe, stream: { index: stream }, signal: work.signal };
  const found = await read({ ...given, progress: reporterOf(work, totalMs) });
  if (found !== undefined) return found;
  throw new Refusal((await openMedia(work, film)).kind === 'there' ? 'decode' : 'storage');
}

/** Reports the position in the soundtrack twice a second. */
function reporterOf(work: Work, totalMs: number): (heardMs: number) => void {
  let last = 0;
  return (heardMs) => {
    if (Date.now() - last < 500) return;
    last = Date.now();
    void report(work, heardMs, totalMs).catch(() => undefined);
  };
}

function report(work: Work, done: number, total: number): Promise<void> {
  return work.report(work.db, { done: Math.round(done), total: Math.round(total), unit: 'ms' });
}
