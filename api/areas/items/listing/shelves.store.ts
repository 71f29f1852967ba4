import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import { notFound } from '#kernel/errors.ts';
import { type Db, remembered } from '#platform/db.ts';
import { storedTypes } from '#platform/own-types.ts';
import type { Row } from '#platform/typed-query.ts';
import { type ListVersion, versionSql } from '../files/versions.store.ts';
import { topTypesOf } from '../kinds.ts';

/** A range of the list indexes. */
export interface Shelf {
  libraryId: string;
  type: string;
}

/** `labels_seq` increases with changes of labels in this library. */
export type LibraryRow = Pick<Row<'libraries'>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  ...(['id', 'name', 'type', 'own_type', 'settings', 'item_counts', 'change_seq', 'labels_seq'] as const),
  'revision',
] as const;
const ON_L = COLUMNS.map((name) => `l.${name}`);

function visibleLibraries(db: Db, who: Principal): Knex.QueryBuilder {
  return db.from('libraries as l').modify(onlyVisibleLibraries, who, 'l.id').select(ON_L);
}

/** Throws 404 for an unknown or hidden library. */
export async function getVisibleLibrary(db: Db, who: Principal, id: string): Promise<LibraryRow> {
  const row: LibraryRow | undefined = await visibleLibraries(db, who).where('l.id', id).first();
  if (!row) throw notFound();
  return row;
}

/** A scan of the library is running. */
export async function isBeingScanned(db: Db, id: string): Promise<boolean> {
  return (await db('scans').where({ library_id: id, state: 'running' }).first('id')) !== undefined;
}

const AS_JSON = COLUMNS.map((name) => `'${name}', l.${name}`).join(', ');

export interface LibraryAtVersion {
  library: LibraryRow;
  version: ListVersion;
}

/** LibraryAtVersion as JSON; no row for an unknown or hidden library. */
export function libraryAtVersion(db: Db, who: Principal, id: string): Knex.QueryBuilder {
  const version = versionSql(`l.id || ':' || l.change_seq || ':' || l.revision`, ['?', '?']);
  const found = `json_build_object('library', json_build_object(${AS_JSON}), 'version', ${version}) as found`;
  return db
    .from('libraries as l')
    .modify(onlyVisibleLibraries, who, 'l.id')
    .where('l.id', id)
    .select(db.raw(found, [who.accountId || null, who.profileId || null]));
}

/** The library and the version of its lists, in one read. Throws 404 for an unknown or hidden library. */
export async function getLibraryAtVersion(db: Db, who: Principal, id: string): Promise<LibraryAtVersion> {
  const [row] = await remembered<{ found: LibraryAtVersion }>(db, {
    key: JSON.stringify(['library-at-version', who.sees, who.accountId, who.profileId, id]),
    build: () => libraryAtVersion(db, who, id),
  });
  if (!row) throw notFound();
  return row.found;
}

/** Every library that the caller may see, or those of `ids`. Hidden ones are left out. */
export async function listVisibleLibraries(db: Db, who: Principal, ids?: readonly string[]): Promise<LibraryRow[]> {
  const query = visibleLibraries(db, who).orderBy('l.position').orderBy('l.id');
  if (ids) query.whereRaw('l.id = any(?::uuid[])', [[...ids]]);
  return query;
}

/** The shelves of these libraries: the stored types, or the top types of each. */
export function shelvesOf(libraries: readonly LibraryRow[], types: readonly string[] | undefined): Shelf[] {
  return libraries.flatMap((library) =>
    (types ?? topTypesOf(library)).map((one): Shelf => ({ libraryId: library.id, type: one })),
  );
}

/** `shelvesOf` for types as they are shown, which are stored under others in libraries of owner-made types. */
export function shownShelvesOf(libraries: readonly LibraryRow[], types: readonly string[] | undefined): Shelf[] {
  return libraries.flatMap((library) => {
    const stored = types?.flatMap((type) => storedTypes(library, type));
    return shelvesOf([library], stored && [...new Set(stored)]);
  });
}

const columns = (shelves: readonly Shelf[]): [string[], string[]] => [
  shelves.map((shelf) => shelf.libraryId),
  shelves.map((shelf) => shelf.type),
];

/** Narrows a query over `items as i` to the shelves. */
export function onShelves(query: Knex.QueryBuilder, shelves: readonly Shelf[]): void {
  const [only] = shelves;
  if (only && shelves.length === 1) query.where('i.library_id', only.libraryId).where('i.type', only.type);
  else query.whereRaw('(i.library_id, i.type) in (select * from unnest(?::uuid[], ?::text[]))', columns(shelves));
}

/** Walks each of several shelves by its own index range and merges their rows. */
export function overShelves(
  db: Db,
  shelves: readonly Shelf[],
): ((inner: Knex.QueryBuilder) => Knex.QueryBuilder) | undefined {
  if (shelves.length < 2) return undefined;
  return (inner) => {
    inner.whereRaw('i.library_id = shelf.library_id and i.type = shelf.type');
    return db
      .queryBuilder()
      .select('x.*')
      .from(db.raw('unnest(?::uuid[], ?::text[]) as shelf(library_id, type)', columns(shelves)))
      .joinRaw('cross join lateral ? as x', [inner] as unknown as string[]);
  };
}
