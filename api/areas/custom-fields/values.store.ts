import { findItemSummaries } from '#areas/items/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import { ApiError, type Issue } from '#kernel/errors.ts';
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

export interface WrittenValues {
  /** The items whose values were others before. */
  changed: string[];
  /** These keep their values. Issues have the path `custom.<key>`. */
  refused: { itemId: string; issues: Issue[] }[];
}

/**
 * Sets custom values of items that the caller sees, with the same statements for one and for hundreds; null clears. Throws 403
 * when the caller may not set a field. A dry run only names refusals. The caller emits the events.
 */
export async function setCustomValues(
  writer: Writer,
  ids: readonly string[],
  { values, dryRun = false }: { values: Values; dryRun?: boolean },
): Promise<WrittenValues> {
  const { db, who } = writer;
  const refused: WrittenValues['refused'] = [];
  const fit: string[] = [];
  let checked: Checked[] = [];
  for (const [at, alike] of await placesOf(db, ids)) {
    const found = await checkAll(writer, at, values);
    if ('issues' in found) refused.push(...alike.map((itemId) => ({ itemId, issues: found.issues })));
    else fit.push(...alike);
    if ('checked' in found) checked = found.checked; // a value that fits is the same for every item
  }
  if (!may(who, 'item:edit') && checked.some(({ field }) => field.editable_by === 'editors'))
    throw new ApiError('FORBIDDEN', 'Only editors set this field', { permission: 'item:edit' });
  const full = new Set(await overfull(db, fit, checked));
  refused.push(...[...full].map((itemId) => ({ itemId, issues: [TOO_MANY] })));
  const rest = fit.filter((id) => !full.has(id));
  return { changed: dryRun ? [] : await writeValues(db, rest, checked), refused };
}

/** The fields of an item that the caller may read, in the order of a form. */
export async function fieldsOfItem({ db, who }: Writer, itemId: string): Promise<FieldRow[]> {
  const [[at] = []] = await placesOf(db, [itemId]);
  return (await listFieldRows(db)).filter((field) => readable(field, who) && at !== undefined && fits(field, at));
}

interface Checked {
  field: FieldRow;
  value: Stored | null;
}

/** Every value for items of one type and library, or every issue. */
async function checkAll(
  writer: Writer,
  at: Fitting,
  values: Values,
): Promise<{ checked: Checked[] } | { issues: Issue[] }> {
  const fields = new Map((await listFieldRows(writer.db)).map((field) => [field.key, field]));
  const issues: Issue[] = [];
  const checked: Checked[] = [];
  for (const [key, value] of Object.entries(values)) {
    const field = fields.get(key);
    const found = field && readable(field, writer.who) ? await checkOne(writer, { field, at, value }) : UNKNOWN;
    if ('code' in found) issues.push(issueAt(key, found.code, found.message));
    else checked.push({ field: field as FieldRow, value: found.value });
  }
  return issues.length > 0 ? { issues } : { checked };
}

const UNKNOWN = { code: 'unknown_field', message: 'there is no such field' };

/** Fields for editors do not exist for others. */
export const readable = ({ audience }: Pick<FieldRow, 'audience'>, who: Principal): boolean =>
  audience === 'everyone' || may(who, 'item:edit');

/** Ids by the type and library that decide which fields they have. */
async function placesOf(db: Db, ids: readonly string[]): Promise<[Fitting, string[]][]> {
  const { rows } = await db.raw<{ rows: (Fitting & { ids: string[] })[] }>(
    `select coalesce(own_type, type) as type, library_id, array_agg(id order by id) as ids from items
     where id = any(?::uuid[]) group by 1, 2 order by 1, 2`,
    [[...ids]],
  );
  return rows.map(({ ids: alike, ...at }) => [at, alike]);
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

/** Writes checked values into every item. Returns the items whose values were others before. */
async function writeValues(db: Db, ids: readonly string[], checked: readonly Checked[]): Promise<string[]> {
  const changed = new Set<string>();
  for (const one of checked) for (const id of await writeValue(db, ids, one)) changed.add(id);
  return ids.filter((id) => changed.has(id));
}

const casts: Readonly<Record<(typeof columnOf)[FieldRow['kind']], string>> = {
  text_value: 'text',
  number_value: 'double precision',
  bool_value: 'boolean',
  date_value: 'date',
  ref_id: 'uuid',
};

const textsOf = (value: Stored | null): string[] => (value === null ? [] : [value].flat()).map(String);

async function writeValue(db: Db, ids: readonly string[], { field, value }: Checked): Promise<string[]> {
  const column = columnOf[field.kind];
  const texts = textsOf(value);
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select e.id from unnest(?::uuid[]) as e(id) where ?::text[] <> array(select v.${column}::text from custom_values v
       where v.item_id = e.id and v.field_id = ? order by v.place)`,
    [[...ids], texts, field.id],
  );
  const others = rows.map(({ id }) => id);
  if (others.length === 0) return [];
  await db('custom_values').where({ field_id: field.id }).whereRaw('item_id = any(?::uuid[])', [others]).delete();
  const key = column === 'text_value' ? 'left(foyer_fold(one.value), 300)' : 'null::text';
  await db.raw(
    `with t as materialized (
       select one.at, one.value::${casts[column]} as value, ${key} as key from unnest(?::text[]) with ordinality as one(value, at))
     insert into custom_values (item_id, field_id, place, ${column}, text_key)
     select e.id, ?, t.at - 1, t.value, t.key from unnest(?::uuid[]) as e(id), t`,
    [texts, field.id, others],
  );
  return others;
}

const TOO_MANY: Issue = {
  ...{ path: ['body', 'custom'], code: 'too_big' },
  message: 'an item has at most 64 KiB of custom values',
};

/** Items that would hold too much with these values. */
async function overfull(db: Db, ids: readonly string[], checked: readonly Checked[]): Promise<string[]> {
  const texts = checked.filter(({ field }) => columnOf[field.kind] === 'text_value');
  const added = texts.flatMap(({ value }) => textsOf(value)).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select e.id from unnest(?::uuid[]) as e(id) where ?::int + (select coalesce(sum(octet_length(v.text_value)), 0)
       from custom_values v where v.item_id = e.id and v.field_id <> all(?::uuid[])) > ?`,
    [[...ids], added, checked.map(({ field }) => field.id), MOST_BYTES],
  );
  return rows.map(({ id }) => id);
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
      if ('value' in checked) await writeValue(db, [id], { field, value: checked.value });
    }
  }
}
