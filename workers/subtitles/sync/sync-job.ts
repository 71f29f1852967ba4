import { findSource } from '#areas/streaming/public.ts';
import { announceSubtitles, getSubtitleRow, giveBackUse, putSync, type SyncEnd } from '#areas/subtitles/public.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { findSync, type Sync } from '#platform/subtitles/syncs.ts';
import { shownAt, type Timing } from '#platform/subtitles/timing.ts';
import { soundtrackOf } from '../../voice/listen.ts';
import { Postponed, type Work } from '../../work.ts';
import type { Fit } from './align.ts';
import type { Span } from './correlate.ts';
import { cuesOfTrack, type SubtitleRow, type TrackFilm } from './cues-of-track.ts';
import { heardFit, LEAST_CONFIDENCE } from './heard-fit.ts';
import { Refusal } from './refusal.ts';

/** Runs at once on the whole server. */
const PLACES = 2;
const TURN_MS = 1000;
const FEWEST_CUES = 15;
/** A correction has at most so many pieces. */
const MOST_PIECES = 64;
/** A fit this near to the present times changes nothing. */
const SAME_MS = 120;

type Payload = JobPayload<'subtitles.sync'>;

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
