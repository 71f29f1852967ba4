import type { z } from 'zod';
import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { operatorsOf } from '#kernel/filter.ts';
import { shownType } from '#platform/own-types.ts';
import { sharesPlace } from '../item/items.store.ts';
import { defaultSort } from '../listing/browse.ts';
import type { LibraryRow } from '../listing/shelves.store.ts';
import { librarySorts } from '../listing/sorts.ts';
import type { FieldInfo, SortInfo } from '../listing.schemas.ts';
import { customFilters, hasField, isSortable, knowCustomFields } from './custom-fields.ts';
import { listDefinitions } from './custom-fields.view.ts';
import { fieldsFor } from './fields.ts';

/** Fields that the filter builder offers for these types. */
export function fieldInfos(
  who: Principal,
  library: LibraryRow,
  types: readonly string[],
): z.output<typeof FieldInfo>[] {
  const places = sharesPlace(who, library.settings);
  const usable = Object.entries(fieldsFor(who, types)).filter(
    ([name]) => !name.startsWith('custom.') && (places || !ofPlace.includes(name)),
  );
  const shown = (type: string): string => shownType(library, type);
  return usable.map(([name, field]) => ({
    name,
    label: field.label,
    kind: field.kind,
    types: types.filter((type) => !field.types || field.types.includes(type)).map(shown),
    operators: [...operatorsOf(field)],
    ...(name === 'type' ? { values: types.map(shown) } : field.values ? { values: [...field.values] } : {}),
    sortable: field.sort !== undefined,
    indexed: field.indexed ?? false,
    facet: field.facet ?? false,
    mine: field.mine ?? false,
    custom: false,
  }));
}

/** The custom fields that items of these types have in the library, for those who may see them. */
export async function customInfos(
  { db, who }: Pick<Call, 'db' | 'who'>,
  library: LibraryRow,
  types: readonly string[],
): Promise<z.output<typeof FieldInfo>[]> {
  const shown = [...new Set(types.map((type) => shownType(library, type)))];
  await knowCustomFields({ db, who }, { texts: ['custom.'] });
  const filters = customFilters(who);
  const all = await listDefinitions(db);
  return all.flatMap((field) => {
    const filter = filters[`custom.${field.key}`];
    const here = shown.filter((type) => hasField(field, type, library.id));
    if (!filter || here.length === 0) return [];
    return [
      {
        ...{ name: `custom.${field.key}`, label: field.label, kind: filter.kind, types: here },
        operators: [...operatorsOf(filter)],
        ...(filter.values ? { values: [...filter.values] } : {}),
        ...{ sortable: isSortable(field), indexed: false, facet: filter.facet ?? false, mine: false, custom: true },
      },
    ];
  });
}

/** Sorts by custom fields of the library. */
export async function customSortInfos(
  { db, who }: Pick<Call, 'db' | 'who'>,
  library: LibraryRow,
  types: readonly string[],
): Promise<z.output<typeof SortInfo>[]> {
  const infos = await customInfos({ db, who }, library, types);
  return infos
    .filter(({ sortable }) => sortable)
    .map(({ name, label }) => ({ name, label, default: false, direction: 'asc' as const }));
}

/** Match nothing when the library shares locations with editors only. */
const ofPlace = ['place_country', 'place_city', 'has_location'];

const labels: Record<string, string> = {
  title: 'Title',
  addedAt: 'Added',
  releasedOn: 'Released',
  year: 'Year',
  rating: 'Rating',
  runtimeMs: 'Length',
  index: 'Number',
  takenAt: 'Taken',
  sizeBytes: 'Size',
  lastPlayedAt: 'Last played',
  playCount: 'Plays',
  bitrate: 'Bitrate',
  random: 'Random',
  progress: 'Progress',
  tempoBpm: 'Tempo',
  energy: 'Energy',
  loudnessLufs: 'Loudness',
  key: 'Key',
  durationMs: 'Length',
  remainingMs: 'Left',
  lastStudiedAt: 'Last studied',
};
const falls = ['addedAt', 'rating', 'takenAt', 'lastPlayedAt', 'playCount', 'sizeBytes', 'bitrate', 'lastStudiedAt'];
const only: Record<string, string> = {
  takenAt: 'photo',
  tempoBpm: 'track',
  energy: 'track',
  loudnessLufs: 'track',
  key: 'track',
  durationMs: 'track',
  progress: 'course',
  remainingMs: 'course',
  lastStudiedAt: 'course',
};

export function sortInfos(library: LibraryRow, types: readonly string[]): z.output<typeof SortInfo>[] {
  const usual = defaultSort(library, types).replace(/^-/, '');
  return librarySorts
    .filter((name) => only[name] === undefined || types.includes(only[name]))
    .map((name) => ({
      name,
      label: labels[name] ?? name,
      default: name === usual,
      direction: falls.includes(name) ? 'desc' : 'asc',
    }));
}
