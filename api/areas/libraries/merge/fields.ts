import type { FieldName, ItemValues } from '#platform/item-values.ts';
import type { Row } from '#platform/typed-query.ts';

type Column = keyof Row<'items'>;

/** Where the value of a field is stored; lists of `named` members are stored as objects with a name. */
export type Place =
  | { in: 'column'; column: Column }
  | { in: 'details'; member: string; named?: true }
  | { in: 'tags'; kind: 'genre' | 'tag' | 'studio' | 'country' }
  | { in: 'credits' }
  | { in: 'ids' };

interface Field {
  place: Place;
  /** The only item types that have it; absent is all. Types of the owner have all. */
  types?: readonly string[];
}

const column = (name: Column, types?: readonly string[]): Field => ({
  place: { in: 'column', column: name },
  ...(types && { types }),
});
const detail = (member: string, types?: readonly string[]): Field => ({
  place: { in: 'details', member },
  ...(types && { types }),
});
const named = (member: string, types: readonly string[]): Field => ({
  place: { in: 'details', member, named: true },
  types,
});

const BOOKS = ['book', 'audiobook'];
const READ = [...BOOKS, 'comic', 'comic-series'];
const NUMBERED = ['season', 'episode', 'track', 'comic', 'section', 'lesson'];
const SHOT = ['photo', 'video'];

/** The fields that sources and persons describe, in the order of an edit form. */
export const FIELDS: Readonly<Record<FieldName, Field>> = {
  title: column('title'),
  sortTitle: column('sort_title'),
  originalTitle: column('original_title'),
  overview: column('overview'),
  tagline: column('tagline'),
  year: column('year'),
  releasedOn: column('released_on'),
  ageRating: column('age_rating'),
  rating: column('rating'),
  index: column('index_number', NUMBERED),
  indexEnd: column('index_end', ['episode']),
  parentIndex: column('parent_index', ['episode', 'track', 'comic', 'lesson']),
  airsBefore: column('airs_before', ['episode']),
  status: detail('status', ['show']),
  genres: { place: { in: 'tags', kind: 'genre' } },
  tags: { place: { in: 'tags', kind: 'tag' } },
  studios: { place: { in: 'tags', kind: 'studio' } },
  countries: { place: { in: 'tags', kind: 'country' } },
  originalLanguage: detail('originalLanguage'),
  people: { place: { in: 'credits' } },
  artists: named('artists', ['album', 'track', 'video']),
  authors: named('authors', READ),
  narrators: named('narrators', BOOKS),
  publisher: detail('publisher', [...READ, 'game']),
  isbn: detail('isbn', BOOKS),
  series: detail('series', READ),
  platform: detail('platform', ['game']),
  takenAt: column('taken_at', SHOT),
  takenAtOffset: detail('takenOffsetMinutes', SHOT),
  place: detail('place', SHOT),
  readingDirection: detail('readingDirection', READ),
  links: detail('links'),
  externalIds: { place: { in: 'ids' } },
};

export const fieldNames = Object.keys(FIELDS) as FieldName[];

/** Whether items of a type have the field. */
export function hasField(type: string, name: FieldName): boolean {
  const { types } = FIELDS[name];
  return !types || type.startsWith('custom:') || types.includes(type);
}

/** The columns of fields, each with the field that it belongs to. */
export const fieldColumns: readonly (readonly [Column, FieldName])[] = fieldNames.flatMap((name) => {
  const { place } = FIELDS[name];
  return place.in === 'column' ? [[place.column, name] as const] : [];
});

/** Values in the shape that the database has them, so that equal ones compare equal. */
export function stored(name: FieldName, value: ItemValues[FieldName]): unknown {
  const { place } = FIELDS[name];
  if (value === undefined || value === null) return undefined;
  if (place.in === 'details' && place.named) return (value as string[]).map((one) => ({ name: one }));
  return value;
}

const editable = new Set(
  fieldNames.flatMap((name) => {
    const { place } = FIELDS[name];
    return place.in === 'details' ? [place.member] : [];
  }),
);

/** Whether a member of `items.details` belongs to a field. */
export const isEditable = (member: string): boolean => editable.has(member);
