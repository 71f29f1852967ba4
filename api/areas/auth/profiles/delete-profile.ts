import { updateProfile } from '#areas/accounts/public.ts';
import { stopTranscodeSessions } from '#areas/streaming/public.ts';
import { stopSession } from '#areas/viewing/public.ts';
import { updateDeviceRow } from '#identity/devices.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Db, existing } from '#platform/db.ts';
import { type ProfileRow, writeAvatar } from './profiles.store.ts';

/** Moves the profile to the system account and stops its playback; a job deletes its rows. */
export async function removeProfile(call: Call, row: ProfileRow): Promise<void> {
  const { db, who } = call;
  const open = await db('playback_sessions').where({ profile_id: row.id }).whereNot({ state: 'stopped' }).pluck('id');
  for (const id of open) {
    await stopSession(db, id, { reason: 'limit' });
    await stopTranscodeSessions(db, id);
  }
  const keys = await db('api_keys').where({ profile_id: row.id }).whereNull('revoked_at').select('id', 'scopes');
  for (const { id: keyId, scopes } of keys) await audit(call, 'api-key.revoked', { keyId, scopes });
  await endProfile(db, row.id);
  await updateDeviceRow(db, { account_id: who.accountId, last_profile_id: row.id }, { last_profile_id: null });
  const system = existing(await db('accounts').where({ is_system: true }).first('id'));
  await writeAvatar(db, row, null);
  await updateProfile(db, { id: row.id }, { account_id: system.id, name: row.id, pin_hash: null });
  await audit(call, 'profile-deleted', { profileId: row.id });
  await call.enqueue('profile.purge', { profileId: row.id }, { key: `profile.purge:${row.id}` });
}

/** Deletes sessions, keys and subscriptions of the profile, and references to it. */
async function endProfile(db: Db, id: string): Promise<void> {
  await db('sessions').where({ profile_id: id }).delete();
  await db('quick_connects').where({ profile_id: id }).delete();
  await db('api_keys').where({ profile_id: id }).delete();
  await db('push_subscriptions').where({ profile_id: id }).delete();
  await db('label_principals').where({ profile_id: id }).delete();
  await db('theme_selections').where({ profile_id: id }).delete();
}
