import { heldTypesOf, itemFieldNames } from '#areas/items/public.ts';
import type { Principal } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, type Issue, invalidAll } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { shownType } from '#platform/own-types.ts';
import { checkDefault } from './checks.ts';
import type { CustomField, FieldDraft, Kind } from './custom-fields.schemas.ts';
import {
  duplicateKey,
  type FieldRow,
  findByKey,
  insertField,
  listFieldRows,
  lockFields,
  MOST_FIELDS,
  MOST_OF_A_TYPE,
  unfitLibraries,
  writeField,
} from './custom-fields.store.ts';
import { getFieldRow, toField } from './custom-fields.view.ts';
import { foreignMembers, isChoice } from './kinds.ts';

type Columns = Omit<FieldRow, 'id' | 'key' | 'revision' | 'created_at' | 'updated_at' | 'deleted_at' | 'value_count'>;

const orNull = <T>(value: T | undefined): T | null => value ?? null;

/** Columns of the members that only some fields have. */
function ownMembers(draft: FieldDraft) {
  return {
    ...{ library_ids: orNull(draft.libraryIds), options: draft.options ?? [], unit: orNull(draft.unit) },
    ...{ min: orNull(draft.min), max: orNull(draft.max), decimals: orNull(draft.decimals) },
    ...{ max_length: orNull(draft.maxLength), target_types: orNull(draft.targetTypes) },
    ...{ default_value: orNull(draft.default), group_name: orNull(draft.group), managed_by: orNull(draft.managedBy) },
  };
}

function columnsOf(draft: FieldDraft): Columns {
  return {
    ...{ label: draft.label, description: draft.description || null, kind: draft.kind, item_types: draft.itemTypes },
    ...ownMembers(draft),
    required: draft.required,
    ...{ audience: draft.audience, editable_by: draft.editableBy },
    ...{ in_filter: draft.inFilter, in_sort: draft.inSort, in_facets: draft.inFacets, in_search: draft.inSearch },
    ...{ in_lists: draft.inLists, position: draft.order },
    index_state: needsIndex(draft.inSort, draft.inSearch),
  };
}

export const needsIndex = (inSort: boolean, inSearch: boolean): FieldRow['index_state'] =>
  inSort || inSearch ? 'building' : 'none';

/** Throws 400 with every fault of a definition. */
export async function checkField(db: Db, row: Pick<FieldRow, 'key'> & Columns): Promise<void> {
  const issues = [...(itemFieldNames.includes(row.key) ? [reserved('key', 'a built-in field has this name')] : [])];
  issues.push(...memberIssues(row.kind, row));
  if (isChoice(row.kind) && row.options.length === 0)
    issues.push({ path: ['body', 'options'], code: 'required', message: 'a choice needs options' });
  const values = row.options.map(({ value }) => value);
  if (new Set(values).size < values.length)
    issues.push({ path: ['body', 'options'], code: 'duplicate', message: 'each option has a value of its own' });
  const unfit = row.library_ids ? await unfitLibraries(db, row.library_ids, holds(row.item_types)) : [];
  if (unfit.length > 0) issues.push(reserved('libraryIds', 'a library of the list holds none of the item types'));
  if (issues.length > 0) throw invalidAll(issues);
  checkDefault(row, row.default_value);
}

const reserved = (name: string, message: string): Issue => ({ path: ['body', name], code: 'reserved', message });

function memberIssues(kind: Kind, row: Columns): Issue[] {
  const given = {
    options: row.options.length > 0 ? row.options : null,
    ...{ unit: row.unit, min: row.min, max: row.max, decimals: row.decimals },
    ...{ maxLength: row.max_length, targetTypes: row.target_types },
  };
  return foreignMembers(kind, given).map((name) => reserved(name, `a field of kind ${kind} has none`));
}

const holds =
  (types: readonly string[]) =>
  (library: Pick<FieldLibrary, 'type' | 'own_type'>): boolean =>
    heldTypesOf(library).some((type) => types.includes(shownType(library, type)));
type FieldLibrary = Parameters<typeof heldTypesOf>[0];

function refuseForeignManager(who: Principal, { managedBy }: FieldDraft): void {
  if (managedBy === undefined || who.operator) return;
  throw new ApiError('FORBIDDEN', 'Only the operator sets the owner of a field', { by: 'operator' });
}

/** With `validateOnly` nothing is stored. Throws 400, 409 `duplicate-key`, `too-many`. */
export async function createField(call: Call, draft: FieldDraft): Promise<CustomField> {
  const { db, who } = call;
  refuseForeignManager(who, draft);
  const columns = columnsOf(draft);
  await checkField(db, { key: draft.key, ...columns });
  const at = new Date();
  const fresh = {
    id: newId(),
    key: draft.key,
    value_count: 0,
    deleted_at: null,
    revision: 1,
    created_at: at,
    updated_at: at,
  };
  if (draft.validateOnly) return toField({ ...fresh, ...columns });
  await lockFields(db);
  const id = await store(call, draft, { ...fresh, ...columns });
  await refuseTooMany(db, columns.item_types);
  await audit(call, 'custom-field.created', { fieldId: id, key: draft.key });
  if (columns.index_state === 'building') await enqueueIndex(call, id);
  return toField(await getFieldRow(call, id));
}

/** A deleted field of the same key and kind comes back with its values. */
async function store({ db }: Call, { restore, key, kind }: FieldDraft, row: FieldRow): Promise<string> {
  const before = await findByKey(db, key);
  const written = { ...row, ...jsonOf(row) };
  if (!before) {
    await insertField(db, written);
    return row.id;
  }
  if (!before.deleted_at || !restore || before.kind !== kind) throw duplicateKey();
  const { id: _id, key: _key, revision: _r, created_at: _c, updated_at: _u, value_count: _v, ...columns } = written;
  await writeField(db, before.id, columns);
  return before.id;
}

/** Columns of JSON, as they are written. */
export const jsonOf = (row: Pick<FieldRow, 'options' | 'default_value' | 'managed_by'>) => ({
  options: JSON.stringify(row.options),
  default_value: row.default_value === null ? null : JSON.stringify(row.default_value),
  managed_by: row.managed_by && JSON.stringify(row.managed_by),
});

/** Throws 409 `too-many`, of the server or of an item type. */
export async function refuseTooMany(db: Db, types: readonly string[]): Promise<void> {
  const rows = await listFieldRows(db);
  if (rows.length > MOST_FIELDS) throw conflict('too-many', `A server has at most ${MOST_FIELDS} custom fields`);
  const full = types.find((type) => rows.filter((row) => row.item_types.includes(type)).length > MOST_OF_A_TYPE);
  if (full) throw conflict('too-many', `An item type has at most ${MOST_OF_A_TYPE} custom fields`, { itemType: full });
}

export async function enqueueIndex({ enqueue }: Call, fieldId: string): Promise<void> {
  await enqueue('custom-field.index', { fieldId }, { key: `custom-field.index:${fieldId}` });
}
