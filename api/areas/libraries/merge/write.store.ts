import type { Db } from '#platform/db.ts';
import type { FieldName, ItemValues, Layer, NamedCredit } from '#platform/item-values.ts';
import { storableJson } from '#platform/storable-json.ts';
import { FIELDS, fieldColumns, stored } from './fields.ts';
import type { KnownItem } from './known.store.ts';
import { creditRows, peopleOf } from './people.store.ts';

/** New shown values of an item. */
export interface FieldWrite {
  item: Pick<KnownItem, 'id' | 'libraryId'>;
  /** An undefined value empties the field. */
  values: ReadonlyMap<FieldName, unknown>;
  origins: Readonly<Record<string, string>>;
  /** With a changed age rating. */
  ageYears: number | null | undefined;
  /** All locks, when they change too. */
  lockedFields?: readonly string[] | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  year: 'int',
  released_on: 'date',
  rating: 'real',
  taken_at: 'timestamptz',
  index_number: 'int',
  index_end: 'int',
  parent_index: 'int',
  airs_before: 'jsonb',
};
const columns = fieldColumns.map(([name]) => name);
const kept = fieldColumns.map(
  ([name, field]) => `case when '${field}' = any(r.changes) then r.${name} else i.${name} end`,
);

/**
 * Writes shown values with their origins, and the change number that the library has now. Values in a list replace the
 * whole list.
 */
export async function writeFields(db: Db, writes: readonly FieldWrite[]): Promise<void> {
  if (writes.length === 0) return;
  await db.raw(
    `update items i set (${columns.join()}, age_years, details, external_ids, origins, locked_fields, change_seq, revision, updated_at)
     = (${kept.join()}, case when r.aged then r.age_years else i.age_years end, (i.details || r.details) - r.without,
        coalesce(r.external_ids, i.external_ids), r.origins, coalesce(r.locked_fields, i.locked_fields), (select l.change_seq from libraries l where l.id = i.library_id),
        i.revision + 1, now())
     from jsonb_to_recordset(?::jsonb) as r(id uuid, changes text[], ${columns.map((name) => `${name} ${TYPES[name] ?? 'text'}`).join()},
       aged boolean, age_years int, details jsonb, without text[], external_ids jsonb, origins jsonb, locked_fields text[]) where i.id = r.id`,
    [storableJson(writes.map(rowOf))],
  );
  await writeLists(db, writes);
}

/** Writes all locks of items whose values stay, with the change number that their library has now. */
export async function writeLocks(db: Db, locks: ReadonlyMap<string, readonly string[]>): Promise<void> {
  if (locks.size === 0) return;
  await db.raw(
    `update items i set locked_fields = r.fields, revision = i.revision + 1, updated_at = now(),
       change_seq = (select l.change_seq from libraries l where l.id = i.library_id)
     from jsonb_to_recordset(?::jsonb) as r(id uuid, fields text[]) where i.id = r.id`,
    [storableJson([...locks].map(([id, fields]) => ({ id, fields })))],
  );
}

type ListWrite = Pick<FieldWrite, 'item' | 'values'>;

/** Writes tags and people alone. New items have none to remove. */
export async function writeLists(db: Db, writes: readonly ListWrite[], { areNew = false } = {}): Promise<void> {
  await writeTags(db, writes, areNew);
  await writeCredits(db, writes, areNew);
}

function rowOf({ item: { id }, values, origins, ageYears, lockedFields }: FieldWrite): object {
  const details: Record<string, unknown> = {};
  const without: string[] = [];
  const row: Record<string, unknown> = { id, changes: [...values.keys()], origins };
  for (const [name, value] of values) {
    const { place } = FIELDS[name];
    if (place.in === 'column') row[place.column] = name === 'sortTitle' ? String(value).toLowerCase() : value;
    if (place.in === 'ids') row['external_ids'] = value ?? {};
    if (place.in !== 'details') continue;
    const as = stored(name, value as ItemValues[FieldName]);
    if (as === undefined) without.push(place.member);
    else details[place.member] = as;
  }
  return { ...row, details, without, aged: ageYears !== undefined, age_years: ageYears, locked_fields: lockedFields };
}

