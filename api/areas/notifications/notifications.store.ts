import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Level, NotificationKind } from './kinds.ts';
import type { Notification, NotificationsQuery } from './notifications.schemas.ts';
import { onlyVisible } from './sight.ts';
import { languageFor, textOf } from './texts.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'notifications.kind': NotificationKind;
    'notifications.level': Level;
    'notifications.target': { kind: string; id: string };
    'notifications.data': Record<string, string | number>;
  }
}

export interface NotificationRow extends Row<'notifications'> {
  /** Present when the query joins the account. */
  actor_name?: string | null;
}

/** Notifications of the profile that it may see and that match the filter. */
export function selectMatching(
  db: Db,
  who: Principal,
  { unread, kind, since }: Pick<NotificationsQuery, 'unread' | 'kind' | 'since'>,
) {
  return selectVisible(db, who).modify((query) => {
    if (unread !== undefined) query.whereRaw(`n.read_at is ${unread ? '' : 'not '}null`);
    if (kind) query.whereIn('n.kind', kind);
    if (since === undefined) return;
    if (since.includes(':')) query.where('n.created_at', '>', since);
    else query.where('n.id', '>', since); // ids sort by their creation, those of deleted rows too
  });
}

function selectVisible(db: Db, who: Principal) {
  return db('notifications as n')
    .leftJoin('accounts as actor', 'actor.id', 'n.actor_id')
    .modify(onlyVisible, who)
    .select('n.*', 'actor.display_name as actor_name');
}

export interface Unread {
  unreadCount: number;
  urgentCount: number;
}

/** Unread counts from the rollup, minus unread notifications whose target is hidden now. */
export async function unreadOf(db: Db, who: Principal): Promise<Unread> {
  const all = await db('notification_counts').where({ profile_id: who.profileId }).first();
  if (!all || all.unread === 0) return { unreadCount: 0, urgentCount: 0 };
  const visible = db('notifications as n')
    .modify(onlyVisible, who)
    .whereNull('n.read_at')
    .whereRaw('n.id = h.id')
    .select(db.raw('1'));
  const [hidden] = await db('notifications as h')
    .where('h.profile_id', who.profileId)
    .whereNull('h.read_at')
    .whereNotExists(visible)
    .select<{ unread: number; urgent: number }[]>(
      db.raw('count(*)::int as unread'),
      db.raw(`(count(*) filter (where h.level = 'urgent'))::int as urgent`),
    );
  return {
    unreadCount: Math.max(0, all.unread - (hidden?.unread ?? 0)),
    urgentCount: Math.max(0, all.urgent - (hidden?.urgent ?? 0)),
  };
}

/** Language of the profile, else of its account, else of the server. */
export async function languageOf(db: Db, profileId: string, fallback: string): Promise<string> {
  const row = await db('profiles as p')
    .join('accounts as a', 'a.id', 'p.account_id')
    .where('p.id', profileId)
    .first(db.raw('coalesce(p.language, a.language) as language'));
  return row?.language ?? fallback;
}

export function toNotification(row: NotificationRow, language: string): Notification {
  return {
    id: row.id,
    kind: row.kind,
    ...textOf(row, languageFor(language)),
    level: row.level,
    ...(row.url && { url: row.url }),
    ...(row.target && { target: row.target }),
    ...(row.actor_id && row.actor_name && { actor: { userId: row.actor_id, displayName: row.actor_name } }),
    count: row.count,
    read: row.read_at !== null,
    ...(row.read_at && { readAt: row.read_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
    ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
  };
}

/** Marks own notifications by id, or one and all before it, and returns the number of changes. */
export async function markRead(
  db: Db,
  who: Principal,
  { ids, upTo, read }: { ids?: readonly string[] | undefined; upTo?: string | undefined; read: boolean },
): Promise<number> {
  const own = db('notifications').where({ profile_id: who.profileId, in_app: true });
  if (ids) own.whereIn('id', [...ids]);
  if (upTo !== undefined) {
    const place = await placeOf(db, who, upTo);
    if (place === undefined) return 0;
    // For a deleted or merged notification only the id shows its time.
    if (place === 'gone') own.where('id', '<=', upTo);
    else own.whereRaw('(created_at, id) <= (select created_at, id from notifications where id = ?)', [upTo]);
  }
  return read
    ? own.whereNull('read_at').update({ read_at: db.fn.now() })
    : own.whereNotNull('read_at').update({ read_at: null });
}

type Place = 'here' | 'gone';

/** Whether the notification exists or was deleted; undefined when it never belonged to the profile. */
async function placeOf(db: Db, { profileId }: Principal, id: string): Promise<Place | undefined> {
  const own = { id, profile_id: profileId };
  const here = await db('notifications').where(own).first('id');
  if (here) return 'here';
  const gone = await db('notifications_gone').where(own).first('id');
  return gone && 'gone';
}

/** Deletes a notification with its unsent messages; false when it never belonged to the profile. */
export async function removeNotification(db: Db, who: Principal, id: string): Promise<boolean> {
  if ((await db('notifications').where({ id, profile_id: who.profileId }).delete()) > 0) return true;
  return (await placeOf(db, who, id)) !== undefined;
}

/** Job notification.sweep: deletes read ones after 30 days, unread ones after 90, and beyond 1,000 a profile the oldest read ones. */
export async function sweep(db: Db): Promise<void> {
  await db.raw(`delete from notifications where coalesce(expires_at, 'infinity') < now() - interval '1 day'
    or created_at < now() - case when read_at is null then interval '90 days' else interval '30 days' end`);
  await db.raw(`delete from notifications where id in (select id from (
    select id, row_number() over (partition by profile_id order by (read_at is null) desc, created_at desc, id desc) as place
    from notifications) placed where place > 1000)`);
  await db.raw(`delete from notifications_gone where at < now() - interval '30 days'`);
}
