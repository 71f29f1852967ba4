import { may } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { type BuiltIn, builtInLevels, builtInOf, builtIns } from './built-in.ts';
import { behind } from './levels.ts';
import type { LibraryType, TypeLevel } from './library-types.schemas.ts';
import { findTypeRow, listTypeRows, type TypeRow } from './library-types.store.ts';

/** Creation time of the built-in types. */
const MADE = '2026-11-01T00:00:00.000Z';

export interface Use {
  libraries: number;
  items: number;
}

const UNUSED: Use = { libraries: 0, items: 0 };

/** Libraries and items of each type, the trash of libraries included. */
export async function usesOf(db: Db): Promise<Map<string, Use>> {
  const { rows } = await db.raw<{ rows: ({ type: string } & Use)[] }>(
    `select l.type, count(*)::int as libraries,
       coalesce(sum((select coalesce(sum(n.value::bigint), 0) from jsonb_each_text(l.item_counts) n)), 0)::bigint as items
     from libraries l where l.deleted_at is null group by l.type`,
  );
  return new Map(rows.map(({ type, libraries, items }) => [type, { libraries, items: Number(items) }]));
}

/** Names of the libraries of a type, those in deletion too. */
export async function librariesOf(db: Db, key: string): Promise<{ id: string; name: string }[]> {
  return db('libraries').where({ type: key }).orderBy('name').select('id', 'name');
}

/** Types of libraries that the caller sees. */
async function seenTypes({ db, who }: Pick<Call, 'db' | 'who'>): Promise<Set<string>> {
  const rows: { type: string }[] = await db('libraries')
    .modify(onlyVisibleLibraries, who)
    .whereNull('libraries.deleted_at')
    .distinct('libraries.type');
  return new Set(rows.map(({ type }) => type));
}

interface Showing {
  /** Undefined without `library:manage`, which gives counts and rules. */
  uses: ReadonlyMap<string, Use> | undefined;
  /** Types of which the caller may know their levels. */
  seen: ReadonlySet<string>;
}

async function showingOf(call: Pick<Call, 'db' | 'who'>): Promise<Showing> {
  const manages = may(call.who, 'library:manage');
  return { uses: manages ? await usesOf(call.db) : undefined, seen: manages ? new Set() : await seenTypes(call) };
}

const withBases = (levels: readonly TypeLevel[], types: readonly string[]): LibraryType['levels'] =>
  levels.map((level, i) => ({ ...level, baseType: types[i] ?? level.itemType }));

function ownType(row: TypeRow): LibraryType {
  const { levels, ...rules } = row.rules;
  return {
    key: row.key,
    source: 'own',
    name: row.name,
    plural: row.plural,
    ...(row.description && { description: row.description }),
    ...(row.icon_id && { iconId: row.icon_id }),
    base: row.base,
    levels: withBases(levels, row.item_levels.map(behind)),
    ...rules,
    ...(row.managed_by ? { managedBy: row.managed_by } : {}),
    revision: Number(row.revision),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

function builtInType(one: BuiltIn): LibraryType {
  const at = { revision: 1, createdAt: MADE, updatedAt: MADE };
  return { ...one, source: 'built-in', levels: withBases(one.levels, builtInLevels(one).map(behind)), ...at };
}

/** What the caller may know: without `library:manage` no rules, and of types without a visible library no levels. */
function shownTo({ uses, seen }: Showing, type: LibraryType): LibraryType {
  if (uses) {
    const { libraries, items } = uses.get(type.key) ?? UNUSED;
    return { ...type, libraryCount: libraries, itemCount: items };
  }
  const { key, source, name, plural, iconId, base, views, revision, createdAt, updatedAt } = type;
  const levels = source === 'built-in' || seen.has(key) ? type.levels : [];
  const open = { key, source, name, plural, base, levels, views, revision, createdAt, updatedAt };
  return iconId === undefined ? open : { ...open, iconId };
}

/** Built-in types first, then own ones by name. */
export async function readTypes(
  call: Pick<Call, 'db' | 'who'>,
  source?: LibraryType['source'],
): Promise<LibraryType[]> {
  const showing = await showingOf(call);
  const own = source === 'built-in' ? [] : (await listTypeRows(call.db)).map(ownType);
  const fixed = source === 'own' ? [] : builtIns.map(builtInType);
  return [...fixed, ...own].map((type) => shownTo(showing, type));
}

/** Throws NOT_FOUND. */
export async function readType(call: Pick<Call, 'db' | 'who'>, key: string): Promise<LibraryType> {
  const fixed = builtInOf(key);
  const row = fixed ? undefined : await findTypeRow(call.db, key);
  if (!fixed && !row) throw notFound();
  return shownTo(await showingOf(call), fixed ? builtInType(fixed) : ownType(row as TypeRow));
}

/** A type as it would be once stored. */
export function toUnstored(row: TypeRow): LibraryType {
  return { ...ownType(row), libraryCount: 0, itemCount: 0 };
}