async function writeTags(db: Db, writes: readonly ListWrite[], areNew: boolean): Promise<void> {
  const lists = writes.flatMap(({ item, values }) =>
    [...values].flatMap(([name, value]) => {
      const { place } = FIELDS[name];
      return place.in === 'tags' ? [{ item, kind: place.kind, names: (value ?? []) as string[] }] : [];
    }),
  );
  if (!areNew && lists.length > 0)
    await db.raw(
      `delete from item_tags t using jsonb_to_recordset(?::jsonb) as r(item_id uuid, kind text) where t.item_id = r.item_id and t.kind = r.kind`,
      [storableJson(lists.map(({ item, kind }) => ({ item_id: item.id, kind })))],
    );
  const rows = lists.flatMap(({ item, kind, names }) =>
    names.map((name) => ({ item_id: item.id, library_id: item.libraryId, kind, name: name.slice(0, 200) })),
  );
  if (rows.length === 0) return;
  await db.raw(
    `insert into item_tags (item_id, library_id, kind, name, name_folded)
     select r.item_id, r.library_id, r.kind, r.name, foyer_fold(r.name)
     from jsonb_to_recordset(?::jsonb) as r(item_id uuid, library_id uuid, kind text, name text) on conflict do nothing`,
    [storableJson(rows)],
  );
}

async function writeCredits(db: Db, writes: readonly ListWrite[], areNew: boolean): Promise<void> {
  const lists = writes.flatMap(({ item, values }) =>
    values.has('people') ? [{ id: item.id, people: (values.get('people') ?? []) as NamedCredit[] }] : [],
  );
  if (lists.length === 0) return;
  const ids = await peopleOf(
    db,
    lists.flatMap(({ people }) => people),
  );
  let at = 0;
  const rows = lists.flatMap(({ id, people }) => {
    const own = ids.slice(at, at + people.length);
    at += people.length;
    return creditRows(id, people, own);
  });
  if (!areNew) await db.raw('delete from credits where item_id = any(?::uuid[])', [lists.map(({ id }) => id)]);
  if (rows.length === 0) return;
  await db.raw(
    `insert into credits (id, item_id, person_id, role, character, job, position, guest)
     select r.id, r.item_id, r.person_id, r.role, r.character, r.job, r.position, coalesce(r.guest, false)
     from jsonb_to_recordset(?::jsonb) as r(id uuid, item_id uuid, person_id uuid, role text, character text, job text, position int, guest boolean)`,
    [storableJson(rows)],
  );
}

/** Removes what persons set. */
export async function dropEdits(db: Db, edits: readonly { item_id: string; field: string }[]): Promise<void> {
  if (edits.length === 0) return;
  await db.raw(
    `delete from item_edits e using jsonb_to_recordset(?::jsonb) as r(item_id uuid, field text) where e.item_id = r.item_id and e.field = r.field`,
    [storableJson(edits)],
  );
}

/** Records what persons set. */
export async function putEdits(
  db: Db,
  edits: readonly { item_id: string; field: string; value: unknown; account_id: string | null }[],
): Promise<void> {
  if (edits.length === 0) return;
  await db.raw(
    `insert into item_edits (item_id, field, value, account_id)
     select r.item_id, r.field, r.value, r.account_id from jsonb_to_recordset(?::jsonb) as r(item_id uuid, field text, value jsonb, account_id uuid)
     on conflict (item_id, field) do update set value = excluded.value, account_id = excluded.account_id, at = now()`,
    [storableJson(edits)],
  );
}

/** What some sources say of an item. */
export interface ItemLayers {
  itemId: string;
  layers: readonly Layer[];
}

/** A name is read in each folder of an item, and another folder may know an id that this one does not. */
const MERGED =
  `case excluded.source when 'file-name' then excluded.fields || case when item_layers.fields ? 'externalIds'
  then jsonb_build_object('externalIds', (item_layers.fields -> 'externalIds') || coalesce(excluded.fields -> 'externalIds', '{}')) else '{}' end
  else excluded.fields end`.replaceAll('?', '\\?');

/**
 * Records what sources give of items and returns the ids of those for which it is news. Sources that are not named keep what
 * they gave.
 */
export async function putLayers(db: Db, all: readonly ItemLayers[]): Promise<string[]> {
  const rows = all.flatMap(({ itemId, layers }) =>
    layers.map(({ source, values }) => ({ item_id: itemId, source: sourceName(source), fields: values })),
  );
  if (rows.length === 0) return [];
  const { rows: changed } = await db.raw<{ rows: { item_id: string }[] }>(
    `insert into item_layers (item_id, source, fields)
     select r.item_id, r.source, r.fields from jsonb_to_recordset(?::jsonb) as r(item_id uuid, source text, fields jsonb)
     on conflict (item_id, source) do update set fields = ${MERGED}, at = now() where item_layers.fields is distinct from ${MERGED}
     returning item_id`,
    [storableJson(rows)],
  );
  return [...new Set(changed.map((row) => row.item_id))];
}

/** The name under which a source is stored. */
export const sourceName = (source: Layer['source']): string => (typeof source === 'string' ? source : source.agent);

/** Forgets what some sources gave of items. */
export async function dropLayers(db: Db, ids: readonly string[], sources: readonly string[]): Promise<void> {
  await db('item_layers')
    .whereRaw('item_id = any(?::uuid[]) and source = any(?::text[])', [[...ids], [...sources]])
    .delete();
}
