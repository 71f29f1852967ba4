import type { Db } from '#platform/db.ts';
import { SEALED_KEY_MISMATCH } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import { addressHash, masked, withMasked } from '../address.ts';
import { type EmailKind, hourlyShare } from '../kinds.ts';
import { queueMail } from './write.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'email_messages.kind': EmailKind;
    'email_messages.error': Fault;
    'email_state.last_error': Fault & { at: string };
  }
}

export const stages = ['connect', 'tls', 'auth', 'from', 'recipient', 'data'] as const;
export type Stage = (typeof stages)[number];
export const states = ['waiting', 'sending', 'sent', 'failed', 'suppressed', 'expired'] as const;
export type EmailState = (typeof states)[number];

export interface Fault {
  stage: Stage;
  code?: string;
  message: string;
}

export type MessageRow = Row<'email_messages'>;

/** Minutes between attempts. */
const LADDER = [1, 5, 30, 120, 360];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PAUSE_MS = 10 * MINUTE_MS;
/** Interval between checks without a mail server or a public URL. */
const LOOK_MS = 10 * MINUTE_MS;
const MOST_FAULTS = 20;
const REFUSALS = 3;

export interface Claiming {
  id: string;
  jobId: string;
  now: Date;
  /** Mail is configured. */
  ready: boolean;
  /** A public URL for links is set. */
  links: boolean;
  perHour: number;
}

/** Claims a mail for this job to send now; otherwise ends it, or queues it for later, and returns undefined. */
export async function claim(db: Db, claiming: Claiming): Promise<MessageRow | undefined> {
  return db.transaction(async (transaction) => {
    await transaction.raw('select pg_advisory_xact_lock(hashtextextended(?, 16))', ['email.claim']);
    const row = await lockRow(transaction, claiming.id);
    if (!row || !(await isOurs(transaction, row, claiming.jobId))) return undefined;
    const end = await endOf(transaction, row, claiming.now);
    if (end) {
      await endMessage(transaction, row, { state: end, now: claiming.now });
      return undefined;
    }
    const at = await notBefore(transaction, row, claiming);
    if (at) {
      await transaction('email_messages').where({ id: row.id }).update({ state: 'waiting', next_attempt_at: at });
      await queueAgain(transaction, row, { at, now: claiming.now });
      return undefined;
    }
    const attempts = row.state === 'sending' ? row.attempts : row.attempts + 1; // a takeover is no new attempt
    const taken = { state: 'sending' as const, attempts, job_id: claiming.jobId };
    await transaction('email_messages')
      .where({ id: row.id })
      .update({ ...taken, next_attempt_at: null });
    return { ...row, ...taken };
  });
}

/** Queues the job for the remaining time by the clock of this process. */
async function queueAgain(db: Db, row: MessageRow, { at, now }: { at: Date; now: Date }): Promise<void> {
  await queueMail(db, row, new Date(Date.now() + Math.max(0, at.getTime() - now.getTime())));
}

async function lockRow(db: Db, id: string): Promise<MessageRow | undefined> {
  return db('email_messages').where({ id }).whereIn('state', ['waiting', 'sending']).forUpdate().first();
}

/** Whether this job may send the mail: another job is not sending it, or ended without a result. */
async function isOurs(db: Db, { state, job_id: other }: MessageRow, jobId: string): Promise<boolean> {
  if (state !== 'sending' || other === null || other === jobId) return true;
  const active = await db('jobs').where({ id: other, state: 'active' }).first('id');
  return active === undefined;
}

/** Final state of a mail whose link or address has expired, or whose address is suppressed. */
async function endOf(db: Db, row: MessageRow, now: Date): Promise<EmailState | undefined> {
  if (row.expires_at && row.expires_at <= now) return 'expired';
  if (row.account_id && !(await hasAddress(db, row))) return 'expired';
  const refused = await db('email_suppressions')
    .where({ address_sha256: row.address_sha256 })
    .whereNotNull('suppressed_at')
    .first('address_sha256');
  return refused ? 'suppressed' : undefined;
}

async function hasAddress(db: Db, row: MessageRow): Promise<boolean> {
  const account = await db('accounts')
    .where({ id: row.account_id, disabled: false })
    .whereNull('deleted_at')
    .first('email', 'email_verified');
  if (!account) return false;
  if (row.direct) return true;
  return account.email_verified && account.email !== null && addressHash(account.email) === row.address_sha256;
}

async function notBefore(db: Db, row: MessageRow, claiming: Claiming): Promise<Date | undefined> {
  const { now, ready, links } = claiming;
  if (row.next_attempt_at && row.next_attempt_at > now) return row.next_attempt_at;
  if (!ready || (row.has_link && !links)) return new Date(now.getTime() + LOOK_MS);
  const { paused_until: paused } = await readState(db);
  if (paused && paused > now) return paused;
  return roomAt(db, row, claiming);
}

/** When the hourly limit permits the mail; undefined for now. */
async function roomAt(db: Db, { kind }: MessageRow, { now, perHour }: Claiming): Promise<Date | undefined> {
  const { rows } = await db.raw<{ rows: { sent: number; sending: number; oldest: Date | null }[] }>(
    `select count(sent_at)::int as sent, min(sent_at) as oldest,
            (select count(*)::int from email_messages where state = 'sending') as sending
     from (select sent_at from email_messages where sent_at > ? order by sent_at desc limit ?) of_hour`,
    [new Date(now.getTime() - HOUR_MS), perHour],
  );
  const { sent = 0, sending = 0, oldest = null } = rows[0] ?? {};
  if (sent + sending < hourlyShare(kind, perHour)) return undefined;
  return new Date(Math.max((oldest?.getTime() ?? 0) + HOUR_MS, now.getTime() + MINUTE_MS));
}

