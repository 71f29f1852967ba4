import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { type BuiltIn, builtInOf, builtIns } from './document/built-in.ts';
import { defaultIds, readServerChoice } from './selection.store.ts';
import { type Compiled, compiledOf } from './stylesheet/compiled.ts';
import { chainOf, type Source } from './stylesheet/resolve.ts';
import type { Theme, ThemeSummary } from './themes.schemas.ts';
import { chainRows, countUses, listThemeRows, type ThemeRow } from './themes.store.ts';

/** Creation time of the built-in themes. */
const MADE = '2026-11-01T00:00:00.000Z';

/** Data that every theme is shown with. */
interface Shared {
  defaults: readonly string[];
  /** Undefined unless the caller manages settings. */
  uses: ReadonlyMap<string, number> | undefined;
}

async function sharedOf({ db, who }: Pick<Call, 'db' | 'who'>): Promise<Shared> {
  const choice = await readServerChoice(db);
  return { defaults: defaultIds(choice), uses: may(who, 'settings:manage') ? await countUses(db) : undefined };
}

type Heads = Omit<ThemeSummary, 'schemeNames'>;

function heads(theme: ThemeRow | BuiltIn, { version, previewColors }: Compiled, { defaults, uses }: Shared): Heads {
  const { id, base } = theme;
  return {
    id,
    name: theme.name,
    ...(theme.description && { description: theme.description }),
    base,
    version,
    stylesheetUrl: `/api/v1/themes/${id}/stylesheet?v=${version}`,
    previewColors: [...previewColors],
    ...(uses && { usedBy: uses.get(id) ?? 0 }),
    serverDefault: defaults.includes(id),
    ...('revision' in theme ? ownHeads(theme) : { source: 'built-in', revision: 1, createdAt: MADE, updatedAt: MADE }),
  };
}

const ownHeads = ({ author, managed_by: managedBy, revision, ...at }: ThemeRow) => ({
  source: 'own' as const,
  ...(author && { author }),
  ...(managedBy && { managedBy }),
  revision,
  createdAt: iso(at.created_at),
  updatedAt: iso(at.updated_at),
});

/** The chain of a theme that exists. */
export function chainIn(id: string, rows: ReadonlyMap<string, ThemeRow>): Source[] {
  const chain = chainOf<Source>(id, rows);
  if (!chain) throw new Error(`theme ${id} rests on nothing`);
  return chain;
}

/** Built-in themes first, then by name. */
export async function readSummaries(call: Pick<Call, 'db' | 'who'>): Promise<ThemeSummary[]> {
  const [own, shared] = [await listThemeRows(call.db), await sharedOf(call)];
  const rows = new Map(own.map((row) => [row.id, row]));
  return [...builtIns, ...own].map((theme) => {
    const compiled = compiledOf(chainIn(theme.id, rows));
    return { ...heads(theme, compiled, shared), schemeNames: [...compiled.schemeNames] };
  });
}

interface Reading {
  /** Every token, not only its own. */
  resolved: boolean;
}

export function toTheme(theme: ThemeRow | BuiltIn, compiled: Compiled, more: Shared & Reading): Theme {
  const { schemes, shared } = more.resolved ? compiled.resolved : theme;
  return { ...heads(theme, compiled, more), schemes, shared, contrast: compiled.contrast };
}

/** Throws NOT_FOUND. */
export async function readTheme(call: Pick<Call, 'db' | 'who'>, id: string, { resolved }: Reading): Promise<Theme> {
  const rows = await chainRows(call.db, id);
  const theme = builtInOf(id) ?? rows.get(id);
  if (!theme) throw notFound();
  return toTheme(theme, compiledOf(chainIn(id, rows)), { ...(await sharedOf(call)), resolved });
}

/** A theme as it would look once stored. */
export function toUnstored(row: ThemeRow, rows: ReadonlyMap<string, ThemeRow>): Theme {
  const compiled = compiledOf(chainIn(row.id, new Map([...rows, [row.id, row]])));
  return toTheme(row, compiled, { defaults: [], uses: undefined, resolved: false });
}

/** Themes of the server's default, which pages request without an id. */
export async function defaultsOf(db: Db): Promise<string[]> {
  return defaultIds(await readServerChoice(db));
}
