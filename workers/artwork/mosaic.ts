import {
  foundImages,
  insertFound,
  mainKind,
  type Pending,
  replaceFound,
  type Stage,
  shownOf,
} from '#areas/artwork/public.ts';
import { keepOriginal } from '#kernel/images.ts';
import { wholeOf } from '#platform/bytes.ts';
import { ObjectMissing } from '#platform/objects.ts';
import { PictureRefused } from '#platform/pictures.ts';
import { rowsOf } from '#platform/rows.ts';
import { type Fetching, picturedItem } from './pictured.ts';

const PARTS = 4;
/** Children that are looked at for different pictures. */
const MOST_CHILDREN = 40;
/** Of one child's picture; four of them travel to the parser together. */
const MOST_BYTES = 12 << 20;

interface Part {
  id: string;
  sha256: string;
}

/** A picture of a container from those of its first children. */
export async function makeMosaic(fetching: Fetching, { itemId }: Pending): Promise<Stage | undefined> {
  const { work, settling } = fetching;
  const item = await picturedItem(work, itemId);
  if (!item) return undefined;
  const kind = mainKind(item.type);
  if (await isShown(fetching, itemId, kind)) return undefined;
  const parts = await childrensPictures(fetching, itemId);
  const found = (await foundImages(work.db, itemId, ['mosaic'])).find((row) => row.kind === kind);
  const origin = { of: parts.map(({ sha256 }) => sha256).join() };
  if (parts.length === 0 || found?.discarded || found?.origin?.['of'] === origin.of) return undefined;
  const taken = await mosaicOf(fetching, parts, kind);
  if (!taken) return undefined;
  await work.db.transaction(async (db) => {
    const news = { source: 'mosaic', kind, origin, taken } as const;
    if (found) await replaceFound(db, found, news);
    else await insertFound(db, itemId, news);
    await settling.settle(db, [itemId]);
  });
  return undefined;
}

async function isShown({ work }: Fetching, itemId: string, kind: string): Promise<boolean> {
  return ((await shownOf(work.db, itemId, [kind])).get(kind) ?? []).length > 0;
}

/** Makes the mosaic of a library from its newest items, unless they are those that it shows already. */
export async function makeLibraryMosaic(
  { work, pictures }: Pick<Fetching, 'work' | 'pictures'>,
  libraryId: string,
): Promise<void> {
  const { db } = work;
  const rows = await rowsOf<Part>(
    db,
    `select m.id, m.sha256 from items i
       join images m on m.id = (coalesce(i.artwork -> 'poster', i.artwork -> 'thumb') ->> 'id')::uuid
     where i.library_id = ? and i.top and i.trashed_at is null and i.extra_of is null and m.size_bytes <= ?
     order by i.added_at desc nulls last, i.id desc limit ?`,
    [libraryId, MOST_BYTES, MOST_CHILDREN],
  );
  const parts = different(rows);
  const owner = { kind: 'library', id: libraryId } as const;
  const [found] = await foundImages(db, owner, ['mosaic']);
  const origin = { of: parts.map(({ sha256 }) => sha256).join() };
  if (parts.length === 0 || found?.discarded || found?.origin?.['of'] === origin.of) return;
  const taken = await mosaicOf({ work, pictures }, parts, 'poster');
  if (!taken) return;
  const news = { source: 'mosaic', kind: 'poster', origin, taken } as const;
  await db.transaction(async (transaction) => {
    await transaction.raw('select pg_advisory_xact_lock(hashtextextended(?, 11))', [libraryId]);
    const [now] = await foundImages(transaction, owner, ['mosaic']);
    if (now) await replaceFound(transaction, now, news);
    else await insertFound(transaction, owner, news);
  });
}

/** Makes the picture of a collection from its first items. It names them, because not everyone may see each. */
export async function makeCollectionMosaic(
  { work, pictures }: Pick<Fetching, 'work' | 'pictures'>,
  collectionId: string,
): Promise<{ made: number }> {
  const { db } = work;
  const rows = await rowsOf<Part & { item_id: string }>(
    db,
    `select i.id as item_id, m.id, m.sha256 from collection_items ci join items i on i.id = ci.item_id
       join images m on m.id = (coalesce(i.artwork -> 'poster', i.artwork -> 'thumb') ->> 'id')::uuid
     where ci.collection_id = ? and i.trashed_at is null and i.extra_of is null and m.size_bytes <= ?
     order by ci.position, ci.item_id limit ?`,
    [collectionId, MOST_BYTES, PARTS],
  );
  const owner = { kind: 'collection', id: collectionId } as const;
  const [found] = await foundImages(db, owner, ['mosaic']);
  const of = rows.map(({ sha256 }) => sha256).join();
  if (rows.length === 0 && found) await db('images').where({ id: found.id }).delete();
  if (rows.length === 0 || found?.origin?.['of'] === of) return { made: 0 };
  const taken = await mosaicOf({ work, pictures }, rows, 'poster');
  if (!taken) return { made: 0 };
  const origin = { of, items: rows.map((row) => row.item_id), at: new Date().toISOString() };
  const news = { source: 'mosaic', kind: 'poster', origin, taken } as const;
  await db.transaction(async (transaction) => {
    const there = await transaction('collections').where({ id: collectionId }).forUpdate().first('id');
    const [now] = await foundImages(transaction, owner, ['mosaic']);
    if (there && now) await replaceFound(transaction, now, news);
    else if (there) await insertFound(transaction, owner, news);
  });
  return { made: 1 };
}

/** Pictures on the cards of the first children; when they have none, of the first grandchildren. */
async function childrensPictures({ work }: Fetching, itemId: string): Promise<Part[]> {
  for (const above of ['parent_id', 'grandparent_id']) {
    const rows = await rowsOf<Part>(
      work.db,
      `select m.id, m.sha256 from items c
         join images m on m.id = (coalesce(c.artwork -> 'poster', c.artwork -> 'thumb') ->> 'id')::uuid
       where c.${above} = ? and c.trashed_at is null and c.extra_of is null and m.size_bytes <= ?
         and m.owner_id <> ?
       order by c.index_number, c.sort_title, c.id limit ?`,
      [itemId, MOST_BYTES, itemId, MOST_CHILDREN],
    );
    if (rows.length > 0) return different(rows);
  }
  return [];
}

/** Tracks of an album often have one picture, which is then shown alone. */
function different(rows: readonly Part[]): Part[] {
  const byBytes = new Map(rows.map((row) => [row.sha256, row]));
  return [...byBytes.values()].slice(0, PARTS);
}

async function mosaicOf({ work, pictures }: Pick<Fetching, 'work' | 'pictures'>, parts: readonly Part[], kind: string) {
  const sides = kind === 'poster' ? { width: 800, height: 1200 } : { width: 1000, height: 1000 };
  try {
    const bytes = await Promise.all(
      parts.map(async ({ sha256 }) => wholeOf(await work.objects.get('foyer-artwork', sha256))),
    );
    const made = await pictures.mosaic(bytes, { ...sides, format: 'webp', fit: 'cover', quality: 85 });
    const sha256 = await keepOriginal(work, made.bytes);
    return { sha256, mime: made.type, sizeBytes: made.bytes.length, picture: { ...made, ...sides } };
  } catch (error) {
    if (error instanceof ObjectMissing || error instanceof PictureRefused) return undefined;
    throw error;
  }
}