export type StateRow = Pick<Row<'email_state'>, 'faults' | 'paused_until' | 'last_sent_at' | 'last_error'>;

export async function readState(db: Db): Promise<StateRow> {
  const row = await db('email_state').first();
  return row ?? { faults: 0, paused_until: null, last_sent_at: null, last_error: null };
}

interface Ending {
  state: EmailState;
  now: Date;
  error?: Fault;
}

/** Ends the mail and masks its address; one that may be retried keeps address and body. */
async function endMessage(db: Db, row: MessageRow, { state, now, error }: Ending): Promise<void> {
  const kept = state === 'failed' || state === 'suppressed';
  await db('email_messages')
    .where({ id: row.id })
    .update({
      state,
      ended_at: now,
      next_attempt_at: null,
      job_id: null,
      error: error ? JSON.stringify(error) : null,
      ...(state === 'sent' && { sent_at: now }),
      ...(!kept && { body: null, address: masked(row.address) }),
    });
}

/** Ends a mail whose content has become empty; an empty digest is deleted. */
export async function dropMessage(db: Db, row: MessageRow, now: Date): Promise<void> {
  if (row.kind === 'digest') await db('email_messages').where({ id: row.id }).delete();
  else await endMessage(db, row, { state: 'expired', now });
}

export async function noteSent(db: Db, row: MessageRow, now: Date): Promise<void> {
  await endMessage(db, row, { state: 'sent', now });
  await db('email_suppressions').where({ address_sha256: row.address_sha256 }).delete();
  await noteSuccess(db, now);
}

/** Records a delivered mail and ends a pause of sending. */
export async function noteSuccess(db: Db, now: Date): Promise<void> {
  await db('email_state').update({ faults: 0, paused_until: null, last_sent_at: now, last_error: null });
}

export interface Failed {
  fault: Fault;
  /** The server refused the recipient permanently. */
  final: boolean;
  now: Date;
}

/** Queues the next attempt, or ends the mail. True when the fault pauses all sending. */
export async function noteFault(db: Db, row: MessageRow, { fault: reported, final, now }: Failed): Promise<boolean> {
  const fault = { ...reported, message: withMasked(reported.message, row.address) };
  const paused = await countFault(db, fault, now);
  const minutes = final ? undefined : LADDER[row.attempts - 1];
  if (minutes === undefined) {
    const state = final && fault.stage === 'recipient' && (await refuse(db, row, now)) ? 'suppressed' : 'failed';
    await endMessage(db, row, { state, now, error: fault });
    return paused;
  }
  const at = new Date(now.getTime() + minutes * MINUTE_MS);
  const again = { state: 'waiting' as const, job_id: null, next_attempt_at: at, error: JSON.stringify(fault) };
  await db('email_messages').where({ id: row.id }).update(again);
  await queueAgain(db, row, { at, now });
  return paused;
}

const OURS: readonly Stage[] = ['connect', 'tls', 'auth'];

async function countFault(db: Db, fault: Fault, now: Date): Promise<boolean> {
  const error = JSON.stringify({ ...fault, at: now.toISOString() });
  if (!OURS.includes(fault.stage)) {
    await db('email_state').update({ last_error: error, ...(fault.code !== SEALED_KEY_MISMATCH && { faults: 0 }) });
    return false;
  }
  const [state] = await db('email_state')
    .update({ faults: db.raw('faults + 1'), last_error: error })
    .returning('faults');
  if ((state?.faults ?? 0) < MOST_FAULTS) return false;
  await db('email_state').update({ faults: 0, paused_until: new Date(now.getTime() + PAUSE_MS) });
  return true;
}

/** Counts a permanent refusal; true from the third in a row. */
async function refuse(db: Db, { address_sha256: hash }: MessageRow, now: Date): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { failures: number }[] }>(
    `insert into email_suppressions as s (address_sha256, failures) values (?, 1)
     on conflict (address_sha256) do update set failures = s.failures + 1 returning failures`,
    [hash],
  );
  if ((rows[0]?.failures ?? 0) < REFUSALS) return false;
  await db('email_suppressions').where({ address_sha256: hash }).update({ suppressed_at: now });
  return true;
}

/** Mails that are due without a queued or running job, because it was lost. */
export async function overdueMails(db: Db, now: Date): Promise<{ id: string; kind: EmailKind }[]> {
  return db('email_messages as m')
    .whereIn('m.state', ['waiting', 'sending'])
    .whereRaw(`coalesce(m.next_attempt_at, m.created_at) < ?::timestamptz - interval '5 minutes'`, [now])
    .whereRaw(`not exists (select from jobs j where j.kind = 'email.send' and j.state in ('waiting', 'delayed', 'active')
      and j.payload ->> 'messageId' = m.id::text)`)
    .orderBy('m.created_at')
    .limit(1000)
    .select('m.id', 'm.kind') as Promise<{ id: string; kind: EmailKind }[]>;
}

/** Job logs.trim: deletes the log after 30 days, and bodies and addresses of failed mails after 7. */
export async function trimMails(db: Db, now: Date): Promise<void> {
  await db.raw(`delete from email_messages where ended_at < ?::timestamptz - interval '30 days'`, [now]);
  await db.raw(
    `update email_messages set body = null, notification_ids = '{}',
       address = left(address, 1) || '***' || substring(address from '@[^@]*$')
     where ended_at < ?::timestamptz - interval '7 days' and state in ('failed', 'suppressed') and address not like '_***%'`,
    [now],
  );
  await db.raw(`delete from email_confirmations where hash is not null and expires_at < ?`, [now]);
}
