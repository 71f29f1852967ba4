import { conflict, notFound } from '#kernel/errors.ts';
import type { ManagedBy } from '#platform/config.ts';
import { breaks, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import { builtInOf, builtIns, type Schemes } from './document/built-in.ts';
import type { TokenSet } from './document/kinds.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'themes.schemes': Schemes;
    'themes.shared': TokenSet;
  }
}

export const MOST_THEMES = 200;

export type ThemeRow = Pick<Row<'themes'>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  ...(['id', 'name', 'description', 'author', 'base', 'schemes', 'shared'] as const),
  ...(['managed_by', 'revision', 'created_at', 'updated_at'] as const),
];

/** All own themes by name. */
export async function listThemeRows(db: Db): Promise<ThemeRow[]> {
  return db('themes').orderBy('name_folded').orderBy('id').select(COLUMNS);
}

/** The theme and its bases, without built-in themes. */
export async function chainRows(db: Db, id: string): Promise<Map<string, ThemeRow>> {
  if (builtInOf(id)) return new Map();
  const { rows } = await db.raw<{ rows: ThemeRow[] }>(
    `with recursive down as (
       select t.*, 0 as level from themes t where t.id = ?
       union all
       select t.*, d.level + 1 from themes t join down d on t.id::text = d.base and d.level < 10)
     select * from down`,
    [id],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Serializes writes of themes, because a change is validated against all of them. */
export async function lockThemes(db: Db): Promise<Map<string, ThemeRow>> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.themes'))`);
  return new Map((await listThemeRows(db)).map((row) => [row.id, row]));
}

/** The theme with this id. Throws NOT_FOUND, 409 `built-in`. */
export function changeable(rows: ReadonlyMap<string, ThemeRow>, id: string): ThemeRow {
  if (builtInOf(id)) throw conflict('built-in', 'A built-in theme cannot be changed: make one that is based on it');
  const row = rows.get(id);
  if (!row) throw notFound();
  return row;
}

export interface ThemeContent {
  name: string;
  description: string | null;
  author: string | null;
  base: string;
  schemes: Schemes;
  shared: TokenSet;
}

const columnsOf = (db: Db, { name, schemes, shared, ...same }: ThemeContent) => ({
  ...same,
  name,
  name_folded: db.raw('foyer_fold(?)', [name]),
  schemes: JSON.stringify(schemes),
  shared: JSON.stringify(shared),
});

/** Throws 409 `duplicate-name`. */
export async function insertTheme(db: Db, content: ThemeContent, managedBy: ManagedBy | null): Promise<string> {
  await refuseBuiltInName(db, content.name);
  const id = newId();
  const managed = managedBy && JSON.stringify(managedBy);
  await writing(() => db('themes').insert({ id, ...columnsOf(db, content), managed_by: managed }));
  return id;
}

/** Throws 409 `duplicate-name`. */
export async function writeTheme(db: Db, id: string, content: ThemeContent): Promise<void> {
  await refuseBuiltInName(db, content.name);
  const changed = { ...columnsOf(db, content), revision: db.raw('revision + 1'), updated_at: new Date() };
  await writing(() => db('themes').where({ id }).update(changed));
}

async function refuseBuiltInName(db: Db, name: string): Promise<void> {
  const names = builtIns.map((one) => one.name);
  const found = await db.raw<{ rows: { taken: boolean }[] }>(
    'select exists (select from unnest(?::text[]) n where foyer_fold(n) = foyer_fold(?)) as taken',
    [names, name],
  );
  if (found.rows[0]?.taken) throw taken();
}

const taken = () => conflict('duplicate-name', 'There is a theme of this name');

async function writing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (breaks(error, 'themes_name_folded_key')) throw taken();
    throw error;
  }
}

/** Profiles that selected it follow the server's default. */
export async function removeTheme(db: Db, id: string): Promise<void> {
  await db('themes').where({ id }).delete();
  for (const column of ['theme_id', 'light_theme_id', 'dark_theme_id'] as const)
    await db('theme_selections')
      .where(column, id)
      .update({ [column]: null });
}

/** Maps each theme to the number of profiles that selected it. */
export async function countUses(db: Db): Promise<Map<string, number>> {
  const { rows } = await db.raw<{ rows: { id: string; n: number }[] }>(
    `select chosen.id, count(distinct s.profile_id)::int as n
     from theme_selections s, unnest(array[s.theme_id, s.light_theme_id, s.dark_theme_id]) as chosen(id)
     where chosen.id is not null group by chosen.id`,
  );
  return new Map(rows.map(({ id, n }) => [id, n]));
}

export type Edge = Pick<ThemeRow, 'id' | 'base' | 'revision'>;

/** Base and revision of every theme. */
export async function listEdges(db: Db): Promise<Map<string, Edge>> {
  const rows = await db('themes').select('id', 'base', 'revision');
  return new Map(rows.map((row) => [row.id, row]));
}

/** Whether all of them exist; locks them until the transaction ends. */
export async function holdThemes(db: Db, ids: readonly string[]): Promise<boolean> {
  const own = [...new Set(ids)].filter((id) => !builtInOf(id));
  if (own.length === 0) return true;
  const found = await db('themes').whereIn('id', own).forShare().select('id');
  return found.length === own.length;
}
