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

/** When the built-in themes were made. */
const MADE = '2026-11-01T00:00:00.000Z';

/** What every theme is told with. */
interface Beside {
  defaults: readonly string[];
  /** Undefined where the caller is not told of others. */
  uses: ReadonlyMap<string, number> | undefined;
}

async function besideOf({ db, who }: Pick<Call, 'db' | 'who'>): Promise<Beside> {
  const choice = await readServerChoice(db);
  return { defaults: defaultIds(choice), uses: may(who, 'settings:manage') ? await countUses(db) : undefined };
}

type Heads = Omit<ThemeSummary, 'schemeNames'>;

function heads(theme: ThemeRow | BuiltIn, { version, previewColors }: Compiled, { defaults, uses }: Beside): Heads {
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

/** The chain of a theme that is there. */
export function chainIn(id: string, rows: ReadonlyMap<string, ThemeRow>): Source[] {
  const chain = chainOf<Source>(id, rows);
  if (!chain) throw new Error(`theme ${id} rests on nothing`);
  return chain;
}

/** Built-in ones first, then by name. */
export async function readSummaries(call: Pick<Call, 'db' | 'who'>): Promise<ThemeSummary[]> {
  const [own, beside] = [await listThemeRows(call.db), await besideOf(call)];
  const rows = new Map(own.map((row) => [row.id, row]));
  return [...builtIns, ...own].map((theme) => {
    const compiled = compiledOf(chainIn(theme.id, rows));
    return { ...heads(theme, compiled, beside), schemeNames: [...compiled.schemeNames] };
  });
}

interface Reading {
  /** Every token, not only its own. */
  resolved: boolean;
}

export function toTheme(theme: ThemeRow | BuiltIn, compiled: Compiled, more: Beside & Reading): Theme {
  const { schemes, shared } = more.resolved ? compiled.resolved : theme;
  return { ...heads(theme, compiled, more), schemes, shared, contrast: compiled.contrast };
}

/** Throws NOT_FOUND. */
export async function readTheme(call: Pick<Call, 'db' | 'who'>, id: string, { resolved }: Reading): Promise<Theme> {
  const rows = await chainRows(call.db, id);
  const theme = builtInOf(id) ?? rows.get(id);
  if (!theme) throw notFound();
  return toTheme(theme, compiledOf(chainIn(id, rows)), { ...(await besideOf(call)), resolved });
}

/** As it would be, were it stored. */
export function toUnstored(row: ThemeRow, rows: ReadonlyMap<string, ThemeRow>): Theme {
  const compiled = compiledOf(chainIn(row.id, new Map([...rows, [row.id, row]])));
  return toTheme(row, compiled, { defaults: [], uses: undefined, resolved: false });
}

/** Of what a page shows who knows its theme by name alone. */
export async function defaultsOf(db: Db): Promise<string[]> {
  return defaultIds(await readServerChoice(db));
}
