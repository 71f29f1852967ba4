// Creating, changing and deleting themes; the themes based on them are validated too.
import { isDeepStrictEqual } from 'node:util';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, type Issue, invalidAll } from '#kernel/errors.ts';
import { builtInOf, DEFAULT, type Schemes, schemeNames } from './document/built-in.ts';
import { mergeTokens, readTokens, type TokenChanges } from './document/document.ts';
import { refuseManaged, refuseStale } from './document/guards.ts';
import { announce } from './memory.ts';
import { type Compiled, compiledOf } from './stylesheet/compiled.ts';
import { failing, unreadable } from './stylesheet/contrast.ts';
import { chainOf, depthOf, MOST_BASES } from './stylesheet/resolve.ts';
import type { Theme, ThemeChange, ThemeDraft } from './themes.schemas.ts';
import {
  changeable,
  insertTheme,
  listThemeRows,
  lockThemes,
  MOST_THEMES,
  removeTheme,
  type ThemeContent,
  type ThemeRow,
  writeTheme,
} from './themes.store.ts';
import { chainIn, defaultsOf, toUnstored } from './themes.view.ts';

type Rows = ReadonlyMap<string, ThemeRow>;

/** Id of a theme that is not stored. */
const UNSTORED = '00000000-0000-0000-0000-000000000000';

interface Sets {
  schemes: Partial<Record<'light' | 'dark', TokenChanges | null>>;
  shared: TokenChanges;
}

/** The token sets of a request; problems are added to `issues`. */
function readSets({ schemes = {}, shared = {} }: ThemeChange, clears: boolean, issues: Issue[]): Sets {
  const read = schemeNames.flatMap((name) => {
    const given = schemes[name];
    if (given === undefined) return [];
    const place = { path: ['body', 'schemes', name], scheme: true, clears };
    return [[name, given && readTokens(given, place, issues)] as const];
  });
  return {
    schemes: Object.fromEntries(read),
    shared: readTokens(shared, { path: ['body', 'shared'], scheme: false, clears }, issues),
  };
}

function mergeSchemes(before: Schemes, changes: Sets['schemes']): Schemes {
  const merged = schemeNames.flatMap((name) => {
    const change = changes[name];
    const set = change === undefined ? before[name] : change && mergeTokens(before[name] ?? {}, change);
    return set ? [[name, set] as const] : [];
  });
  return Object.fromEntries(merged);
}

const baseIssue = (code: string, message: string): Issue => ({ path: ['body', 'base'], code, message });

function baseIssues(base: string, rows: Rows): Issue[] {
  return builtInOf(base) || rows.has(base) ? [] : [baseIssue('unknown_theme', 'no theme has this id')];
}

/** The theme and the themes based on it. */
const basedOn = (id: string, rows: Rows): string[] =>
  [...rows.keys()].filter((one) => chainOf(one, rows)?.some((under) => under.id === id));

/** Whether the base chain would be circular or too deep with the theme as in `rows`. */
function chainIssues(id: string, rows: Rows): Issue[] {
  if (!chainOf(id, rows)) return [baseIssue('circular', 'a theme cannot be based on itself')];
  const deep = basedOn(id, rows).some((one) => depthOf(chainIn(one, rows)) > MOST_BASES);
  return deep ? [baseIssue('too_deep', `at most ${MOST_BASES} bases in a chain`)] : [];
}

const compiledIn = (id: string, rows: Rows): Compiled => compiledOf(chainIn(id, rows));

/** Unreadable text of the theme or of one based on it. */
function textIssues(id: string, rows: Rows): Issue[] {
  return basedOn(id, rows).flatMap((one) => {
    const issues = unreadable(compiledIn(one, rows).contrast);
    const name = rows.get(one)?.name ?? '';
    return one === id ? issues : issues.map((issue) => ({ ...issue, message: `${name}: ${issue.message}` }));
  });
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalidAll([...issues]);
}

function contentOf(draft: ThemeDraft, sets: Sets): ThemeContent {
  return {
    name: draft.name,
    description: draft.description || null,
    author: draft.author || null,
    base: draft.base ?? DEFAULT,
    schemes: mergeSchemes({}, sets.schemes),
    shared: mergeTokens({}, sets.shared),
  };
}

/** Validates a new theme against the stored ones. */
function checked(draft: ThemeDraft, rows: Rows): { row: ThemeRow; content: ThemeContent } {
  const issues: Issue[] = [];
  const { schemes, shared, base } = draft;
  const sets = readSets({ schemes, shared }, false, issues);
  refuse([...issues, ...baseIssues(base ?? DEFAULT, rows)]);
  const content = contentOf(draft, sets);
  const at = new Date();
  const row = { id: UNSTORED, ...content, managed_by: null, revision: 1, created_at: at, updated_at: at };
  const after = new Map([...rows, [UNSTORED, row]]);
  refuse(chainIssues(UNSTORED, after));
  refuse(textIssues(UNSTORED, after));
  return { row, content };
}

