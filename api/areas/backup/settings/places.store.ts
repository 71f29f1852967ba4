import type { S3Place } from '#platform/backup/s3-destination.ts';
import { type Db, existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import type { PlaceDraft } from '../backups.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'backup_places.place': Partial<S3Place & FolderPlace>;
  }
}

/** The bucket `foyer-backups` of the deployment, created by the migration. */
export const BUILTIN = '00000000-0000-7000-8000-000000000001';

export interface FolderPlace {
  storageId: string;
  path: string;
}

export type PlaceRow = Row<'backup_places'>;

export const s3Of = ({ place }: Pick<PlaceRow, 'place'>): S3Place => place as S3Place;
export const folderOf = ({ place }: Pick<PlaceRow, 'place'>): FolderPlace => place as FolderPlace;

const PLACE = 'backup_places|secret|';
export const secretOf = (keys: Keys, row: PlaceRow): string | undefined =>
  row.secret === null ? undefined : unseal(keys, row.secret, PLACE + row.id);

export async function findPlace(db: Db, id: string): Promise<PlaceRow> {
  return existing(await db('backup_places').where({ id }).first());
}

/** Places in use, and places that still hold backups. */
export async function livePlaces(db: Db): Promise<PlaceRow[]> {
  return db('backup_places as p')
    .whereRaw(
      `p.id in (select place_id from backup_settings union select copy_id from backup_settings union select place_id from backups)`,
    )
    .orderBy('p.id')
    .select('p.*');
}

/** Name shown with backups: bucket and host, or the folder. */
export function nameOf({ kind, place }: Pick<PlaceRow, 'kind' | 'place'>): string {
  if (kind === 'builtin') return 'foyer-backups';
  if (kind === 'storage') return place.path || '/';
  const prefix = place.prefix ? `/${place.prefix}` : '';
  return `${place.bucket}${prefix} (${new URL(place.endpoint ?? '').host})`;
}

/** Whether both name the same server and bucket or folder, so that the stored secret may stay. */
export function isSamePlace(row: PlaceRow, draft: Pick<PlaceDraft, 'kind' | 's3' | 'storage'>): boolean {
  if (row.kind !== draft.kind) return false;
  const wanted = { ...draft.s3, ...draft.storage } as Record<string, unknown>;
  const names = ['endpoint', 'region', 'bucket', 'prefix', 'pathStyle', 'accessKeyId', 'storageId', 'path'] as const;
  return names.every((name) => (row.place[name] ?? '') === (wanted[name] ?? ''));
}

/** A row that is not stored yet. */
export function draftedPlace(keys: Keys, { kind, s3, storage, secretAccessKey }: PlaceDraft): PlaceRow {
  const id = kind === 'builtin' ? BUILTIN : newId();
  return {
    id,
    kind,
    place: { ...s3, ...storage },
    secret: secretAccessKey === undefined ? null : seal(keys, secretAccessKey, PLACE + id),
    declared: false,
    state: 'ok',
    state_reason: null,
    free_bytes: null,
    listed_at: null,
    loose_since: null,
  };
}

/** Stores the place; a known place keeps its row and gets the new secret. */
export async function putPlace(db: Db, keys: Keys, { drafted, declared }: { drafted: PlaceDraft; declared: boolean }) {
  if (drafted.kind === 'builtin') return BUILTIN;
  const rows = await db('backup_places').where({ kind: drafted.kind }).select('*');
  const known = rows.find((row) => isSamePlace(row, drafted));
  const { secretAccessKey: secret } = drafted;
  if (known) {
    const sealed = secret === undefined ? {} : { secret: seal(keys, secret, PLACE + known.id) };
    await db('backup_places')
      .where({ id: known.id })
      .update({ ...sealed, declared, state: 'ok', state_reason: null });
    return known.id;
  }
  const { place, ...row } = draftedPlace(keys, drafted);
  await db('backup_places').insert({ ...row, place: JSON.stringify(place), declared });
  return row.id;
}

/** Records the result of the last use. */
export async function notePlace(
  db: Db,
  id: string,
  seen: Partial<Pick<PlaceRow, 'state' | 'state_reason' | 'free_bytes' | 'listed_at' | 'loose_since'>>,
): Promise<void> {
  await db('backup_places').where({ id }).update(seen);
}
