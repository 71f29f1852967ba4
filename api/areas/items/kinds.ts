/** How item types hang together. */

/** What a library shows when it is listed without a type. */
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

/** Every type that a library of this type may hold. */
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

/** Types a library of `libraryType` is listed by; owner-made ones hold one type of their own name. */
export function topTypesOf(libraryType: string): readonly string[] {
  return topTypes[libraryType] ?? [libraryType];
}

export function heldTypesOf(libraryType: string): readonly string[] {
  return heldTypes[libraryType] ?? [libraryType];
}

/** Types that hold others; all the rest are played, read or looked at themselves. */
export const containerTypes = [
  'show',
  'season',
  'artist',
  'album',
  'photo-album',
  'author',
  'comic-series',
  'course',
  'section',
] as const;

export function isContainer(type: string): boolean {
  return (containerTypes as readonly string[]).includes(type);
}

/** `array['show', …]` for SQL text of ours. */
export const containersSql = `array[${containerTypes.map((type) => `'${type}'`).join()}]`;

/** By the height of the best file; scope films are lower than their name (3840 by 1600 is 4k). */
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

/** SQL over `storages st`: what lies on it can be read. One that is not proved to be the same counts as away (area Storage). */
export const THERE = `st.enabled and st.state in ('available', 'degraded')`;
