import { insertProfileRow, updateAccount, updateProfile } from '#areas/accounts/public.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { dropImages } from '#kernel/images.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row, Update } from '#platform/typed-query.ts';
import type { Profile } from '../auth.schemas.ts';
import { hashPassword } from '../passwords/passwords.ts';
import { listProfiles } from '../sign-in/sessions.store.ts';
import type { ProfileChange, ProfileDraft } from './profiles.schemas.ts';

export const MOST_PROFILES = 8;

export type ProfileRow = Pick<Row<'profiles'>, 'id' | 'account_id' | 'main' | 'pin_hash'>;

export async function getProfileRow(db: Db, accountId: string, id: string): Promise<ProfileRow> {
  const row = await db('profiles')
    .where({ id, account_id: accountId })
    .forUpdate()
    .first('id', 'account_id', 'main', 'pin_hash');
  if (!row) throw notFound();
  return row;
}

export async function getProfile(db: Db, accountId: string, id: string): Promise<Profile> {
  const profile = (await listProfiles(db, accountId, { limits: true })).find((one) => one.id === id);
  if (!profile) throw notFound();
  return profile;
}

type Columns = Update<'profiles'>;

async function toColumns({
  timeZone,
  keepHistory,
  pin,
  limits,
  avatar: _avatar,
  ...same
}: ProfileChange): Promise<Columns> {
  return {
    ...same,
    ...(timeZone !== undefined && { time_zone: timeZone }),
    ...(keepHistory !== undefined && { keep_history: keepHistory }),
    ...(limits !== undefined && { limits: limits && JSON.stringify(limits) }),
    ...(pin !== undefined && { pin_hash: pin && (await hashPassword(pin)), pin_wrong: [], pin_blocked_until: null }),
  };
}

/** Throws 409 `too-many-profiles`, and `duplicate-name` for a name of another profile of the account. */
export async function insertProfile(db: Db, accountId: string, draft: ProfileDraft): Promise<string> {
  const columns = await toColumns(draft);
  await db('accounts').where({ id: accountId }).forUpdate().first('id'); // concurrent requests would both be the eighth
  const [row] = await db('profiles')
    .where({ account_id: accountId })
    .select<{ count: number }[]>(db.raw('count(*)::int as count'));
  if ((row?.count ?? 0) >= MOST_PROFILES) throw conflict('too-many-profiles', 'An account has at most 8 profiles');
  const id = newId();
  await insertProfileRow(db, { ...columns, id, account_id: accountId, name: draft.name });
  return id;
}

export async function updateProfileRow(db: Db, row: ProfileRow, change: ProfileChange): Promise<void> {
  if (change.avatar === null) await writeAvatar(db, row, null);
  const columns = await toColumns(change);
  if (Object.keys(columns).length === 0) return;
  await updateProfile(db, { id: row.id }, columns);
}

/** Sets the picture of a profile, and of its account for the main profile; deletes the former one. */
export async function writeAvatar(
  db: Db,
  { id, account_id, main }: Pick<ProfileRow, 'id' | 'account_id' | 'main'>,
  imageId: string | null,
): Promise<void> {
  await updateProfile(db, { id }, { avatar_id: imageId });
  if (main) await updateAccount(db, { id: account_id }, { avatar_id: imageId });
  await dropImages(db, { kind: 'profile', id }, imageId);
}

/** Whether the account deleted this profile within the last day: deleting it again succeeds then. */
export async function wasDeletedLately(db: Db, accountId: string, id: string): Promise<boolean> {
  const row = await db('audit_log')
    .where({ account_id: accountId, action: 'profile-deleted' })
    .whereRaw(`details->>'profileId' = ? and at > now() - interval '24 hours'`, [id])
    .first('id');
  return row !== undefined;
}
