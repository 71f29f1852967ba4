import { conflict } from '#kernel/errors.ts';
import { breaks, type Db } from '#platform/db.ts';
import type { Insert, Row } from '#platform/typed-query.ts';
import type { Kind, Option, Value } from './custom-fields.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'custom_fields.kind': Kind;
    'custom_fields.options': Option[];
    'custom_fields.default_value': Value | null;
  }
}

export const MOST_FIELDS = 200;
export const MOST_OF_A_TYPE = 60;
/** A deleted field keeps its key and its values for so long. */
export const KEPT_DAYS = 30;

export type FieldRow = Row<'custom_fields'>;

/** Definitions by group and order, without deleted ones. */
export async function listFieldRows(db: Db): Promise<FieldRow[]> {
  return db('custom_fields')
    .whereNull('deleted_at')
    .orderByRaw('group_name nulls first, position, label, id')
    .select('*');
}

/** Serializes changes of definitions, because limits hold over all of them. */
export async function lockFields(db: Db): Promise<void> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.custom-fields'))`);
}

export async function findFieldRow(db: Db, id: string): Promise<FieldRow | undefined> {
  return db('custom_fields').where({ id }).whereNull('deleted_at').first();
}

/** The field of this key, a deleted one too. */
export async function findByKey(db: Db, key: string): Promise<FieldRow | undefined> {
  return db('custom_fields').where({ key }).first();
}

/** Throws 409 `duplicate-key`. */
export async function insertField(db: Db, row: Insert<'custom_fields'>): Promise<void> {
  try {
    await db('custom_fields').insert(row);
  } catch (error) {
    if (breaks(error, 'custom_fields_key_key')) throw duplicateKey();
    throw error;
  }
}

export const duplicateKey = () =>
  conflict('duplicate-key', 'There is a field of this key, or there was one in the last 30 days');

export type FieldColumns = Partial<Omit<Insert<'custom_fields'>, 'id' | 'key'>>;

export async function writeField(db: Db, id: string, columns: FieldColumns): Promise<void> {
  await db('custom_fields')
    .where({ id })
    .update({ ...columns, revision: db.raw('revision + 1'), updated_at: new Date() });
}

/** Hides the field at once; job `custom-field.purge` removes its rows after 30 days. */
export async function hideField(db: Db, id: string): Promise<void> {
  await db('custom_fields').where({ id }).update({ deleted_at: new Date(), index_state: 'none' });
}

/** Libraries of these ids that hold none of the item types, and ids of none. */
export async function unfitLibraries(
  db: Db,
  ids: readonly string[],
  heldBy: (library: Pick<Row<'libraries'>, 'type' | 'own_type'>) => boolean,
): Promise<string[]> {
  const rows = await db('libraries')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .whereNull('deleted_at')
    .select('id', 'type', 'own_type');
  const fit = new Set(rows.filter(heldBy).map(({ id }) => id));
  return ids.filter((id) => !fit.has(id));
}
