// Values that follow a change of their definition.
import { reviseItems } from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import type { FieldRow } from './custom-fields.store.ts';
import { columnOf } from './kinds.ts';

export interface Changes {
  /** Items whose values changed. */
  items: Set<string>;
  /** Values that are gone. */
  removed: number;
}

/** A field on a whole library takes longer than the default. */
const SLOW = `set local statement_timeout = '10min'`;

export async function countOption(db: Db, fieldId: string, option: string): Promise<number> {
  const [row] = await db('custom_values')
    .where({ field_id: fieldId, text_value: option })
    .count<{ count: number }[]>('* as count');
  return Number(row?.count ?? 0);
}

/** Gives values of removed options the other value, or removes them. */
export async function replaceOptions(
  db: Db,
  fieldId: string,
  replaced: ReadonlyMap<string, string | null | undefined>,
): Promise<Changes> {
  const changes: Changes = { items: new Set(), removed: 0 };
  if (replaced.size > 0) await db.raw(SLOW);
  for (const [from, to] of replaced) {
    const gone = await rowsOf(
      db,
      `delete from custom_values v where field_id = ? and text_value = ? and (?::text is null or exists (
         select from custom_values o where o.field_id = v.field_id and o.item_id = v.item_id and o.text_value = ?))
       returning item_id as id`,
      [fieldId, from, to ?? null, to ?? null],
    );
    if (typeof to !== 'string') changes.removed += gone.length;
    const moved = await rowsOf(
      db,
      `update custom_values set text_value = ?, text_key = left(foyer_fold(?), 300) where field_id = ? and text_value = ?
       returning item_id as id`,
      [to ?? '', to ?? '', fieldId, from],
    );
    for (const { id } of [...gone, ...moved]) changes.items.add(id);
  }
  return changes;
}

async function rowsOf(db: Db, sql: string, bindings: readonly (string | null)[]): Promise<{ id: string }[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(sql, [...bindings]);
  return rows;
}

/** Moves values into the column of the wider kind. */
export async function widenValues(
  db: Db,
  { before, after }: { before: FieldRow; after: FieldRow },
  changes: Changes,
): Promise<void> {
  const [from, to] = [columnOf[before.kind], columnOf[after.kind]];
  if (from === to) return;
  await db.raw(SLOW);
  const text = from === 'bool_value' ? 'bool_value::text' : 'number_value::numeric::text';
  const rows = await rowsOf(
    db,
    `update custom_values set text_value = ${text}, text_key = foyer_fold(${text}), ${from} = null where field_id = ?
     returning item_id as id`,
    [after.id],
  );
  for (const { id } of rows) changes.items.add(id);
}

/** Values outside of the bounds, which stay as they are. */
export async function countOutside(db: Db, { id, kind, min, max, max_length: length }: FieldRow): Promise<number> {
  const column = columnOf[kind];
  const value = column === 'date_value' ? `extract(epoch from date_value) * 1000` : 'number_value';
  const sql =
    column === 'text_value' ? 'length(text_value) > ?::int' : `(${value} < ?::float8 or ${value} > ?::float8)`;
  const bounds = column === 'text_value' ? [length] : [min, max];
  if (column === 'ref_id' || column === 'bool_value' || bounds.every((one) => one === null)) return 0;
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select count(*)::int as n from custom_values where field_id = ? and ${sql}`,
    [id, ...bounds],
  );
  return rows[0]?.n ?? 0;
}

interface Emitted {
  id: string;
  library_id: string;
  type: string;
  title: string;
  age_years: number | null;
  labels: number[];
}

/** Raises the change numbers of the items, and emits one event in each library. */
export async function emitChanged(call: Call, { items }: Changes): Promise<void> {
  if (items.size === 0) return;
  const ids = [...items];
  await reviseItems(call.db, ids);
  const { rows } = await call.db.raw<{ rows: Emitted[] }>(
    `select distinct on (i.library_id) i.id, i.library_id, coalesce(i.own_type, i.type) as type, i.title,
       ${ageSql('i')} as age_years, i.labels
     from items i where i.id = any(?::uuid[]) and i.trashed_at is null order by i.library_id, i.id`,
    [ids],
  );
  for (const { id: itemId, library_id: libraryId, type, title, age_years: age, labels } of rows) {
    const facts = { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) };
    await call.emit('item.updated', { itemId, libraryId, type, title, changed: ['custom'] }, facts);
  }
}
