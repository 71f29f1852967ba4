import { baseOf, heldBases, type OwnType } from '#platform/own-types.ts';

/** Relations between item types. */

/** Types that a library lists when no type is requested. */
const topTypes: Record<string, readonly string[]> = {
  movies: ['movie'],
  shows: ['show'],
  videos: ['video'],
  music: ['album'],
  photos: ['photo', 'video'],
  books: ['book', 'audiobook'],
  comics: ['comic-series'],
  games: ['game'],
  courses: ['course'],
  livetv: ['channel'],
  files: ['file'],
};

/** All types that a library of this type may hold. */
const heldTypes: Record<string, readonly string[]> = {
  movies: ['movie'],
  shows: ['show', 'season', 'episode'],
  videos: ['video'],
  music: ['artist', 'album', 'track'],
  photos: ['photo', 'video', 'photo-album'],
  books: ['author', 'book', 'audiobook'],
  comics: ['comic-series', 'comic'],
  games: ['game'],
  courses: ['course', 'section', 'lesson'],
  livetv: ['channel', 'program', 'recording'],
  files: ['file'],
};

interface TypedLibrary {
  type: string;
  own_type: OwnType | null;
}

/** Types that a library lists; of an owner-made type the first level that it has. */
export function topTypesOf(library: TypedLibrary): readonly string[] {
  const { own_type: own } = library;
  const tops = topTypes[baseOf(library)] ?? [library.type];
  if (!own) return tops;
  const held = heldBases(own);
  const kept = tops.filter((type) => held.includes(type));
  return kept.length > 0 ? kept : held.slice(0, 1);
}

/** Types of the stored items of a library. */
export function heldTypesOf(library: TypedLibrary): readonly string[] {
  return library.own_type ? heldBases(library.own_type) : (heldTypes[library.type] ?? [library.type]);
}

/** By the height of the best file. Wide films are lower than their name (3840 by 1600 is 4k). */
export function resolutionOf(height: number | null): 'sd' | 'hd' | 'fhd' | '4k' | '8k' | undefined {
  if (height === null) return undefined;
  if (height >= 3000) return '8k';
  if (height >= 1500) return '4k';
  if (height >= 790) return 'fhd';
  return height > 576 ? 'hd' : 'sd';
}

/** The same in SQL, of column `i.height`. */
export const resolutionSql = `(case when i.height >= 3000 then '8k' when i.height >= 1500 then '4k'
  when i.height >= 790 then 'fhd' when i.height > 576 then 'hd' when i.height is not null then 'sd' end)`;

/** SQL over `storages st`: the storage can be read. A storage with an unproven identity counts as unavailable. */
export const THERE = `st.enabled and st.state in ('available', 'degraded')`;
