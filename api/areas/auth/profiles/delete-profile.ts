import { stopTranscodeSessions } from '#areas/streaming/public.ts';
import { stopSession } from '#areas/viewing/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { type ProfileRow, writeAvatar } from './profiles.store.ts';

const ITS_OWN = ['sessions', 'api_keys', 'quick_connects', 'push_subscriptions'] as const;

/** The profile is nobody's from this request on, and what plays in it ends; a job removes its rows. */
export async function removeProfile(call: Call, row: ProfileRow): Promise<void> {
  const { db, who } = call;
  const open = (await db('playback_sessions')
    .where({ profile_id: row.id })
    .whereNot({ state: 'stopped' })
    .pluck('id')) as string[];
  for (const id of open) {
    await stopSession(db, id, { reason: 'limit' });
    await stopTranscodeSessions(db, id);
  }
  const keys = await db('api_keys')
    .where({ profile_id: row.id })
    .whereNull('revoked_at')
    .select<{ id: string; scopes: string[] }[]>('id', 'scopes');
  for (const { id: keyId, scopes } of keys) await audit(call, 'api-key.revoked', { keyId, scopes });
  for (const table of [...ITS_OWN, 'label_principals', 'theme_selections'] as const)
    await db(table).where({ profile_id: row.id }).delete();
  await db('devices').where({ account_id: who.accountId, last_profile_id: row.id }).update({ last_profile_id: null });
  const system = await db('accounts').where({ is_system: true }).first<{ id: string }>('id');
  await writeAvatar(db, row, null);
  await db('profiles').where({ id: row.id }).update({ account_id: system.id, name: row.id, pin_hash: null });
  await audit(call, 'profile-deleted', { profileId: row.id });
  await call.enqueue('profile.purge', { profileId: row.id }, { key: `profile.purge:${row.id}` });
}

const BATCH = 5000;
const deleted = (db: Db) =>
  db('profiles as p').join('accounts as a', 'a.id', 'p.account_id').where('a.is_system', true);

/** Rows of a deleted profile that may be many, in batches; false when none is left. */
export async function purgeSomeOfProfile(db: Db, profileId: string): Promise<boolean> {
  const found = await db.raw<{ rowCount: number }>(
    `delete from item_states where ctid = any(array(select s.ctid from item_states s where s.profile_id = ?
       and exists ? limit ?))`,
    [profileId, deleted(db).where('p.id', profileId).select('p.id') as unknown as string, BATCH],
  );
  return found.rowCount > 0;
}

/** With it goes what refers to it. */
export async function removeProfileRow(db: Db, profileId: string): Promise<void> {
  await db('profiles')
    .whereIn('id', deleted(db).where({ 'p.id': profileId, 'p.main': false }).select('p.id'))
    .delete();
}
