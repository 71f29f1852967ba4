import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { findItemSummaries } from '../item/summaries.store.ts';
import type { ItemSummary } from '../items.schemas.ts';
import { hasField, isFor, withVisiblePerson } from './custom-fields.ts';
import { type Definition, listDefinitions, listValues, type ValueRow } from './custom-fields.view.ts';

const REFERENCES: readonly Definition['kind'][] = ['item', 'person'];

type Value = string | number | boolean | string[];

/** Values of custom fields by item, in the order of the fields. References to hidden items are left out. */
export async function findCustomValues(
  db: Db,
  who: Principal,
  items: readonly Pick<ItemSummary, 'id' | 'type' | 'libraryId'>[],
): Promise<Map<string, Record<string, Value>>> {
  const fields = (await listDefinitions(db)).filter((field) => isFor(who, field));
  if (fields.length === 0 || items.length === 0) return new Map();
  const rows = Map.groupBy(
    await listValues(
      db,
      items.map(({ id }) => id),
    ),
    ({ item_id: item, field_id: field }) => `${item} ${field}`,
  );
  const seen = await visibleTargets({ db, who }, fields, [...rows.values()].flat());
  return new Map(
    items.map(({ id, type, libraryId }) => {
      const own = fields.filter((field) => hasField(field, type, libraryId));
      const values = own.flatMap((field): [string, Value][] => {
        const value = readValue(field, rows.get(`${id} ${field.id}`) ?? []);
        return value === undefined || (REFERENCES.includes(field.kind) && !seen.has(String(value)))
          ? []
          : [[field.key, value]];
      });
      return [id, Object.fromEntries(values)];
    }),
  );
}

/** Ids of the items and people behind these values that the caller may see. */
async function visibleTargets(
  { db, who }: { db: Db; who: Principal },
  fields: readonly Definition[],
  rows: readonly ValueRow[],
): Promise<Set<string>> {
  const of = (kind: Definition['kind']): string[] => {
    const own = new Set(fields.filter((field) => field.kind === kind).map(({ id }) => id));
    return [...new Set(rows.flatMap((row) => (own.has(row.field_id) && row.ref_id ? [row.ref_id] : [])))];
  };
  const items = await findItemSummaries(db, who, of('item'));
  return new Set([...items.keys(), ...(await seenPeople({ db, who }, of('person')))]);
}

async function seenPeople({ db, who }: { db: Db; who: Principal }, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows: { ref_id: string }[] = await db
    .from(db.raw('unnest(?::uuid[]) as v(ref_id)', [[...ids]]))
    .modify(withVisiblePerson, who)
    .select('v.ref_id');
  return rows.map(({ ref_id: id }) => id);
}

function readValue({ kind }: Definition, rows: readonly ValueRow[]): Value | undefined {
  const [row] = rows;
  if (!row) return undefined;
  if (kind === 'choices') return rows.flatMap(({ text_value: text }) => text ?? []);
  return row.text_value ?? row.number_value ?? row.bool_value ?? row.day ?? row.ref_id ?? undefined;
}
