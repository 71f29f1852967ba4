// Job upload.sweep: ends uploads that no device continues, deletes stray parts, and notifies accounts of finished batches.
import { notify } from '#areas/notifications/public.ts';
import { endUpload, forgetEnded, KEPT_DAYS, keyOf, noteNotified } from '#areas/uploads/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Work } from '../work.ts';
import { BUCKET } from './arrive.ts';
import { QUIET_MS } from './finish.ts';

const DAY_MS = 86_400_000;
/** A job that was lost with its worker is queued again after so many minutes without a change. */
const STALLED_MINUTES = 60;

export async function sweepUploads({ accountId }: JobPayload<'upload.sweep'>, work: Work): Promise<object> {
  if (accountId) return { notified: await notifyAccount(work, accountId) };
  const expired = await expire(work);
  const strays = await dropStrays(work);
  await goOn(work);
  await forgetEnded(work.db);
  return { expired, strays };
}

async function expire(work: Work): Promise<number> {
  const old = await work
    .db('uploads')
    .where({ state: 'receiving' })
    .whereRaw(`updated_at < now() - interval '${KEPT_DAYS} days'`)
    .limit(1000)
    .select('id', 'parts_id');
  for (const { id, parts_id: parts } of old) {
    work.signal.throwIfAborted();
    if (parts) await work.objects.dropParts({ bucket: BUCKET, key: keyOf(id), id: parts });
    await endUpload(work.db, id, { state: 'expired' });
  }
  return old.length;
}

/** Multipart uploads and objects that no open upload names. */
async function dropStrays(work: Work): Promise<number> {
  let dropped = 0;
  for await (const { bucket, key, id, begunAt } of work.objects.listParted(BUCKET)) {
    if (Date.now() - begunAt.getTime() < DAY_MS) continue;
    const row = await work.db('uploads').where({ parts_id: id }).whereNull('ended_at').first('id');
    if (row) continue;
    await work.objects.dropParts({ bucket, key, id });
    dropped += 1;
  }
  for await (const { key, modifiedAt } of work.objects.list(BUCKET, 'uploads/')) {
    if (Date.now() - modifiedAt.getTime() < KEPT_DAYS * DAY_MS) continue;
    const row = await work
      .db('uploads')
      .where({ id: key.slice('uploads/'.length) })
      .whereNull('ended_at')
      .first('id');
    if (row) continue;
    await work.objects.remove(BUCKET, [key]);
    dropped += 1;
  }
  return dropped;
}

async function goOn(work: Work): Promise<void> {
  const stalled = await work
    .db('uploads')
    .whereIn('state', ['verifying', 'importing'])
    .whereRaw(`updated_at < now() - interval '${STALLED_MINUTES} minutes'`)
    .limit(1000)
    .select('id');
  for (const { id } of stalled)
    await work.enqueue(work.db, 'upload.finish', {
      payload: { uploadId: id },
      options: { key: `upload.finish:${id}` },
    });
}

/** One notification for the uploads that ended since the last one; later, while uploads still end. */
async function notifyAccount(work: Work, accountId: string): Promise<boolean> {
  return work.db.transaction(async (db) => {
    const ended = await rowsOf<{ state: string; count: number; last: Date; name: string }>(
      db,
      `select state, count(*)::int as count, max(ended_at) as last, max(name) as name from uploads
       where account_id = ? and ended_at is not null and not notified group by state`,
      [accountId],
    );
    const last = Math.max(0, ...ended.map(({ last: at }) => at.getTime()));
    if (last === 0) return false;
    if (Date.now() - last < QUIET_MS) {
      const options = { key: `upload.sweep:${accountId}:${last}`, runAt: new Date(last + QUIET_MS) };
      await work.enqueue(db, 'upload.sweep', { payload: { accountId }, options });
      return false;
    }
    const of = (state: string): number => ended.find((one) => one.state === state)?.count ?? 0;
    const counts = { new: of('finished'), duplicate: of('duplicate'), failed: of('failed') };
    const count = counts.new + counts.duplicate + counts.failed;
    await noteNotified(db, accountId);
    if (count === 0) return false;
    await notify(db, {
      kind: 'upload-finished',
      to: { accountIds: [accountId] },
      data: { name: ended[0]?.name ?? '', ...counts },
      ...{ count, url: '/uploads', mergeKey: `upload-finished:${last}` },
    });
    return true;
  });
}
