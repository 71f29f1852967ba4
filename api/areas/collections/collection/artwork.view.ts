import type { Principal } from '#identity/principal.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import { ImageRef } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { CollectionRow } from './collections.store.ts';

interface ImageOf {
  collection_id: string;
  place: 'poster' | 'backdrop' | 'mosaic';
  owner_kind: string;
  owner_id: string;
  /** Items that a made picture shows. */
  parts: string[] | null;
  ref: unknown;
}

export interface Chosen {
  poster?: ImageRef;
  backdrop?: ImageRef;
}

const REF = `json_build_object('id', m.id, 'kind', m.kind, 'width', m.width, 'height', m.height, 'blurhash', m.blurhash,
  'version', m.version::text) as ref`;
const COLUMNS = `c.id as collection_id, m.owner_kind, m.owner_id, m.origin -> 'items' as parts, ${REF}`;

/**
 * The pictures of these collections: the chosen ones, else the one that was made of the first items. A picture of an item that
 * the caller may not see is left out, and so is one that shows such an item.
 */
export async function chosenPictures(
  db: Db,
  who: Principal,
  rows: readonly Pick<CollectionRow, 'id'>[],
): Promise<Map<string, Chosen>> {
  const found = await db.raw<{ rows: ImageOf[] }>(
    `select 'poster' as place, ${COLUMNS} from collections c join images m on m.id = c.poster_image_id where c.id = any(:ids::uuid[])
     union all
     select 'backdrop', ${COLUMNS} from collections c join images m on m.id = c.backdrop_image_id where c.id = any(:ids::uuid[])
     union all
     select 'mosaic', ${COLUMNS} from collections c join images m on m.owner_kind = 'collection' and m.owner_id = c.id
       where c.id = any(:ids::uuid[]) and c.poster_image_id is null and m.source = 'mosaic' and not m.discarded`,
    { ids: rows.map(({ id }) => id) },
  );
  const shown = (image: ImageOf): string[] => [
    ...(image.owner_kind === 'item' ? [image.owner_id] : []),
    ...(image.parts ?? []),
  ];
  const seen = new Set(await visibleItemIds(db, who, [...new Set(found.rows.flatMap(shown))]));
  const chosen = new Map<string, Chosen>();
  for (const image of found.rows) {
    const ref = ImageRef.safeParse(image.ref).data;
    if (!ref || !shown(image).every((id) => seen.has(id))) continue;
    const place = image.place === 'backdrop' ? 'backdrop' : 'poster';
    chosen.set(image.collection_id, { ...chosen.get(image.collection_id), [place]: ref });
  }
  return chosen;
}