/** The theme as it would be created. Nothing is stored, and no name is taken. */
export async function tryTheme({ db }: Call, draft: ThemeDraft): Promise<Theme> {
  const rows = new Map((await listThemeRows(db)).map((one) => [one.id, one]));
  return toUnstored(checked(draft, rows).row, rows);
}

/** Returns its id. Throws 400, 409 `too-many`, `duplicate-name`. */
export async function addTheme(call: Call, draft: ThemeDraft): Promise<string> {
  const { db, who } = call;
  const rows = await lockThemes(db);
  const { content } = checked(draft, rows);
  if (rows.size >= MOST_THEMES) throw conflict('too-many', `A server has at most ${MOST_THEMES} themes of its own`);
  const id = await insertTheme(db, content, (who.operator && draft.managedBy) || null);
  await audit(call, 'theme.created', { themeId: id, name: content.name });
  announce(call);
  return id;
}

/** Throws 400, 404, 409. A change without effect is not written. */
export async function changeTheme(call: Call, id: string, change: ThemeChange): Promise<void> {
  const issues: Issue[] = [];
  const sets = readSets(change, true, issues);
  const rows = await lockThemes(call.db);
  refuse([...issues, ...(change.base === undefined ? [] : baseIssues(change.base, rows))]);
  const row = changeable(rows, id);
  refuseStale(call, row, change.revision);
  refuseManaged(call.who, row, touched(change));
  const content = changed(row, change, sets);
  if (isDeepStrictEqual(content, changed(row, {}, { schemes: {}, shared: {} }))) return;
  const after = new Map([...rows, [id, { ...row, ...content }]]);
  refuse(chainIssues(id, after));
  refuse(textIssues(id, after));
  await write(call, { id, content, rows, after });
}

const touched = ({ revision: _revision, ...own }: ThemeChange): string[] =>
  Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [name]));

function changed(row: ThemeRow, change: ThemeChange, sets: Sets): ThemeContent {
  const { name = row.name, description = row.description, author = row.author, base = row.base } = change;
  const schemes = mergeSchemes(row.schemes, sets.schemes);
  if (Object.keys(schemes).length === 0)
    throw invalidAll([{ path: ['body', 'schemes'], code: 'required', message: 'one scheme must stay' }]);
  return {
    name,
    description: description || null,
    author: author || null,
    base,
    schemes,
    shared: mergeTokens(row.shared, sets.shared),
  };
}

interface Change {
  id: string;
  content: ThemeContent;
  rows: Rows;
  after: Rows;
}

async function write(call: Call, { id, content, rows, after }: Change): Promise<void> {
  const defaults = await defaultsOf(call.db);
  const affected = defaults.filter((one) => !builtInOf(one) && isChanged(one, rows, after));
  refuseContrast(affected.map((one) => compiledIn(one, after)));
  await writeTheme(call.db, id, content);
  await audit(call, 'theme.changed', { themeId: id, name: content.name });
  if (affected.length > 0 || defaults.includes(id)) await call.emit('settings.changed', { keys: ['themes.default'] });
  announce(call);
}

const isChanged = (id: string, rows: Rows, after: Rows): boolean =>
  compiledIn(id, rows).version !== compiledIn(id, after).version;

/** Throws 409 `contrast` when a default of the server would have an unreadable colour pair. */
export function refuseContrast(themes: readonly Compiled[]): void {
  const pairs = themes.flatMap(({ contrast }) => failing(contrast));
  if (pairs.length > 0)
    throw conflict('contrast', "The server's default needs every pair of colours readable", { pairs });
}

/** Deletes the theme and copies its values into the themes based on it. Throws 404, 409. */
export async function deleteThemeRow(call: Call, id: string): Promise<void> {
  const { db, who } = call;
  const rows = await lockThemes(db);
  const row = changeable(rows, id);
  refuseStale(call, row);
  refuseManaged(who, row, ['theme']);
  if ((await defaultsOf(db)).includes(id)) throw conflict('server-default', "It is the server's default");
  for (const child of rows.values()) if (child.base === id) await writeTheme(db, child.id, without(row, child));
  await removeTheme(db, id);
  await audit(call, 'theme.deleted', { themeId: id, name: row.name });
  announce(call);
}

/** The child with the values it inherited from its base, based on the base's own base. */
function without(base: ThemeRow, { name, description, author, schemes, shared }: ThemeRow): ThemeContent {
  const own = schemeNames.flatMap((scheme) => {
    const set = schemes[scheme];
    return set ? [[scheme, mergeTokens(base.schemes[scheme] ?? {}, set)] as const] : [];
  });
  return {
    name,
    description,
    author,
    base: base.base,
    schemes: Object.fromEntries(own),
    shared: mergeTokens(base.shared, shared),
  };
}
