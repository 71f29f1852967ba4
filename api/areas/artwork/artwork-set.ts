import type { VisibleItem } from '#areas/items/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { ArtworkSet, Image } from './artwork.schemas.ts';
import { shownOf } from './choosing.store.ts';
import { choicesOf, type ImageRow, imagesById, keptImages, toImage } from './images.store.ts';
import { type ArtworkKind, artworkKinds, kindsOf } from './kinds.ts';

/** Items above this one, the nearest first. */
export const ancestorsOf = ({ parentId, grandparentId }: VisibleItem): string[] =>
  [parentId, grandparentId].filter((id) => id !== null);

/** The images of an item by kind; without `item:edit` only the selected ones. */
export async function artworkSet(
  call: Call,
  item: VisibleItem,
  requested: readonly ArtworkKind[] = artworkKinds,
): Promise<ArtworkSet> {
  const { db } = call;
  const rows = await keptImages(db, { kind: 'item', id: item.id });
  const kinds = requested.filter((kind) => kindsOf(item.type).includes(kind) || rows.some((row) => row.kind === kind));
  const shown = await shownOf(db, item.id, kinds);
  const choices = await choicesOf(db, item.id);
  const known = new Map(rows.map((row) => [row.id, row]));
  const foreign = [...shown.values()].flat().filter((id) => !known.has(id));
  for (const row of await imagesById(db, foreign)) known.set(row.id, row);
  const sets: ArtworkSet['kinds'] = {};
  for (const kind of kinds) {
    const selected = shown.get(kind) ?? [];
    const locked = choices.get(kind)?.locked ?? false;
    const own = rows.filter((row) => row.kind === kind);
    const others = selected.flatMap((id) => known.get(id) ?? []).filter((row) => !own.includes(row));
    sets[kind] =
      selected.length === 0 && own.length === 0 && !locked
        ? await parentsSet(call, item, kind)
        : setOf(call, [...own, ...others], { selected, locked });
  }
  return { kinds: sets };
}

interface Chosen {
  selected: readonly string[];
  locked: boolean;
}

function setOf({ who }: Call, rows: readonly ImageRow[], { selected, locked }: Chosen) {
  const edits = may(who, 'item:edit');
  const images = rows.map((row): Image => {
    const position = selected.indexOf(row.id);
    return toImage(row, { selected: position >= 0, position, locked, edits });
  });
  const order = (image: Image): number => image.position ?? selected.length;
  return {
    selected: [...selected],
    locked,
    images: images
      .filter((image) => edits || image.selected)
      .sort((a, b) => order(a) - order(b))
      .slice(0, 50),
  };
}

/** The images of the nearest item above that has some, which are marked as that item's. */
async function parentsSet(call: Call, item: VisibleItem, kind: ArtworkKind) {
  for (const id of ancestorsOf(item)) {
    const selected = (await shownOf(call.db, id, [kind])).get(kind) ?? [];
    const rows = await imagesById(call.db, selected);
    if (rows.length > 0) return setOf(call, rows, { selected, locked: false });
  }
  return { selected: [], locked: false, images: [] };
}

/** One image of an item in its answer. */
export async function imageAnswer(call: Call, row: ImageRow): Promise<Image> {
  const shown = (await shownOf(call.db, row.owner_id, [row.kind])).get(row.kind) ?? [];
  const locked = (await choicesOf(call.db, row.owner_id)).get(row.kind)?.locked ?? false;
  const position = shown.indexOf(row.id);
  return toImage(row, { selected: position >= 0, position, locked, edits: may(call.who, 'item:edit') });
}
