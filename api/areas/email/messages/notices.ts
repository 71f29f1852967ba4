import { heldUntil, languageFor, type MailedNotice, textOf } from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Settings } from '#platform/settings.ts';
import { emailKindOf } from '../kinds.ts';
import { insertMail, mailReady } from './write.ts';

const PER_HOUR = 20;
const HOUR_MS = 3_600_000;
const KEPT_MS = 24 * HOUR_MS;

/**
 * Writes the mails of notifications in their transaction. Notifications held back by quiet hours or the hourly limit are merged
 * into one mail, which is sent at their end.
 */
export const recordNotices =
  (settings: Settings) =>
  async (db: Db, notice: MailedNotice): Promise<void> => {
    if (!mailReady({ settings })) return;
    const { accountId, profileId, preferences, zone, level } = notice;
    const to = await db('accounts as a')
      .join('profiles as p', 'p.account_id', 'a.id')
      .where({ 'p.id': profileId, 'a.email_verified': true })
      .whereNotNull('a.email')
      .first('a.email', db.raw('coalesce(p.language, a.language) as language'));
    if (!to) return;
    await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 14))', [accountId]);
    const now = new Date();
    const quiet = heldUntil(preferences, { now, zone, urgent: level === 'urgent' });
    const over = await busyUntil(db, accountId);
    const until = latest(quiet, over);
    if (until && (await join(db, notice, until))) return;
    const tag = to.language ?? settings.get('server.language');
    const kind = emailKindOf(notice.kind);
    await insertMail(db, settings, {
      ...{ id: newId(), kind, to: to.email, accountId, profileId, language: tag },
      subject: textOf({ kind: notice.kind, data: {}, count: 1 }, languageFor(tag), true).title,
      notificationIds: [notice.notificationId],
      held: until !== undefined,
      ...{ direct: false, requested: false, hasLink: true, notBefore: until },
      expiresAt: new Date((until ?? now).getTime() + KEPT_MS),
    });
  };

function latest(...times: (Date | undefined)[]): Date | undefined {
  const given = times.filter((time) => time !== undefined).map((time) => time.getTime());
  return given.length > 0 ? new Date(Math.max(...given)) : undefined;
}

/** When the hourly limit of the account permits another mail; undefined for now. */
async function busyUntil(db: Db, accountId: string): Promise<Date | undefined> {
  const rows = await db('email_messages')
    .where({ account_id: accountId })
    .where('asked', false)
    .whereRaw(`created_at > now() - interval '1 hour'`)
    .orderBy('created_at', 'desc')
    .limit(PER_HOUR)
    .select('created_at');
  const oldest = rows.length < PER_HOUR ? undefined : rows.at(-1);
  return oldest && new Date(oldest.created_at.getTime() + HOUR_MS);
}

/** Adds the notification to a pending mail of the profile; false without one. */
async function join(db: Db, { profileId, notificationId }: MailedNotice, until: Date): Promise<boolean> {
  const joined = await db('email_messages')
    .where({ profile_id: profileId, held: true, state: 'waiting' })
    .update({
      notification_ids: db.raw('notification_ids || ?::uuid', [notificationId]),
      next_attempt_at: db.raw('greatest(next_attempt_at, ?)', [until]),
    });
  return joined > 0;
}
