import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaConfig } from '#areas/storage/public.ts';
import { failRequest, finishRequest } from '#areas/subtitles/speech/endings.ts';
import { heardAs } from '#areas/subtitles/speech/languages.ts';
import { batchesRest } from '#areas/subtitles/speech/line.store.ts';
import type { RequestRow, Word } from '#areas/subtitles/speech/requests.store.ts';
import {
  findStretches,
  keepStretch,
  loseTurn,
  returnTurn,
  setSpoken,
  type Turn,
} from '#areas/subtitles/speech/turns.store.ts';
import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Settings } from '#platform/settings.ts';
import { FfmpegKilled } from '../../analysis/run.ts';
import type { Speech } from '../../voice/detector.ts';
import { type Child, ChildFailed } from './child.ts';
import { cuesOf, subripOf } from './cues.ts';
import { cutsAt, STRETCH_MS } from './cut.ts';
import { betterLanguage, COMPARED, judgeLanguage } from './languages.ts';
import { codeOf, toTag } from './load-model.ts';
import { firstOf, openSoundtrack, readSound, type Sound, type Soundtrack, tellingPart } from './sound.ts';
import { wordsOf } from './words.ts';

export interface HearingDeps {
  config: MediaConfig;
  db: Db;
  objects: Objects;
  settings: Settings;
  log: Log;
  /** The language of soundtracks that name none and whose speech is not to be judged. */
  language: string | undefined;
}

export interface Hearing {
  row: RequestRow;
  child: Child;
  /** Aborted when the request is no longer this worker's, or the worker ends. */
  signal: AbortSignal;
}

const STORAGE_MS = 30_000;
/** An outage of Postgres that a turn outlasts, and how often it is tried. */
const OUTAGE_MS = 600_000;
const AGAIN_MS = 500;
/** A soundtrack that broke off is not read again after so many attempts. */
const MOST_ATTEMPTS = 20;
/** A frame without a known rate, ms. */
const FRAME_MS = 40;

/** The request is over for this worker: it ended, went back, or another worker has it. */
class TurnOver extends Error {}

/** A soundtrack that ends so much earlier than its film may be one that can no longer be read. */
const EARLY_MS = 5000;

/**
 * Hears a film from its last checkpoint to its end. Throws when that failed. A child that ended, and an ffmpeg that was killed,
 * count as a loss at the stretch; after a failure of the GPU, of Postgres or of the object store the request waits without one.
 */
export async function hearFilm(deps: HearingDeps, hearing: Hearing): Promise<void> {
  const { row, signal } = hearing;
  try {
    await hearTrack(deps, hearing, await openOrEnd(deps, row));
  } catch (error) {
    if (error instanceof TurnOver || signal.aborted) return;
    await endTurnSoon(deps.db, hearing, error);
    throw error;
  }
}

