import type { Permission } from '#identity/permissions.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { type Channels, kindOf, type Level, MERGE_MS, type NotificationKind } from './kinds.ts';
import { mailNotice } from './mail-hook.ts';
import { channelsOf, heldUntil, isMuted, noPreferences, preferencesOf } from './preferences.ts';
import { hasPushDevice } from './push.store.ts';
import { type Seer, seers } from './sight.ts';

export interface Notice {
  kind: NotificationKind;
  /** Profiles, main profiles of accounts, or holders of a permission; absent is the permission of the kind. */
  to?: { profileIds: string[] } | { accountIds: string[] } | { permission: Permission };
  target?: { kind: string; id: string };
  /** Only profiles that may see the item and the library get and see the notification. */
  itemId?: string;
  libraryId?: string;
  /** The account that caused it, which does not get it. */
  actorId?: string;
  /** Values for the texts, first of all `name`. */
  data?: Record<string, string | number>;
  /** Relative URL of the page that it opens. */
  url?: string;
  level?: Level;
  /** ISO time. */
  expiresAt?: string;
  /** Number of things that it is about; absent is one. */
  count?: number;
  /** Notifications with the same key are merged; absent is kind and target. */
  mergeKey?: string;
}

const AT_ONCE = 50;
export const BATCH = 500;

/**
 * Notifies people in the transaction of the caller, so that a rollback sends nothing. Beyond 50 receivers the job
 * `notification.fanout` writes the rows.
 */
export async function notify(db: Db, notice: Notice): Promise<void> {
  const receivers = await receiversOf(db, notice, { after: undefined, limit: AT_ONCE + 1 });
  if (receivers.length > AT_ONCE) await enqueue(db, 'notification.fanout', { payload: { notice } });
  else await notifyProfiles(db, notice, receivers);
}

