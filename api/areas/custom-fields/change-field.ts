import { touchLibraries } from '#areas/libraries/public.ts';
import type { Principal } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { checkField, enqueueIndex, jsonOf, needsIndex, refuseTooMany } from './create-field.ts';
import type { ChangedField, FieldChange, Option } from './custom-fields.schemas.ts';
import { type FieldRow, hideField, KEPT_DAYS, lockFields, writeField } from './custom-fields.store.ts';
import { getFieldRow, toField } from './custom-fields.view.ts';
import { isChoice, isWider } from './kinds.ts';
import { countOption, countOutside, emitChanged, replaceOptions, widenValues } from './rewrite.store.ts';

/** Throws 409 `managed-by-resource`, `revision`. */
function refuse(call: Call, row: FieldRow, revision?: number): void {
  const wanted = call.headers['if-match'];
  const isSame = wanted === undefined || wanted === '*' || wanted.startsWith(`"${row.revision}-`);
  if (!isSame || (revision ?? row.revision) !== row.revision)
    throw conflict('revision', 'The field has changed since this revision', { revision: row.revision });
  refuseManaged(call.who, row);
}

function refuseManaged(who: Principal, { managed_by: managedBy }: FieldRow): void {
  if (who.operator || !managedBy) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', { fields: ['field'], managedBy });
}

/** Throws 400, 404, 409 `kind-narrows`, `option-in-use`, `too-many`, `managed-by-resource`, `revision`. */
export async function changeField(call: Call, id: string, change: FieldChange): Promise<ChangedField> {
  const { db } = call;
  await lockFields(db);
  const row = await getFieldRow(call, id);
  refuse(call, row, change.revision);
  const kind = change.kind ?? row.kind;
  if (kind !== row.kind && !isWider(row.kind, kind))
    throw conflict('kind-narrows', `A field of kind ${row.kind} does not become ${kind}`, { from: row.kind, to: kind });
  const { options, replaced } = optionsOf(row, change);
  const after = changed(row, change, options);
  await checkField(db, after);
  await refuseInUse(call, row, replaced);
  await writeField(db, id, { ...own(after), ...jsonOf(after) });
  await refuseTooMany(db, after.item_types);
  const changes = await replaceOptions(db, id, replaced);
  await widenValues(db, { before: row, after }, changes);
  const outside = await countOutside(db, after);
  await emitChanged(call, changes);
  await touchLibraries(db);
  await audit(call, 'custom-field.changed', { fieldId: id, key: row.key });
  if (after.index_state === 'building') await enqueueIndex(call, id);
  const { items, removed } = changes;
  return { ...toField(await getFieldRow(call, id)), changed: { values: items.size, removed, outside } };
}

/** Columns that a change may write. */
function own(row: FieldRow): Omit<FieldRow, 'id' | 'key' | 'revision' | 'created_at' | 'updated_at'> {
  const { id: _id, key: _key, revision: _r, created_at: _c, updated_at: _u, ...columns } = row;
  return columns;
}

/** Absent members keep their value, null clears them, and members that the new kind lacks go. */
function changed(row: FieldRow, change: FieldChange, options: Option[]): FieldRow {
  const keep = <T>(given: T | undefined, before: T): T => (given === undefined ? before : given);
  const kind = keep(change.kind, row.kind);
  const isSame = kind === row.kind;
  const of = <T>(given: T | null | undefined, before: T | null): T | null => keep(given, isSame ? before : null);
  const inSort = keep(change.inSort, row.in_sort);
  const inSearch = keep(change.inSearch, row.in_search);
  const isIndexed = isSame && inSort === row.in_sort && inSearch === row.in_search;
  return {
    ...row,
    ...{ label: keep(change.label, row.label), description: keep(change.description, row.description) || null, kind },
    ...{ item_types: keep(change.itemTypes, row.item_types), library_ids: keep(change.libraryIds, row.library_ids) },
    options: isChoice(kind) ? options : [],
    ...{ unit: of(change.unit, row.unit), min: of(change.min, row.min), max: of(change.max, row.max) },
    ...{ decimals: of(change.decimals, row.decimals), max_length: of(change.maxLength, row.max_length) },
    ...{ target_types: of(change.targetTypes, row.target_types), default_value: of(change.default, row.default_value) },
    ...{ required: keep(change.required, row.required), audience: keep(change.audience, row.audience) },
    ...{ editable_by: keep(change.editableBy, row.editable_by), in_filter: keep(change.inFilter, row.in_filter) },
    ...{ in_sort: inSort, in_facets: keep(change.inFacets, row.in_facets), in_search: inSearch },
    ...{ in_lists: keep(change.inLists, row.in_lists), group_name: keep(change.group, row.group_name) },
    ...{ position: keep(change.order, row.position) },
    index_state: isIndexed ? row.index_state : needsIndex(inSort, inSearch),
  };
}

interface Options {
  options: Option[];
  /** What becomes of values of removed options: another value, none, or undefined where the request names none. */
  replaced: Map<string, string | null | undefined>;
}

function optionsOf(row: FieldRow, { options, kind }: FieldChange): Options {
  if (!options)
    return { options: row.kind === 'boolean' && kind === 'choice' ? YES_NO : row.options, replaced: new Map() };
  const kept = options.flatMap(({ replaceBy, value, label, color }): Option[] =>
    replaceBy === undefined ? [{ value, label: label ?? value, ...(color && { color }) }] : [],
  );
  const named = new Map(options.map(({ value, replaceBy }) => [value, replaceBy]));
  const gone = row.options.filter(({ value }) => !kept.some((one) => one.value === value));
  const replaced = new Map(gone.map(({ value }) => [value, named.get(value)]));
  for (const to of replaced.values())
    if (typeof to === 'string' && !kept.some(({ value }) => value === to))
      throw invalid(['body', 'options'], 'unknown_option', 'replaceBy names an option of the list');
  return { options: kept, replaced };
}

/** A switch that becomes a choice has these options, unless others are given. */
const YES_NO: Option[] = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

async function refuseInUse({ db }: Call, { id }: FieldRow, replaced: Options['replaced']): Promise<void> {
  for (const [option, to] of replaced) {
    const count = to === undefined ? await countOption(db, id, option) : 0;
    if (count > 0) throw conflict('option-in-use', 'Items have this option: name replaceBy', { option, count });
  }
}

/** Gone from every answer at once. Throws 404, 409 `managed-by-resource`, `revision`. */
export async function deleteField(call: Call, id: string): Promise<void> {
  const { db, enqueue, now } = call;
  await lockFields(db);
  const row = await getFieldRow(call, id);
  refuse(call, row);
  await hideField(db, id);
  await touchLibraries(db);
  const runAt = new Date(now.getTime() + KEPT_DAYS * 86_400_000);
  await enqueue('custom-field.purge', { fieldId: id }, { key: `custom-field.purge:${id}`, runAt });
  await audit(call, 'custom-field.deleted', { fieldId: id, key: row.key });
}