/** Ends the turn as soon as Postgres is available again: a lease that runs out counts as a loss. */
async function endTurnSoon(db: Db, hearing: Hearing, error: unknown): Promise<void> {
  const { signal } = hearing;
  for (const until = performance.now() + OUTAGE_MS; !signal.aborted && performance.now() < until; ) {
    const isEnded = await endTurn(db, hearing, error).then(
      () => true,
      () => false,
    );
    if (isEnded) return;
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function endTurn(db: Db, { row, child }: Hearing, error: unknown): Promise<void> {
  if (isOurs(error) || error instanceof FfmpegKilled) return loseTurn(db, row);
  if (!(error instanceof ChildFailed)) return returnTurn(db, row, STORAGE_MS);
  if (error.reason === 'memory' && child.device === 'cuda') return returnTurn(db, row);
  if (error.reason === 'model') await failRequest(db, row, 'model');
  else await loseTurn(db, row);
}

/** An error that comes again however often it is tried: of the program, or a value that Postgres refuses. */
function isOurs(error: unknown): boolean {
  if ([TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)) return true;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^(?:22|23|42)[0-9A-Z]{3}$/.test(code);
}

/** Opens the soundtrack. While its storage is unavailable the request waits; without the file it fails. */
async function openOrEnd(deps: HearingDeps, row: RequestRow): Promise<Soundtrack> {
  const track = await openSoundtrack(deps, { fileId: row.file_id, index: row.audio_index });
  if (typeof track !== 'string') return track;
  if (track === 'unavailable') await returnTurn(deps.db, row, STORAGE_MS);
  else await failRequest(deps.db, row, 'storage');
  throw new TurnOver();
}

async function hearTrack(deps: HearingDeps, hearing: Hearing, track: Soundtrack): Promise<void> {
  const { row } = hearing;
  const known = await spokenOf(deps, hearing, track);
  if (known === undefined) return void (await failRequest(deps.db, row, 'no-speech'));
  let spoken: string = known;
  let compares = row.spoken_by !== 'person' && !row.respoken;
  for (;;) {
    const over = await hearStretch(deps, hearing, { track, spoken, compares });
    const better: string | undefined = compares
      ? betterLanguage(await findStretches(deps.db, row.id), spoken, over)
      : undefined;
    if (over && !better) return keepText(deps, row, { track, spoken });
    if (better) {
      await must(setSpoken(deps.db, row, { language: better, again: true }));
      [spoken, compares] = [better, false];
    }
    await restIfDue(deps, hearing);
  }
}

/** The language of the speech: known, declared for this server, or judged by the model. */
async function spokenOf(
  { db, language }: HearingDeps,
  { row, child, signal }: Hearing,
  track: Soundtrack,
): Promise<string | undefined> {
  if (row.spoken) return row.spoken;
  const declared = heardAs(language, child.languages.map(toTag));
  const heard = declared ?? (await judgeLanguage(child, track, { durationMs: row.duration_ms, signal }));
  if (heard) await must(setSpoken(db, row, { language: heard, again: false }));
  return heard;
}

/** Goes on only while the request is this worker's. */
async function must(kept: Promise<boolean>): Promise<void> {
  if (!(await kept)) throw new TurnOver();
}

/** Hears the stretch after the last checkpoint and commits it. True when it was the last one. */
async function hearStretch(
  deps: HearingDeps,
  { row, child, signal }: Hearing,
  { track, spoken, compares }: { track: Soundtrack; spoken: string; compares: boolean },
): Promise<boolean> {
  const { db } = deps;
  const before = await findStretches(db, row.id);
  const fromMs = before.at(-1)?.to_ms ?? 0;
  const began = performance.now();
  const sound = await readSound(track, { fromMs, lengthMs: STRETCH_MS, signal });
  signal.throwIfAborted();
  await refuseBroken(deps, row, { sound, fromMs });
  const cuts = cutsAt(sound.speech, sound.lengthMs);
  const lengthMs = cuts.at(-1) ?? 0;
  const speech = sound.speech.filter(({ startMs }) => startMs < lengthMs);
  const over = isRest(sound, lengthMs) || fromMs + lengthMs >= row.duration_ms;
  let words: Word[] = [];
  let heard: string | undefined;
  if (speech.length > 0) {
    const part = firstOf(sound, lengthMs);
    const compare = compares && before.filter((one) => one.heard !== null).length < COMPARED;
    const telling = compare ? tellingPart({ samples: part, speech }) : undefined;
    const [likeliest] = telling ? await child.detect(telling) : [];
    heard = likeliest && toTag(likeliest[0]);
    const parts = partsOf(cuts, speech);
    words = wordsOf(await child.hear(part, { language: codeOf(spoken), task: row.task, parts }), speech, fromMs);
  }
  const [number, toMs] = [before.length, fromMs + lengthMs];
  const seconds = (performance.now() - began) / 1000;
  await must(keepStretch(db, row, { number, fromMs, toMs, words, heard, seconds }));
  return over;
}

/** Whether the first part of sound is the rest of its film. */
const isRest = (sound: Sound, lengthMs: number): boolean =>
  sound.lengthMs < STRETCH_MS - 100 && lengthMs === sound.lengthMs;

/** The parts in which someone speaks, in seconds. */
function partsOf(cuts: readonly number[], speech: readonly Speech[]): [number, number][] {
  const parts = cuts.map((to, i) => ({ from: cuts[i - 1] ?? 0, to }));
  const spoken = parts.filter(({ from, to }) => speech.some(({ startMs, endMs }) => startMs < to && endMs > from));
  return spoken.map(({ from, to }) => [from / 1000, to / 1000]);
}

/**
 * Sound that ends before its film: a storage that cannot be read any more makes the request wait. A soundtrack that breaks
 * off whenever it is read fails in the end; one of which nothing can be read is unreadable.
 */
async function refuseBroken(
  deps: HearingDeps,
  row: RequestRow,
  { sound, fromMs }: { sound: Sound; fromMs: number },
): Promise<void> {
  const toMs = fromMs + sound.lengthMs;
  if (sound.lengthMs >= STRETCH_MS || toMs >= row.duration_ms - EARLY_MS) return;
  await openOrEnd(deps, row);
  if (sound.whole || toMs === 0) return;
  if (row.attempts < MOST_ATTEMPTS) await returnTurn(deps.db, row, STORAGE_MS);
  else await failRequest(deps.db, row, 'storage');
  throw new TurnOver();
}

/** Gives the request back at its checkpoint when its batch rests, the queue is paused, or the worker ends. */
async function restIfDue({ db, settings }: HearingDeps, { row, signal }: Hearing): Promise<void> {
  const paused = settings.get('jobs.paused').includes('speech');
  const due = signal.aborted || paused || (row.batch_id !== null && (await batchesRest(db)));
  if (!due) return;
  await returnTurn(db, row);
  throw new TurnOver();
}

async function keepText(
  { db, objects }: HearingDeps,
  row: RequestRow & Turn,
  { track, spoken }: { track: Soundtrack; spoken: string },
): Promise<void> {
  const stretches = await findStretches(db, row.id);
  if (stretches.every(({ from_ms: from, to_ms: to }) => to <= from))
    return void (await failRequest(db, row, 'unreadable'));
  const { keyframes, probe } = track.source;
  const rate = probe.streams.find(({ kind, attachedPicture }) => kind === 'video' && !attachedPicture)?.frameRate;
  const cues = cuesOf(
    stretches.flatMap(({ words }) => words),
    { keyframes: keyframes ?? [], frameMs: rate ? 1000 / rate : FRAME_MS },
  );
  if (cues.length === 0) return void (await failRequest(db, row, 'no-speech'));
  const language = row.task === 'translate' ? 'en' : spoken;
  const text = { bytes: Buffer.from(subripOf(cues)), format: 'srt' as const, cueCount: cues.length, language };
  await must(finishRequest({ db, objects }, row, text));
}
