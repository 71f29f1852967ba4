import { ageYears } from '#platform/age-ratings.ts';
import type { Db } from '#platform/db.ts';
import type { FieldName, ItemValues } from '#platform/item-values.ts';
import { sortTitle } from '#platform/sort-title.ts';
import type { LibrarySettings } from '../libraries.schemas.ts';
import { FIELDS, hasField, stored } from './fields.ts';
import { type Merged, merge } from './merge.ts';
import { MAX_TITLE } from './settle.ts';
import { type ItemLayers, sourceName, writeLists } from './write.store.ts';

interface Described {
  /** By source. */
  layers: ReadonlyMap<string, ItemValues>;
  settings: Pick<LibrarySettings, 'preferLocal' | 'agents' | 'language' | 'country'>;
}

/** Columns of a new item, without its lists of tags and people. */
export function newFields(type: string, { layers, settings }: Described): Record<string, unknown> {
  const merged = mergedOf(type, { layers, settings });
  const row: Record<string, unknown> = {};
  const details: Record<string, unknown> = {};
  for (const [name, { value }] of merged) {
    const { place } = FIELDS[name];
    if (place.in === 'column') row[place.column] = value;
    if (place.in === 'details') details[place.member] = stored(name, value as ItemValues[FieldName]);
  }
  const title = String(row['title']);
  const rating = row['age_rating'];
  return {
    ...row,
    sort_title: row['sort_title'] ?? sortTitle(title, settings.language).slice(0, MAX_TITLE),
    ...(typeof rating === 'string' && { age_years: ageYears(rating, settings.country) }),
    details,
    origins: Object.fromEntries([...merged].map(([name, { source }]) => [name, source])),
  };
}

function mergedOf(type: string, { layers, settings }: Described): [FieldName, Merged][] {
  return [...merge({ layers, edits: new Map() }, settings)].filter(([name]) => hasField(type, name));
}

/** Writes the tags and people of new items. */
export async function writeNewLists(
  db: Db,
  items: readonly ItemLayers[],
  { id: libraryId, settings }: { id: string; settings: Described['settings'] },
): Promise<void> {
  const writes = items.map(({ itemId, layers }) => {
    const known = {
      layers: new Map(layers.map(({ source, values }) => [sourceName(source), values])),
      edits: new Map(),
    };
    const values = new Map([...merge(known, settings)].map(([name, { value }]) => [name, value]));
    return { item: { id: itemId, libraryId }, values };
  });
  await writeLists(db, writes, { areNew: true });
}
