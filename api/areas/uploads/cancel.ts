import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { ended } from './chunk.ts';
import { endUpload, forgetUpload, keyOf } from './uploads.store.ts';

/** A worker that still writes the file has noticed by then that the upload ended. */
const NOTICED_MS = 10_000;

/**
 * Ends an upload of the caller and deletes its bytes; one that has ended leaves the list. Throws 409 once its file has a name in its
 * folder.
 */
export async function cancel(call: Call, id: string): Promise<void> {
  const { db, who, deps } = call;
  const row = await db('uploads').where({ id, account_id: who.accountId }).forUpdate().first();
  if (!row) throw notFound();
  if (row.ended_at) return forgetUpload(db, id);
  if (row.path !== null && !row.writing) throw ended(row);
  await endUpload(db, id, { state: 'cancelled' });
  if (row.state === 'importing') {
    const runAt = new Date(Date.now() + NOTICED_MS);
    await call.enqueue('upload.finish', { uploadId: id }, { key: `upload.finish:${id}`, runAt });
  }
  const key = keyOf(id);
  call.afterCommit(async () => {
    if (row.parts_id) await deps.objects.dropParts({ bucket: 'foyer-uploads', key, id: row.parts_id });
    await deps.objects.remove('foyer-uploads', [key]);
  });
}
