// Rows of images, as the operations list and change them.
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Image } from './artwork.schemas.ts';

export type ImageRow = Row<'images'>;

/** The state of an image in the choice of its owner. */
interface Place {
  selected: boolean;
  position?: number;
  locked: boolean;
  /** Whether the caller has `item:edit`. */
  edits: boolean;
}

/** The answer for a row. */
export function toImage(row: ImageRow, { selected, position, locked, edits }: Place): Image {
  return {
    ...{ id: row.id, kind: row.kind, width: row.width, height: row.height, blurhash: row.blurhash },
    version: String(row.version),
    owner: { kind: row.owner_kind as Image['owner']['kind'], id: row.owner_id },
    source: row.source as Image['source'],
    ...(edits && row.source_url !== null && { sourceUrl: row.source_url }),
    ...(row.language !== null && { language: row.language }),
    ...{ mime: row.mime, sizeBytes: row.size_bytes, animated: row.animated },
    ...{ dominant: row.dominant, palette: row.palette },
    ...(row.focus && { focus: row.focus }),
    ...{ selected, locked },
    ...(selected && position !== undefined && { position }),
    ...(edits && row.added_by !== null && { addedBy: row.added_by }),
    addedAt: iso(row.added_at),
  };
}

/** Rows that are no previews and that no one removed. */
export async function keptImages(db: Db, owner: { kind: string; id: string }): Promise<ImageRow[]> {
  return db('images')
    .where({ owner_kind: owner.kind, owner_id: owner.id, discarded: false, expires_at: null })
    .orderBy(['added_at', 'id'])
    .select('*');
}

export async function imagesById(db: Db, ids: readonly string[]): Promise<ImageRow[]> {
  return db('images').whereIn('id', ids).where({ discarded: false, expires_at: null }).select('*');
}

/** The choice of a person for each kind of an owner. */
export async function choicesOf(db: Db, ownerId: string): Promise<Map<string, { ids: string[]; locked: boolean }>> {
  const rows = await db('artwork_choices').where({ owner_id: ownerId }).select('kind', 'image_ids', 'locked');
  return new Map(rows.map(({ kind, image_ids: ids, locked }) => [kind, { ids, locked }]));
}

export interface Choice {
  owner: { kind: 'item' | 'person'; id: string };
  kind: string;
  imageIds: readonly string[];
  locked: boolean;
}

export async function writeChoice(db: Db, { owner, kind, imageIds, locked }: Choice): Promise<void> {
  const row = { owner_id: owner.id, owner_kind: owner.kind, kind, image_ids: imageIds, locked };
  await db('artwork_choices')
    .insert(row)
    .onConflict(['owner_id', 'kind'])
    .merge({ image_ids: db.raw('excluded.image_ids'), locked });
}

/** Puts images in front of the present choice; the choice stays locked or not. */
export async function addToChoice(
  db: Db,
  { owner, kind, imageIds }: Omit<Choice, 'locked'>,
  most: number,
): Promise<void> {
  const before = (await choicesOf(db, owner.id)).get(kind);
  const ids = [...imageIds, ...(before?.ids ?? []).filter((id) => !imageIds.includes(id))].slice(0, most);
  await writeChoice(db, { owner, kind, imageIds: ids, locked: before?.locked ?? false });
}

export async function dropChoice(db: Db, ownerId: string, kind: string): Promise<void> {
  await db('artwork_choices').where({ owner_id: ownerId, kind }).delete();
}

/** Owners other than `except` whose choice has the image. */
export async function choosers(
  db: Db,
  imageId: string,
  except: string | undefined,
): Promise<{ kind: string; id: string; title: string }[]> {
  const { rows } = await db.raw<{ rows: { kind: string; id: string; title: string }[] }>(
    `select c.owner_kind as kind, c.owner_id as id, coalesce(i.title, p.name, '') as title
     from artwork_choices c left join items i on i.id = c.owner_id left join people p on p.id = c.owner_id
     where c.image_ids @> array[?::uuid] and c.owner_id is distinct from ?::uuid
     union all select 'library', l.id, l.name from libraries l where l.poster_image_id = ?::uuid
     order by title limit 100`,
    [imageId, except ?? null, imageId],
  );
  return rows;
}

/** Removes an image from the choices of its owner. */
export async function unchoose(db: Db, ownerId: string, imageId: string): Promise<void> {
  await db.raw(
    `update artwork_choices set image_ids = array_remove(image_ids, ?::uuid) where owner_id = ? and image_ids @> array[?::uuid]`,
    [imageId, ownerId, imageId],
  );
  await db('artwork_choices').where({ owner_id: ownerId, locked: false }).whereRaw(`image_ids = '{}'`).delete();
}
