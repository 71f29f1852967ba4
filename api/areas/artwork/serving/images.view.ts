import type { Principal } from '#identity/principal.ts';
import { limitsItems, visibleItemIds } from '#identity/visibility.ts';
import { notFound } from '#kernel/errors.ts';
import { seesOwner } from '#kernel/images.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

const SERVED = [
  ...(['id', 'kind', 'owner_kind', 'owner_id', 'sha256', 'mime', 'size_bytes', 'width', 'height'] as const),
  ...(['alpha', 'animated', 'version', 'focus', 'crop', 'rotate', 'source'] as const),
] as const;

/** An image as its bytes are served. */
export type ServedRow = Pick<Row<'images'>, (typeof SERVED)[number]>;

/** Throws 404 when it does not exist, ended, or its owner is hidden from the caller. */
export async function getServedImage(db: Db, who: Principal, id: string): Promise<ServedRow> {
  const row = await findServedImage(db, who, id);
  if (!row) throw notFound();
  return row;
}

/** A mosaic of a library shows any of its items. */
const isOfWholeLibrary = ({ owner_kind: kind, source }: ServedRow): boolean =>
  kind === 'library' && source === 'mosaic';

/** Undefined instead of 404. */
export async function findServedImage(db: Db, who: Principal, id: string): Promise<ServedRow | undefined> {
  const row = await db('images')
    .where({ id, discarded: false })
    .whereRaw('(expires_at is null or expires_at > now())')
    .first(...SERVED);
  if (!row || (isOfWholeLibrary(row) && limitsItems(who.sees))) return undefined;
  if (row.owner_kind === 'collection' && row.source === 'mosaic' && !(await seesParts(db, who, id))) return undefined;
  return (await seesOwner(db, who, { kind: row.owner_kind, id: row.owner_id })) ? row : undefined;
}

/** Whether the caller sees every item that the picture of a collection shows. */
async function seesParts(db: Db, who: Principal, id: string): Promise<boolean> {
  const row = await db('images').where({ id }).first('origin');
  const items = row?.origin?.['items'];
  if (!Array.isArray(items)) return false;
  return (await visibleItemIds(db, who, items as string[])).length === items.length;
}
