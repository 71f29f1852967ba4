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
};

/** Types that a library of `libraryType` lists. Types of the owner hold one type of their own name. */
export function topTypesOf(libraryType: string): readonly string[] {
  return topTypes[libraryType] ?? [libraryType];
}

export function heldTypesOf(libraryType: string): readonly string[] {
  return heldTypes[libraryType] ?? [libraryType];
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
