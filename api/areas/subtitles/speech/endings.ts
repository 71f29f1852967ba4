import { notify } from '#areas/notifications/public.ts';
import { changeApart } from '#platform/apart-jobs.ts';
import type { Db } from '#platform/db.ts';
import type { Objects } from '#platform/objects.ts';
import { rowsOf } from '#platform/rows.ts';
import { giveBackUse } from '../allowance/uses.store.ts';
import { announceSubtitles } from '../announce.ts';
import { addKept, type KeptText, putKeptText } from '../kept/kept.store.ts';
import { removeKept } from '../kept/remove.ts';
import { type RequestRow, settleBatch } from './requests.store.ts';
import type { GenerationRequest } from './speech.schemas.ts';

type Reason = NonNullable<GenerationRequest['error']>['reason'];
type Turn = Pick<RequestRow, 'id' | 'epoch'>;

/** A request that ends sooner is not worth a notification. */
const QUICK_MS = 20_000;

const CODES: Record<Reason, string> = {
  ...{ 'no-speech': 'TRANSCODE_FAILED', unreadable: 'TRANSCODE_FAILED', storage: 'STORAGE_UNAVAILABLE' },
  ...{ model: 'INTERNAL', 'worker-lost': 'INTERNAL' },
};

/** Ends a request without a subtitle. False when it is no longer this worker's. */
export async function failRequest(db: Db, { id, epoch }: Turn, reason: Reason): Promise<boolean> {
  return db.transaction(async (trx) => {
    const row = await trx('subtitle_requests').where({ id, epoch, state: 'running' }).forUpdate().first();
    if (!row) return false;
    await endBadly(trx, row, { reason, giveBack: row.heard_ms === 0 });
    return true;
  });
}

/** Fails a request at whose stretch too many workers were lost; its use is given back. */
export async function failLost(db: Db, row: RequestRow): Promise<void> {
  await endBadly(db, row, { reason: 'worker-lost', giveBack: true });
}

async function endBadly(
  db: Db,
  row: RequestRow,
  { reason, giveBack }: { reason: Reason; giveBack: boolean },
): Promise<void> {
  const error = { code: CODES[reason], reason };
  await db('subtitle_requests')
    .where({ id: row.id })
    .update({
      ...{ state: 'failed', error: JSON.stringify(error), finished_at: db.fn.now(), lease_until: null },
      epoch: row.epoch + 1,
    });
  await db('subtitle_stretches').where({ request_id: row.id }).delete();
  if (giveBack && row.use_id) await giveBackUse(db, row.use_id);
  await changeApart(db, row.id, { state: 'failed', error });
  await settleBatch(db, row.batch_id);
  await notifyRequester(db, row, 'subtitle-failed');
}

/**
 * Keeps the text as a subtitle of the file, in place of an older one of the same language and task, and ends the request.
 * False when it is no longer this worker's.
 */
export async function finishRequest(
  { db, objects }: { db: Db; objects: Objects },
  { id, epoch }: Turn,
  text: KeptText & { language: string },
): Promise<boolean> {
  await putKeptText(objects, text);
  return db.transaction(async (trx) => {
    const row = await trx('subtitle_requests').where({ id, epoch, state: 'running' }).forUpdate().first();
    if (!row) return false;
    await removeOlder(trx, row, text.language);
    const streamId = await addKept(trx, text, {
      ...{ fileId: row.file_id, language: text.language, forced: false, hearingImpaired: false },
      accountId: row.account_id,
      origin: { source: 'generated', model: row.model, task: row.task },
    });
    await trx('subtitle_requests')
      .where({ id })
      .update({
        ...{ state: 'finished', stream_id: streamId, finished_at: trx.fn.now(), lease_until: null },
        ...{ heard_ms: row.duration_ms, epoch: epoch + 1 },
      });
    await trx('subtitle_stretches').where({ request_id: id }).delete();
    await changeApart(trx, id, { state: 'completed', progress: 1 });
    await settleBatch(trx, row.batch_id);
    await announceSubtitles(trx, row.item_id);
    await notifyRequester(trx, row, 'subtitle-ready');
    return true;
  });
}

async function removeOlder(db: Db, { file_id: fileId, task }: RequestRow, language: string): Promise<void> {
  const older = await rowsOf<{ stream_id: string }>(
    db,
    `select k.stream_id from kept_subtitles k join media_streams s on s.id = k.stream_id
     where k.file_id = ? and k.source = 'generated' and k.task = ? and s.language = ?`,
    [fileId, task, language],
  );
  for (const { stream_id: streamId } of older) await removeKept(db, { fileId, streamId });
}

/** Notifies the account of a single request, unless it was quick. */
async function notifyRequester(db: Db, row: RequestRow, kind: 'subtitle-ready' | 'subtitle-failed'): Promise<void> {
  if (!row.account_id || row.batch_id || Date.now() - row.created_at.getTime() < QUICK_MS) return;
  const item = await db('items').where({ id: row.item_id }).first('title');
  await notify(db, {
    kind,
    to: { accountIds: [row.account_id] },
    target: { kind: 'item', id: row.item_id },
    itemId: row.item_id,
    data: { name: item?.title ?? '' },
    url: `/item/${row.item_id}`,
  });
}