/** Receivers by profile id, up to `limit`. */
export async function receiversOf(
  db: Db,
  { to, kind, actorId }: Notice,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<string[]> {
  const wanted = to ?? { permission: kindOf(kind).permission ?? 'settings:manage' };
  return db('profiles as p')
    .join('accounts as a', 'a.id', 'p.account_id')
    .where({ 'a.disabled': false, 'a.is_system': false })
    .whereNull('a.deleted_at')
    .whereRaw('coalesce(a.expires_at > now(), true)')
    .modify((query) => {
      if (after) query.where('p.id', '>', after);
      if (actorId) query.whereNot('a.id', actorId);
      if ('profileIds' in wanted) query.whereIn('p.id', wanted.profileIds);
      else query.where('p.main', true);
      if ('accountIds' in wanted) query.whereIn('a.id', wanted.accountIds);
      if ('permission' in wanted)
        query.whereRaw(`coalesce((a.own_permissions->>?)::boolean, a.role in ('owner', 'admin'))`, [wanted.permission]);
    })
    .orderBy('p.id')
    .limit(limit)
    .pluck('p.id') as Promise<string[]>;
}

/** Writes the notifications of these profiles, for those that may see it and prefer it. */
export async function notifyProfiles(db: Db, notice: Notice, profileIds: readonly string[]): Promise<void> {
  if (profileIds.length === 0) return;
  const preferences = await preferencesOf(db, profileIds);
  for (const seer of await seers(db, profileIds, notice))
    await notifyOne(db, { notice, seer, preferences: preferences.get(seer.profileId) ?? noPreferences });
}

interface One {
  notice: Notice;
  seer: Seer;
  preferences: typeof noPreferences;
}

async function notifyOne(db: Db, { notice, seer, preferences }: One): Promise<void> {
  const { inApp, push, email } = await channelsFor(db, { notice, seer, preferences });
  if (!inApp && push.length === 0 && email === 'off') return;
  const id = await insert(db, { notice, seer, inApp });
  if (inApp)
    await emit(db, 'notification.created', {
      payload: { notificationId: id, userId: seer.accountId, kind: notice.kind },
      facts: { userIds: [seer.accountId], profileId: seer.profileId },
    });
  const level = levelOf(notice);
  const { zone, profileId, accountId } = seer;
  const held = heldUntil(preferences, { now: new Date(), zone, urgent: level === 'urgent' });
  for (const subscriptionId of push) await queuePush(db, { subscriptionId, notificationId: id, held });
  if (email === 'at-once')
    await mailNotice(db, { notificationId: id, kind: notice.kind, level, accountId, profileId, zone, preferences });
}

interface Ways extends Pick<Channels, 'inApp' | 'email'> {
  push: string[];
}

/** Channels that the profile prefers: in the app, by mail, and devices for push. */
async function channelsFor(db: Db, { notice, seer, preferences }: One): Promise<Ways> {
  const fixed = kindOf(notice.kind).fixed ?? false;
  if (!fixed && isMuted(preferences, notice)) return { inApp: false, push: [], email: 'off' };
  const { inApp, push, email } = channelsOf(preferences, notice.kind);
  return { inApp: fixed || inApp, push: push ? await hasPushDevice(db, seer.profileId) : [], email };
}

const levelOf = ({ level, kind }: Notice): Level => level ?? kindOf(kind).level;

async function queuePush(
  db: Db,
  { held, ...ids }: { subscriptionId: string; notificationId: string; held: Date | undefined },
): Promise<void> {
  await db('push_messages').insert({
    subscription_id: ids.subscriptionId,
    notification_id: ids.notificationId,
    held: held !== undefined,
  });
  await enqueue(db, 'push.send', { payload: ids, options: { priority: 20, ...(held && { runAt: held }) } });
}

/**
 * Inserts a row and merges unread ones of the same key within the time of the kind. The result has a new id, so that a client
 * with an older list cannot mark it as read.
 */
async function insert(db: Db, { notice, seer, inApp }: Omit<One, 'preferences'> & { inApp: boolean }): Promise<string> {
  const { kind, target } = notice;
  const mergeKey = notice.mergeKey ?? `${kind}:${target?.id ?? ''}`;
  const merge = { profileId: seer.profileId, mergeKey, withinMs: kindOf(kind).mergeMs ?? MERGE_MS };
  const merged = inApp ? await takeMerged(db, merge) : [];
  const id = newId();
  await db('notifications').insert({
    ...columnsOf(notice),
    id,
    profile_id: seer.profileId,
    merge_key: mergeKey,
    count: (notice.count ?? 1) + merged.reduce((sum, row) => sum + row.count, 0),
    in_app: inApp,
    read_at: inApp ? null : new Date(),
    first_at:
      merged.map((row) => row.first_at).sort((a, b) => a.getTime() - b.getTime())[0] ?? db.raw('clock_timestamp()'),
  });
  return id;
}

function columnsOf(notice: Notice) {
  const { kind, target, itemId, libraryId, actorId, data = {}, url, expiresAt } = notice;
  return {
    kind,
    level: levelOf(notice),
    data: JSON.stringify(data),
    target: target && JSON.stringify(target),
    item_id: itemId,
    library_id: libraryId,
    actor_id: actorId,
    url,
    expires_at: expiresAt === undefined ? undefined : new Date(expiresAt),
  };
}

interface Merge {
  profileId: string;
  mergeKey: string;
  withinMs: number;
}

async function takeMerged(
  db: Db,
  { profileId, mergeKey, withinMs }: Merge,
): Promise<{ count: number; first_at: Date }[]> {
  const { rows } = await db.raw<{ rows: { count: number; first_at: Date }[] }>(
    `delete from notifications where id in (
       select id from notifications where profile_id = ? and merge_key = ? and read_at is null
         and first_at > clock_timestamp() - make_interval(secs => ?) for update skip locked)
     returning count, first_at`,
    [profileId, mergeKey, withinMs / 1000],
  );
  return rows;
}
