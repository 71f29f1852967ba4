import * as m from '#messages/setup.ts';

const NAMES: Readonly<Record<string, () => string>> = {
  movies: m.movies,
  shows: m.shows,
  videos: m.videos,
  music: m.music,
  photos: m.photos,
  books: m.books,
  comics: m.comics,
  games: m.games,
  courses: m.courses,
  livetv: m.livetv,
};

/** What a library type is called. */
export const typeName = (type: string): string => NAMES[type]?.() ?? type;
