import { findItemSummaries, getVisibleItem } from '#areas/items/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import { ApiError, type Issue, invalidAll } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { checkValue, issueAt, type Stored } from './checks.ts';
import type { Value } from './custom-fields.schemas.ts';
import { type FieldRow, listFieldRows } from './custom-fields.store.ts';
import { columnOf } from './kinds.ts';

const MOST_BYTES = 65_536;

export type Values = Readonly<Record<string, Value | null>>;

interface Fitting {
  type: string;
  library_id: string;
}

/** Whether items of this type and library have the field. */
export function fits(
  { item_types: types, library_ids: libraries }: FieldRow,
  { type, library_id: id }: Fitting,
): boolean {
  return types.includes(type) && (libraries === null || libraries.includes(id));
}

/** The caller and the transaction of the write; a call of an endpoint has both. */
interface Writer {
  db: Db;
  who: Principal;
}

/**
 * Sets custom values of a visible item for a person; null clears. Throws 400 with every issue, path `custom.<key>`, and 403 when
 * the caller may not set a field. Returns whether something changed; the caller emits the event.
 */
export async function setCustomValues({ db, who }: Writer, itemId: string, values: Values): Promise<boolean> {
  const item = await getVisibleItem(db, who, itemId);
  const checked = await checkAll({ db, who }, await placeOf(db, item.id), values);
  if (!may(who, 'item:edit') && checked.some(({ field }) => field.editable_by === 'editors'))
    throw new ApiError('FORBIDDEN', 'Only editors set this field', { permission: 'item:edit' });
  let isChanged = false;
  for (const { field, value } of checked) if (await writeValue(db, { itemId, field }, value)) isChanged = true;
  await refuseTooMany(db, itemId);
  return isChanged;
}

/** The fields of an item that the caller may read, in the order of a form. */
export async function fieldsOfItem({ db, who }: Writer, itemId: string): Promise<FieldRow[]> {
  const at = await placeOf(db, itemId);
  return (await listFieldRows(db)).filter((field) => readable(field, who) && fits(field, at));
}

interface Checked {
  field: FieldRow;
  value: Stored | null;
}

/** Throws 400 with every issue. */
async function checkAll(writer: Writer, at: Fitting, values: Values): Promise<Checked[]> {
  const fields = new Map((await listFieldRows(writer.db)).map((field) => [field.key, field]));
  const issues: Issue[] = [];
  const checked: Checked[] = [];
  for (const [key, value] of Object.entries(values)) {
    const field = fields.get(key);
    const found = field && readable(field, writer.who) ? await checkOne(writer, { field, at, value }) : UNKNOWN;
    if ('code' in found) issues.push(issueAt(key, found.code, found.message));
    else checked.push({ field: field as FieldRow, value: found.value });
  }
  if (issues.length > 0) throw invalidAll(issues);
  return checked;
}

const UNKNOWN = { code: 'unknown_field', message: 'there is no such field' };

/** Fields for editors do not exist for others. */
export const readable = ({ audience }: Pick<FieldRow, 'audience'>, who: Principal): boolean =>
  audience === 'everyone' || may(who, 'item:edit');

async function placeOf(db: Db, id: string): Promise<Fitting> {
  const row = await db('items').where({ id }).first('type', 'own_type', 'library_id');
  return { type: row?.own_type ?? row?.type ?? '', library_id: row?.library_id ?? '' };
}

interface One {
  field: FieldRow;
  at: Fitting;
  value: Value | null;
}

type Fault = { code: string; message: string };

async function checkOne(writer: Writer, { field, at, value }: One): Promise<{ value: Stored | null } | Fault> {
  if (!fits(field, at)) return { code: 'not_for_type', message: 'items of this type do not have the field' };
  if (value === null) return field.required ? { code: 'required', message: 'the field needs a value' } : { value };
  const checked = checkValue(field, value);
  if ('code' in checked || (await isThere(writer, field, checked.value))) return checked;
  return { code: 'unknown_target', message: 'there is no such record' };
}

/** References lead to records that the writer may see. */
async function isThere({ db, who }: Writer, { kind, target_types: types }: FieldRow, value: Stored): Promise<boolean> {
  if (kind === 'person')
    return (
      (await db('people')
        .where({ id: String(value) })
        .first('id')) !== undefined
    );
  if (kind !== 'item') return true;
  const target = (await findItemSummaries(db, who, [String(value)])).get(String(value));
  return target !== undefined && (types === null || types.includes(target.type));
}

interface ValueOf {
  itemId: string;
  field: Pick<FieldRow, 'id' | 'kind'>;
}

/** Writes a checked value; false when it was so before. */
async function writeValue(db: Db, { itemId, field }: ValueOf, value: Stored | null): Promise<boolean> {
  const column = columnOf[field.kind];
  const of = { item_id: itemId, field_id: field.id };
  const wanted = (value === null ? [] : [value].flat()).map(String);
  const stored = await db('custom_values')
    .where(of)
    .orderBy('place')
    .select<{ value: string }[]>(db.raw('??::text as value', [column]));
  if (JSON.stringify(stored.map((row) => row.value)) === JSON.stringify(wanted)) return false;
  await db('custom_values').where(of).delete();
  for (const [place, text] of wanted.entries()) await insertValue(db, { ...of, place }, { column, text });
  return true;
}

type Column = (typeof columnOf)[keyof typeof columnOf];
const casts: Readonly<Record<Column, string>> = {
  text_value: 'text',
  number_value: 'double precision',
  bool_value: 'boolean',
  date_value: 'date',
  ref_id: 'uuid',
};

async function insertValue(
  db: Db,
  row: { item_id: string; field_id: string; place: number },
  { column, text }: { column: Column; text: string },
): Promise<void> {
  const key = column === 'text_value' ? { text_key: db.raw('left(foyer_fold(?), 300)', [text]) } : {};
  await db('custom_values').insert({ ...row, ...key, [column]: db.raw(`?::${casts[column]}`, [text]) });
}

async function refuseTooMany(db: Db, itemId: string): Promise<void> {
  const [row] = await db('custom_values')
    .where({ item_id: itemId })
    .select<{ n: number }[]>(db.raw('coalesce(sum(octet_length(text_value)), 0)::int as n'));
  if ((row?.n ?? 0) <= MOST_BYTES) return;
  throw invalidAll([
    { path: ['body', 'custom'], code: 'too_big', message: 'an item has at most 64 KiB of custom values' },
  ]);
}

/**
 * Values of naming patterns for items that a scan made: text and number fields only. What does not fit the kind is passed over,
 * and a value that is there stays.
 */
export async function setScannedValues(
  db: Db,
  items: readonly { id: string; type: string; libraryId: string; custom: Readonly<Record<string, string | number>> }[],
): Promise<void> {
  if (items.length === 0) return;
  const fields = new Map((await listFieldRows(db)).map((field) => [field.key, field]));
  for (const { id, type, libraryId, custom } of items) {
    for (const [key, raw] of Object.entries(custom)) {
      const field = fields.get(key);
      if (!field || !fits(field, { type, library_id: libraryId }) || columnOf[field.kind] === 'ref_id') continue;
      const number = columnOf[field.kind] === 'number_value' ? Number(raw) : String(raw);
      const checked = checkValue(field, field.kind === 'choices' ? [String(raw)] : number);
      if ('value' in checked) await writeValue(db, { itemId: id, field }, checked.value);
    }
  }
}
