import type { Role } from '#identity/permissions.ts';
import { requireMain } from '#identity/person.ts';
import { may } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { insertImage, keepOriginal } from '#kernel/images.ts';
import { pictureOf } from '#kernel/pictures.ts';
import type { Upload } from '#kernel/uploads.ts';
import type { Row } from '#platform/typed-query.ts';
import { writeAvatar } from './profiles.store.ts';

export const AVATAR_BYTES = 8 << 20;
export const AVATAR_MEDIA = ['image/jpeg', 'image/png', 'image/webp', 'image/avif', 'image/gif'] as const;

const SIDE = 512;
const wanted = {
  rules: {
    accepts: ['jpeg', 'png', 'webp', 'avif', 'gif'] as const,
    minSide: 1,
    maxSide: 20_000,
    maxPixels: 1e8,
    maxFrames: 10_000, // only the first is decoded
  },
  make: { format: 'webp', width: SIDE, height: SIDE, fit: 'cover', enlarge: true } as const,
};

export interface Portrayed extends Pick<Row<'profiles'>, 'id' | 'account_id' | 'main'> {
  role: Role;
}

/** A profile of the own account, or of a child or guest that the caller manages. Throws 404 for others, 403 for other roles. */
export async function portrayed({ db, who }: Call, id: string): Promise<Portrayed> {
  const row = await db('profiles as p')
    .join('accounts as a', 'a.id', 'p.account_id')
    .where({ 'p.id': id, 'a.is_system': false })
    .whereNull('a.deleted_at')
    .first('p.id', 'p.account_id', 'p.main', 'a.role');
  if (!row) throw notFound();
  if (row.account_id === who.accountId) {
    if (row.id !== who.profileId) requireMain(who);
    return row;
  }
  if (!may(who, 'user:manage')) throw notFound();
  if (row.role === 'child' || row.role === 'guest') return row;
  throw new ApiError('FORBIDDEN', 'Others choose their own picture', { by: 'role' });
}

/** Stores the first frame as 512 by 512, cropped to its centre, without metadata. The main profile shares it with the account. */
export async function setAvatar(call: Call, row: Portrayed, upload: Upload): Promise<void> {
  const picture = await pictureOf(call.deps.pictures, upload, wanted);
  const sha256 = await keepOriginal({ objects: call.deps.objects, log: call.log }, picture.bytes);
  await call.transact(async (inside) => {
    const image = await insertImage(inside.db, {
      ...{ kind: 'avatar', owner: { kind: 'profile', id: row.id }, sha256, mime: 'image/webp' },
      ...{ sizeBytes: picture.bytes.length, picture: { ...picture, width: SIDE, height: SIDE, frames: 1 } },
      byAccountId: inside.who.accountId,
    });
    await writeAvatar(inside.db, row, image);
    await audit(inside, 'profile-changed', { profileId: row.id, fields: ['avatar'] });
  });
}
