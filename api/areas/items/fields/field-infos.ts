import type { z } from 'zod';
import type { Principal } from '#identity/principal.ts';
import { operatorsOf } from '#kernel/filter.ts';
import { sharesPlace } from '../item/items.store.ts';
import { defaultSort } from '../listing/browse.ts';
import type { LibraryRow } from '../listing/shelves.store.ts';
import { librarySorts } from '../listing/sorts.ts';
import type { FieldInfo, SortInfo } from '../listing.schemas.ts';
import { fieldsFor } from './fields.ts';

/** Fields that the filter builder offers for these types. */
export function fieldInfos(
  who: Principal,
  library: LibraryRow,
  types: readonly string[],
): z.output<typeof FieldInfo>[] {
  const places = sharesPlace(who, library.settings);
  const usable = Object.entries(fieldsFor(who, types)).filter(([name]) => places || !ofPlace.includes(name));
  return usable.map(([name, field]) => ({
    name,
    label: field.label,
    kind: field.kind,
    types: types.filter((type) => !field.types || field.types.includes(type)),
    operators: [...operatorsOf(field)],
    ...(name === 'type' ? { values: [...types] } : field.values ? { values: [...field.values] } : {}),
    sortable: field.sort !== undefined,
    indexed: field.indexed ?? false,
    facet: field.facet ?? false,
    mine: field.mine ?? false,
    custom: false,
  }));
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
