import { findVoice, saveVoice } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import { announceSubtitles, getSubtitleRow, giveBackUse, putSync, type SyncEnd } from '#areas/subtitles/public.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { findSync, type Sync } from '#platform/subtitles/syncs.ts';
import { shownAt, type Timing } from '#platform/subtitles/timing.ts';
import { listen, listenToStretches, type Stretches, soundtrackOf } from '../../voice/listen.ts';
import { Postponed, type Work } from '../../work.ts';
import type { Fit } from './align.ts';
import type { Heard, Span } from './correlate.ts';
import { cuesOfTrack, type SubtitleRow, type TrackFilm } from './cues-of-track.ts';
import { fitToAll, fitToStretches } from './fit.ts';

/** Runs at once on the whole server. */
const PLACES = 2;
const TURN_MS = 1000;
const FEWEST_CUES = 15;
const STRETCHES = 12;
const STRETCH_MS = 90_000;
/** Of a shorter film the stretches are more than half; it is heard whole. */
const SHORTEST_FILM_MS = 2 * STRETCHES * STRETCH_MS;
/** Below it nothing changes. */
const LEAST_CONFIDENCE = 0.5;
/** A correction has at most so many pieces. */
const MOST_PIECES = 64;
/** A fit this near to the present times changes nothing. */
const SAME_MS = 120;

type Payload = JobPayload<'subtitles.sync'>;
type Refused = Extract<SyncEnd, { refused: string }>['refused'];

/** Nothing can be compared. */
class Refusal extends Error {
  readonly reason: Refused;
  constructor(reason: Refused) {
    super(reason);
    this.reason = reason;
  }
}

/** Fits a subtitle track to the speech of the default soundtrack, from the track's own times. */
export async function syncSubtitle(payload: Payload, work: Work): Promise<SyncEnd> {
  if (!(await isMyTurn(work))) throw new Postponed(new Date(Date.now() + TURN_MS), 'slot');
  try {
    return await fitTrack(payload, work);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { useId } = payload;
    if (useId && error.reason !== 'decode') await giveBackUse(work.db, useId);
    return { refused: error.reason };
  }
}

/** True for the two oldest of the server. */
async function isMyTurn({ db, jobId }: Work): Promise<boolean> {
  const oldest = await db('jobs')
    .where({ kind: 'subtitles.sync', cancel_requested: false })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .orderBy(['created_at', 'id'])
    .limit(PLACES)
    .pluck('id');
  return oldest.includes(jobId);
}

async function fitTrack({ itemId, streamId, byAccountId }: Payload, work: Work): Promise<SyncEnd> {
  const began = Date.now();
  const { row, film, sync } = await trackOf(work.db, { id: itemId, streamId });
  const sound = soundtrackOf(film.probe);
  const audio = sound && (await streamIdOf(work.db, film.id, sound.index));
  if (!sound || !audio) throw new Refusal('no-soundtrack');
  const cues = await cuesOfTrack(film, row, work);
  if (typeof cues === 'string') throw new Refusal(cues);
  if (cues.length < FEWEST_CUES) throw new Refusal('too-few-cues');
  const { fit, heard } = await heardFit({ film, stream: sound.index, cues }, work);
  const outcome = outcomeOf(fit, sync, cues);
  if (outcome === 'applied') await apply(fit, { sync, itemId, byAccountId }, work);
  return {
    ...{ outcome, confidence: fit.confidence, audioStreamId: audio, tookMs: Date.now() - began },
    before: { offsetMs: sync.offsetMs, rate: sync.rate },
    heardMs: Math.round(heard.stretches.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)),
  };
}

async function trackOf(
  db: Db,
  ids: { id: string; streamId: string },
): Promise<{ row: SubtitleRow; film: TrackFilm; sync: Sync }> {
  const row = await getSubtitleRow({ db }, ids).catch((error: unknown) => {
    throw error instanceof ApiError ? new Refusal('gone') : error;
  });
  const [film, sync] = [await findSource(db, row.file_id), await findSync(db, row.id)];
  if (!film?.probe || !sync) throw new Refusal('gone');
  return { row, film: { ...film, probe: film.probe }, sync };
}

