import { setTimeout as sleep } from 'node:timers/promises';
import { getVisibleItem, type StreamRow } from '#areas/items/public.ts';
import { findSource, refuseUnavailableSource, TEXT_CODECS } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';
import { findSync } from '#platform/subtitles/syncs.ts';
import type { Row } from '#platform/typed-query.ts';
import { readAllowance } from '../allowance/allowance.ts';
import { SyncEnd, type SyncResult } from './auto.schemas.ts';
import { getSubtitleRow, shownSync, type TrackIds } from './sync.ts';
import { findRunningSync, syncKey } from './syncs.store.ts';

/** Two run at once, and eight may wait. */
const MOST_OPEN = 10;
const HELD_MS = 50_000;
const LOOK_MS = 150;
/** A caller who was answered `running` reads the end of that run so long after it. */
const READ_AGAIN = '1 minute';

/** Spends a use in the transaction that starts the run; returns its id. */
type Spend = (call: Call) => Promise<string | undefined>;

/**
 * Fits a track to the soundtrack, in a job. A second caller joins the run and spends nothing. Throws 404, 409, 415, 423,
 * 500, and 503 while too many run.
 */
export async function autoSync(call: Call, ids: TrackIds, spend?: Spend): Promise<SyncResult> {
  await getVisibleItem(call.db, call.who, ids.id);
  const row = await getSubtitleRow(call, ids);
  refuseUntimed(row);
  const soundtrack = await soundtrackOf(call.db, row.file_id);
  const ended = await readableEnd(call, row.id);
  const run = ended
    ? { id: ended, joined: false }
    : await call.transact((inside) => startOrJoin(inside, ids, { row, spend }));
  const end = run.joined ? await endOfJoined(call, run.id) : await endOf(call, run.id);
  const allowance = spend && (await readAllowance(call));
  const common = { sync: await shownSync(call, row), ...(allowance && { allowance }) };
  if (end && 'refused' in end) return refuse(call, row, end.refused);
  if (end) return { ...end, ...common };
  const { offsetMs, rate } = common.sync;
  const waited = { heardMs: 0, audioStreamId: soundtrack, tookMs: HELD_MS };
  return { outcome: 'running', before: { offsetMs, rate }, ...waited, ...common };
}

/** Throws 415 for tracks whose times are not known. */
function refuseUntimed({ codec, external_path: path }: StreamRow): void {
  if (TEXT_CODECS.includes(codec) || (path === null && ['pgs', 'vobsub'].includes(codec))) return;
  throw new ApiError('MEDIA_UNSUPPORTED_CODEC', 'The times of this subtitle cannot be read', { reason: 'no-times' });
}

const noSoundtrack = (): ApiError => conflict('no-soundtrack', 'The film has no soundtrack');

/** The stream of the default soundtrack. Throws 409 for a film without sound. */
async function soundtrackOf(db: Db, fileId: string): Promise<string> {
  const sounds = (await findSource(db, fileId))?.probe?.streams.filter(({ kind }) => kind === 'audio') ?? [];
  const sound = sounds.find((stream) => stream.default) ?? sounds[0];
  if (!sound) throw noSoundtrack();
  const row = await db('media_streams')
    .where({ file_id: fileId, kind: 'audio', stream_index: sound.index, external_path: null })
    .first('id');
  if (!row) throw noSoundtrack();
  return row.id;
}

/** The caller's own run that ended after the caller was answered `running`. */
async function readableEnd({ db, who }: Call, streamId: string): Promise<string | undefined> {
  const row = await db('jobs')
    .where({ kind: 'subtitles.sync', by_account_id: who.accountId, state: 'completed' })
    .whereRaw(`payload->>'streamId' = ? and finished_at > now() - ?::interval`, [streamId, READ_AGAIN])
    .whereRaw(`finished_at > created_at + ? * interval '1 ms'`, [HELD_MS])
    .orderBy('finished_at', 'desc')
    .first('id');
  return row?.id;
}

/** The run of the track, or a new one, in a transaction that counts them all. */
async function startOrJoin(
  call: Call,
  ids: TrackIds,
  { row, spend }: { row: StreamRow; spend: Spend | undefined },
): Promise<{ id: string; joined: boolean }> {
  const { db, who } = call;
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.subtitles.sync'))`);
  const running = await findRunningSync(db, row.id);
  if (running) return { id: running.id, joined: true };
  const open = await db('jobs')
    .where({ kind: 'subtitles.sync' })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .count<{ count: string }[]>({ count: '*' });
  if (Number(open[0]?.count ?? 0) >= MOST_OPEN)
    throw new ApiError('TRANSCODE_LIMIT_REACHED', 'Too many subtitles are put in time', { retryAfterSec: 15 });
  if (!(await findSync(db, row.id))) throw notFound();
  const useId = await spend?.(call);
  const id = await enqueue(db, 'subtitles.sync', {
    payload: { itemId: ids.id, streamId: row.id, byAccountId: who.accountId, ...(useId && { useId }) },
    options: {
      ...{ key: syncKey(row.id), priority: 10, maxAttempts: 2, cause: 'person', byAccountId: who.accountId },
      target: { kind: 'item', id: ids.id },
    },
  });
  return { id, joined: false };
}

/** Of callers that joined a run and wait for its end, those of an account and of this process. */
const MOST_HELD = { account: 2, process: 20 };
/** The accounts of those that wait in this process. */
const held: string[] = [];

/** As `endOf`, for a caller that joined the run. It does not wait while too many do. */
async function endOfJoined(call: Call, job: string): Promise<SyncEnd | undefined> {
  const { accountId } = call.who;
  const own = held.filter((one) => one === accountId).length;
  if (held.length >= MOST_HELD.process || own >= MOST_HELD.account) return undefined;
  held.push(accountId);
  try {
    return await endOf(call, job);
  } finally {
    held.splice(held.indexOf(accountId), 1);
  }
}

/** How the job ended; undefined while it runs after 50 seconds. Throws 409 when it was stopped, and 500 when it failed. */
async function endOf({ deps: { db }, signal }: Call, job: string): Promise<SyncEnd | undefined> {
  for (const end = Date.now() + HELD_MS; Date.now() < end && !signal.aborted; await sleep(LOOK_MS)) {
    const row = await db('jobs').where({ id: job }).first<Pick<Row<'jobs'>, 'state' | 'result'>>('state', 'result');
    if (row?.state === 'completed') return SyncEnd.parse(row.result);
    if (!row || row.state === 'cancelled') throw conflict('sync-stopped', 'Somebody stopped it');
    if (row.state === 'failed') throw undecodable();
  }
  return undefined;
}

const undecodable = (): ApiError =>
  new ApiError('TRANSCODE_FAILED', 'The soundtrack could not be read', { reason: 'decode' });

async function refuse(
  call: Call,
  row: StreamRow,
  reason: Extract<SyncEnd, { refused: string }>['refused'],
): Promise<never> {
  switch (reason) {
    case 'storage':
      await refuseUnavailableSource(call, { fileId: row.file_id });
      throw new ApiError('STORAGE_UNAVAILABLE', 'The storage was unavailable', {});
    case 'too-few-cues':
      throw conflict('too-few-cues', 'It has under 15 cues');
    case 'no-soundtrack':
      throw noSoundtrack();
    case 'no-cues':
      throw new ApiError('MEDIA_UNSUPPORTED_CODEC', 'The times of this subtitle cannot be read', { reason: 'decode' });
    case 'gone':
      throw notFound();
    case 'decode':
      throw undecodable();
  }
}
