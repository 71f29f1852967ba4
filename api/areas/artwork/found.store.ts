// Rows of the pictures that the server found itself: next to files, in files, from frames and children.
import { type ImageSource, insertImage, type NewImage } from '#kernel/images.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Taken } from './intake.ts';
import type { ArtworkKind } from './kinds.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'images.origin': Record<string, unknown>;
    'images.focus': { x: number; y: number };
    'images.crop': { x: number; y: number; width: number; height: number };
  }
}

const COLUMNS = ['id', 'kind', 'source', 'sha256', 'origin', 'discarded'] as const;
export type FoundRow = Pick<Row<'images'>, (typeof COLUMNS)[number]>;

/** The owner of a found picture; an id alone is that of an item. */
export type FoundOwner = string | { kind: 'item' | 'person' | 'library' | 'collection'; id: string };

const ownerOf = (owner: FoundOwner): Exclude<FoundOwner, string> =>
  typeof owner === 'string' ? { kind: 'item', id: owner } : owner;

/** Pictures of an owner from these sources, discarded ones too. */
export async function foundImages(db: Db, of: FoundOwner, sources: readonly ImageSource[]): Promise<FoundRow[]> {
  const owner = ownerOf(of);
  return db('images')
    .where({ owner_kind: owner.kind, owner_id: owner.id })
    .whereIn('source', sources)
    .select(...COLUMNS);
}

/** A picture and what it was made from. */
export interface Found {
  source: ImageSource;
  kind: ArtworkKind;
  origin: Record<string, unknown>;
  taken: Taken;
  crop?: NonNullable<NewImage['crop']>;
  /** Of a picture of a catalogue. */
  sourceUrl?: string;
  language?: string;
}

export async function insertFound(db: Db, of: FoundOwner, found: Found): Promise<string> {
  const { source, kind, origin, taken, crop, sourceUrl, language } = found;
  const owner = ownerOf(of);
  return insertImage(db, {
    ...taken,
    source,
    kind,
    owner,
    origin,
    byAccountId: null,
    ...(crop && { crop }),
    ...(sourceUrl !== undefined && { sourceUrl }),
    ...(language !== undefined && { language }),
  });
}

/**
 * Puts another picture into the row of one that was made from the same place: choices stay, a picture that a person
 * removed is shown again. Instructions of the former picture end.
 */
export async function replaceFound(db: Db, row: FoundRow, { origin, taken, kind }: Found): Promise<void> {
  const { picture, sha256, mime, sizeBytes } = taken;
  const { width, height, blurhash, dominant, palette, alpha, frames } = picture;
  const origins = { origin: JSON.stringify(origin), kind };
  if (row.sha256 === sha256) {
    await db('images').where({ id: row.id }).update(origins);
    return;
  }
  await db('images')
    .where({ id: row.id })
    .update({
      ...{ ...origins, sha256, mime, size_bytes: sizeBytes, width, height, blurhash, dominant, palette, alpha },
      ...{
        animated: frames > 1,
        discarded: false,
        focus: null,
        crop: null,
        rotate: 0,
        full_width: null,
        full_height: null,
      },
      version: db.raw('version + 1'),
    });
}

/** Deletes pictures whose place is gone, except those that a person chose or added. */
export async function dropFound(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db('images')
    .whereIn('id', ids)
    .whereNull('added_by')
    .whereRaw('not exists (select from artwork_choices c where c.image_ids @> array[images.id])')
    .delete();
}