async function streamIdOf(db: Db, fileId: string, index: number): Promise<string | undefined> {
  const row = await db('media_streams')
    .where({ file_id: fileId, kind: 'audio', stream_index: index, external_path: null })
    .first('id');
  return row?.id;
}

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

/** By the stored speech; else by twelve stretches, and where these do not agree by the whole soundtrack. */
async function heardFit({ film, stream, cues }: Comparing, work: Work): Promise<Compared> {
  const of = { ...film, streamIndex: stream };
  const all = [{ startMs: 0, endMs: film.durationMs }];
  const known = await findVoice(work.db, of);
  if (known) return compared(cues, { speech: known, stretches: all });
  const some = await byStretches({ film, stream, cues }, work);
  if (some) return some;
  const speech = await hear({ film, stream, progress: reporterOf(work, film.durationMs) }, work);
  await saveVoice(work.db, of, speech);
  return compared(cues, { speech, stretches: all });
}

const compared = async (cues: readonly Span[], heard: Heard): Promise<Compared> => ({
  fit: await fitToAll(cues, heard),
  heard,
});

/** Undefined for a short film, and where the stretches do not agree. */
async function byStretches({ film, stream, cues }: Comparing, work: Work): Promise<Compared | undefined> {
  const { durationMs } = film;
  if (durationMs < SHORTEST_FILM_MS) return undefined;
  const lengthMs = STRETCH_MS;
  const starts = Array.from({ length: STRETCHES }, (_, n) =>
    Math.round((durationMs / STRETCHES) * (n + 0.5) - lengthMs / 2),
  );
  const progress = reporterOf(work, 2 * STRETCHES * lengthMs);
  const speech = await hear({ film, stream, progress, stretches: { starts, lengthMs } }, work);
  const heard = { speech, stretches: starts.map((startMs) => ({ startMs, endMs: startMs + lengthMs })) };
  const fit = await fitToStretches(cues, heard);
  return fit && fit.confidence >= LEAST_CONFIDENCE ? { fit, heard } : undefined;
}

interface Hearing {
  film: TrackFilm;
  stream: number;
  progress: (heardMs: number) => void;
  /** Absent for the whole soundtrack. */
  stretches?: Stretches;
}

async function hear({ film, stream, progress, stretches }: Hearing, work: Work): Promise<Span[]> {
  const place = await openMedia(work, film);
  if (place.kind !== 'there') throw new Refusal('storage');
  const given = { file: place.absolute, probe: film.probe, stream: { index: stream }, progress, signal: work.signal };
  const speech = await (stretches ? listenToStretches(given, stretches) : listen(given));
  if (speech) return speech;
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

function outcomeOf(fit: Fit, sync: Timing, cues: readonly Span[]): 'applied' | 'already-right' | 'no-match' {
  if (fit.confidence < LEAST_CONFIDENCE || fit.pieces.length > MOST_PIECES) return 'no-match';
  const same = cues.filter(({ startMs }) => Math.abs(shownAt(fit, startMs) - shownAt(sync, startMs)) <= SAME_MS);
  return same.length >= cues.length * 0.95 ? 'already-right' : 'applied';
}

/** Stores the fit, unless the job was stopped meanwhile. */
async function apply(
  { rate, offsetMs, pieces, confidence }: Fit,
  { sync, itemId, byAccountId }: { sync: Sync; itemId: string; byAccountId: string },
  { db, jobId, signal }: Work,
): Promise<void> {
  await db.transaction(async (transaction) => {
    const job = await transaction('jobs').where({ id: jobId }).forUpdate().first('cancel_requested');
    signal.throwIfAborted();
    if (job?.cancel_requested !== false) throw new Error('stopped');
    await putSync(transaction, sync, { rate, offsetMs, pieces, confidence, source: 'auto', accountId: byAccountId });
    await announceSubtitles(transaction, itemId);
  });
}
