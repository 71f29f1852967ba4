// The fields of items as an edit form has them: how each is entered, and its value in one shape, so that equal values
// compare equal.

export type Entry =
  | 'text'
  | 'prose'
  | 'number'
  | 'date'
  | 'moment'
  | 'choice'
  | 'list'
  | 'people'
  | 'ids'
  | 'links'
  | 'parts';

const ENTRIES: Readonly<Record<string, Entry>> = {
  title: 'text',
  sortTitle: 'text',
  originalTitle: 'text',
  overview: 'prose',
  tagline: 'text',
  year: 'number',
  releasedOn: 'date',
  ageRating: 'text',
  rating: 'number',
  index: 'number',
  indexEnd: 'number',
  parentIndex: 'number',
  airsBefore: 'parts',
  status: 'choice',
  genres: 'list',
  tags: 'list',
  studios: 'list',
  countries: 'list',
  originalLanguage: 'text',
  people: 'people',
  artists: 'list',
  authors: 'list',
  narrators: 'list',
  publisher: 'text',
  isbn: 'text',
  series: 'parts',
  platform: 'text',
  takenAt: 'moment',
  takenAtOffset: 'number',
  place: 'parts',
  readingDirection: 'choice',
  links: 'links',
  externalIds: 'ids',
};

/** How a field is entered; undefined for a field that this form does not know. */
export const entryOf = (field: string): Entry | undefined => ENTRIES[field];

/** The members of a field of several parts. */
export const PARTS: Readonly<Record<string, readonly { name: string; numeric: boolean; optional?: true }[]>> = {
  airsBefore: [
    { name: 'season', numeric: true },
    { name: 'episode', numeric: true, optional: true },
  ],
  series: [
    { name: 'title', numeric: false },
    { name: 'number', numeric: false, optional: true },
  ],
  place: [
    { name: 'latitude', numeric: true },
    { name: 'longitude', numeric: true },
  ],
};

/** Values of fields of a fixed choice. */
export const CHOICES: Readonly<Record<string, readonly string[]>> = {
  status: ['continuing', 'ended', 'upcoming'],
  readingDirection: ['ltr', 'rtl', 'vertical'],
};

/** The facet whose values are proposed for a field. */
export const FACETS: Readonly<Record<string, string>> = {
  genres: 'genre',
  tags: 'tag',
  studios: 'studio',
  countries: 'country',
  artists: 'artist',
  authors: 'author',
  people: 'person',
  platform: 'platform',
  ageRating: 'age_rating',
};

export interface Person {
  /** Of a person that the server knows; absent for a name that was typed. */
  personId?: string;
  name: string;
  role: string;
  character?: string;
  job?: string;
}

export interface Link {
  name: string;
  url: string;
}

type Members = Readonly<Record<string, unknown>>;

/** The members of the list alone, in its order. */
const only = (value: Members, names: readonly string[]): Members =>
  Object.fromEntries(
    names.flatMap((name) => (value[name] === undefined || value[name] === null ? [] : [[name, value[name]]])),
  );

const PERSON = ['personId', 'name', 'role', 'character', 'job'];

const SHAPES: Partial<Readonly<Record<Entry, (value: unknown, field: string) => unknown>>> = {
  people: (value) => (value as Members[]).map((one) => only(one, PERSON)),
  links: (value) => (value as Members[]).map((one) => only(one, ['name', 'url'])),
  parts: (value, field) =>
    only(
      value as Members,
      (PARTS[field] ?? []).map(({ name }) => name),
    ),
  ids: (value) => Object.fromEntries(Object.entries(value as Members).sort(([one], [other]) => (one < other ? -1 : 1))),
};

/** The value of a field in the shape that the form keeps; null for an empty one. */
export function shaped(field: string, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const entry = entryOf(field);
  const shape = entry && SHAPES[entry];
  return shape ? shape(value, field) : value;
}
