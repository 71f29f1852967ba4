import { conflict, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { queueMail } from './write.ts';

/** Restarts a mail at the first attempt and lifts the suppression of its address. Throws 404, 409 `not-retryable` or `expired`. */
export async function retryMessage(db: Db, id: string, now: Date): Promise<void> {
  const row = await db('email_messages').where({ id }).forUpdate().first();
  if (!row) throw notFound();
  const kept = row.body !== null || row.notification_ids.length > 0 || row.kind === 'digest';
  const ended = row.state === 'failed' || row.state === 'suppressed';
  if (!ended || !kept || row.address.includes('***@'))
    throw conflict('not-retryable', 'It cannot be sent again', { state: row.state });
  if (row.expires_at && row.expires_at <= now) throw conflict('expired', 'Its link has expired');
  await db('email_suppressions').where({ address_sha256: row.address_sha256 }).delete();
  const again = {
    state: 'waiting' as const,
    attempts: 0,
    next_attempt_at: null,
    ended_at: null,
    job_id: null,
    error: null,
  };
  await db('email_messages').where({ id }).update(again);
  await queueMail(db, row);
}
