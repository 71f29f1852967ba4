/** The built-in types of libraries that an own one may be read and played like. */
export const bases = [
  'movies',
  'shows',
  'videos',
  'music',
  'photos',
  'books',
  'comics',
  'games',
  'courses',
  'files',
] as const;
export type Base = (typeof bases)[number];
