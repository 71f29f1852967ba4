import type { Knex } from 'knex';
import { notFound } from '#kernel/errors.ts';
import type { Principal } from '#kernel/principal.ts';
import { onlyVisibleLibraries } from '#kernel/visibility.ts';
import type { Db } from '#platform/db.ts';
import { topTypesOf } from './kinds.ts';

/** One range of the list indexes: what lists walk. */
export interface Shelf {
  libraryId: string;
  type: string;
}

export interface LibraryRow {
  id: string;
  name: string;
  type: string;
  settings: Record<string, unknown>;
  item_counts: Record<string, number>;
  change_seq: number;
  revision: number;
}

const COLUMNS = ['id', 'name', 'type', 'settings', 'item_counts', 'change_seq', 'revision'].map((c) => `l.${c}`);

function visibleLibraries(db: Db, who: Principal): Knex.QueryBuilder {
  return db.from('libraries as l').modify(onlyVisibleLibraries, who, 'l.id').select(COLUMNS);
}

/** 404 for an unknown or hidden library. */
export async function getVisibleLibrary(db: Db, who: Principal, id: string): Promise<LibraryRow> {
  const row: LibraryRow | undefined = await visibleLibraries(db, who).where('l.id', id).first();
  if (!row) throw notFound();
  return row;
}

/** Every library that the caller sees, or those of `ids`; others are left out. */
export async function listVisibleLibraries(db: Db, who: Principal, ids?: readonly string[]): Promise<LibraryRow[]> {
  const query = visibleLibraries(db, who).orderBy('l.position').orderBy('l.id');
  if (ids) query.whereRaw('l.id = any(?::uuid[])', [[...ids]]);
  return query;
}

/** What is listed of these libraries: the wanted types, or each one's top types. */
export function shelvesOf(libraries: readonly LibraryRow[], types: readonly string[] | undefined): Shelf[] {
  return libraries.flatMap(({ id, type }) =>
    (types ?? topTypesOf(type)).map((one): Shelf => ({ libraryId: id, type: one })),
  );
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

/** For a walk over several shelves: each is walked by its own index range, and the few rows of each are merged. */
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
      .joinRaw(db.raw('cross join lateral ? as x', [inner]) as unknown as string);
  };
}
