import { setScannedValues } from '#areas/custom-fields/public.ts';
import type { Draft } from '../group/draft.ts';
import type { Writing } from './context.ts';
import { nameOf, type Resolved, shownAs } from './item-rows.ts';

/** Values that naming patterns give to custom fields of new items. Later scans never touch them. */
export async function writeCustomValues(
  { db, library }: Writing,
  drafts: readonly Draft[],
  { ids, added }: Resolved,
): Promise<void> {
  const items = drafts.flatMap((draft) => {
    const id = ids.get(nameOf(draft));
    if (!draft.custom || id === undefined || !added.has(id)) return [];
    return [{ id, type: shownAs(draft, library) ?? draft.type, libraryId: library.id, custom: draft.custom }];
  });
  await setScannedValues(db, items);
}
