// Creating, changing and deleting types of libraries.
import { isDeepStrictEqual } from 'node:util';
import { requireIcon } from '#areas/icons/public.ts';
import type { Principal } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { OwnLevel } from '#platform/own-types.ts';
import type { Base } from './bases.ts';
import { builtInOf } from './built-in.ts';
import { checkRules, mergeRules } from './content.ts';
import type { LibraryType, Tried, TypeChange, TypeDraft } from './library-types.schemas.ts';
import {
  findTypeRow,
  insertType,
  lockTypeRow,
  removeType,
  type TypeContent,
  type TypeRow,
  type TypeRules,
  writeType,
} from './library-types.store.ts';
import { librariesOf, readType, toUnstored, usesOf } from './library-types.view.ts';
import { tryNames } from './try-names.ts';

type Created = LibraryType & { tried?: Tried[] };
type Changed = Created & { affected: { libraries: number; items: number; rescan: boolean } };

/** The type that a new one begins with. */
async function sourceOf(call: Call, { base, copyOf }: TypeDraft): Promise<{ base: Base; rules: TypeRules }> {
  const key = copyOf ?? base;
  if (key === undefined) throw invalid(['body', 'base'], 'required', 'base or copyOf');
  const fixed = builtInOf(key);
  const row = fixed ? undefined : await findTypeRow(call.db, key);
  if (!fixed && !row) throw invalid(['body', 'copyOf'], 'unknown_type', 'there is no such type');
  const source = fixed
    ? { base: fixed.base, rules: fixed }
    : { base: (row as TypeRow).base, rules: (row as TypeRow).rules };
  if (base !== undefined && base !== source.base)
    throw invalid(['body', 'base'], 'conflict', 'the base of a copy is that of its source');
  return source;
}

function contentOf(draft: TypeDraft, base: Base, before: TypeRules): TypeContent {
  const rules = mergeRules(before, draft);
  const levels = checkRules(base, rules);
  const { name, plural = name, description, iconId } = draft;
  return { name, plural, description: description || null, icon_id: iconId ?? null, rules, item_levels: levels };
}

function refuseForeignManager(who: Principal, { managedBy }: TypeDraft): void {
  if (managedBy === undefined || who.operator) return;
  throw new ApiError('FORBIDDEN', 'Only the operator sets the owner of a type', { by: 'operator' });
}

const tried = (base: Base, rules: TypeRules, names: readonly string[]): { tried?: Tried[] } =>
  names.length > 0 ? { tried: tryNames(base, rules, names) } : {};

/** With `validateOnly` nothing is stored. Throws 400 with every fault, 409 `duplicate-key`, `too-many`. */
export async function createType(call: Call, draft: TypeDraft): Promise<Created> {
  const { db, who } = call;
  refuseForeignManager(who, draft);
  const { base, rules } = await sourceOf(call, draft);
  await requireIcon(db, 'iconId', draft.iconId);
  const content = contentOf(draft, base, rules);
  const more = tried(base, content.rules, draft.tryNames);
  if (draft.validateOnly) return { ...toUnstored(rowOf(draft.key, base, content)), ...more };
  await insertType(db, { key: draft.key, base, content, managedBy: draft.managedBy ?? null });
  await audit(call, 'library-type.created', { key: draft.key, name: content.name });
  await call.emit('settings.changed', { keys: [`library-types.${draft.key}`] });
  return { ...(await readType(call, draft.key)), ...more };
}

function rowOf(key: string, base: Base, content: TypeContent): TypeRow {
  const at = new Date();
  const { item_levels: levels, ...same } = content;
  const own = { item_levels: [...levels], managed_by: null, revision: 1, rules_version: 1 };
  return { key, base, ...same, ...own, created_at: at, updated_at: at };
}

/** The row that a request may change. Throws 404, 409 `built-in`, `managed-by-resource`, `revision`. */
async function changeable(call: Call, key: string, revision?: number): Promise<TypeRow> {
  if (builtInOf(key)) throw conflict('built-in', 'A built-in type cannot be changed: make a copy of it');
  const row = await lockTypeRow(call.db, key);
  if (!row) throw notFound();
  const wanted = call.headers['if-match'];
  const isSame = wanted === undefined || wanted === '*' || wanted.startsWith(`"${row.revision}-`);
  if (!isSame || (revision ?? Number(row.revision)) !== Number(row.revision))
    throw conflict('revision', 'The type has changed since this revision', { revision: Number(row.revision) });
  if (row.managed_by && !call.who.operator)
    throw conflict('managed-by-resource', 'A Kubernetes resource owns this', {
      fields: ['type'],
      managedBy: row.managed_by,
    });
  return row;
}

/** With `validateOnly` nothing is stored. Throws 400, 404, 409. */
export async function changeType(call: Call, key: string, change: TypeChange): Promise<Changed> {
  const { db } = call;
  const row = await changeable(call, key, change.revision);
  if (change.iconId !== row.icon_id) await requireIcon(db, 'iconId', change.iconId);
  const rules = mergeRules(row.rules, change);
  const levels = checkRules(row.base, rules);
  await refuseLevels(db, row, levels);
  const content = { ...changed(row, change), rules, item_levels: levels };
  const { libraries, items } = (await usesOf(db)).get(key) ?? { libraries: 0, items: 0 };
  const reread = !isDeepStrictEqual([rules.files, rules.naming], [row.rules.files, row.rules.naming]);
  const more = {
    ...tried(row.base, rules, change.tryNames),
    affected: { libraries, items, rescan: reread && libraries > 0 },
  };
  if (change.validateOnly) return { ...toUnstored({ ...row, ...content, item_levels: levels }), ...more };
  await write(call, row, { content, reread });
  return { ...(await readType(call, key)), ...more };
}

/** Item types are fixed while a library has the type. */
async function refuseLevels(db: Db, row: TypeRow, own: readonly OwnLevel[]): Promise<void> {
  if (isDeepStrictEqual(own, row.item_levels)) return;
  const libraries = await librariesOf(db, row.key);
  if (libraries.length > 0) throw conflict('type-in-use', 'Libraries have these item types', { libraries });
}

function changed(row: TypeRow, change: TypeChange): Omit<TypeContent, 'rules' | 'item_levels'> {
  const { name = row.name, plural = row.plural, description = row.description, iconId = row.icon_id } = change;
  return { name, plural, description: description || null, icon_id: iconId };
}

async function write(
  call: Call,
  row: TypeRow,
  { content, reread }: { content: TypeContent; reread: boolean },
): Promise<void> {
  const { name, plural, description, icon_id, rules } = row;
  const before = { name, plural, description, icon_id, rules };
  const { item_levels: _levels, ...after } = content;
  if (isDeepStrictEqual(before, after)) return;
  await writeType(call.db, row.key, { content, reread });
  await audit(call, 'library-type.changed', { key: row.key, name: content.name });
  await call.emit('settings.changed', { keys: [`library-types.${row.key}`] });
}

/** Throws 404, 409 `built-in`, `managed-by-resource`, `revision`, `type-in-use`. */
export async function deleteType(call: Call, key: string): Promise<void> {
  const { db } = call;
  const row = await changeable(call, key);
  const libraries = await librariesOf(db, key);
  if (libraries.length > 0) throw conflict('type-in-use', 'Libraries have this type', { libraries });
  await removeType(db, key);
  await audit(call, 'library-type.deleted', { key, name: row.name });
  await call.emit('settings.changed', { keys: [`library-types.${key}`] });
}
