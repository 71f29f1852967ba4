import type { Db } from '#platform/db.ts';
import { identifyPeople } from '#platform/identify-people.ts';
import { newId } from '#platform/ids.ts';
import type { NamedCredit } from '#platform/item-values.ts';
import { rowsOf } from '#platform/rows.ts';

/** A name that Postgres takes. */
const storable = (name: string): string => name.slice(0, 200).replaceAll('\0', '').toWellFormed();

/**
 * Ids of the people of credits, in the same order, creating missing ones; undefined for those who are blocked. A person
 * who was merged is the one that remains, and one who was deleted is found by name.
 */
export async function peopleOf(db: Db, credits: readonly NamedCredit[]): Promise<(string | undefined)[]> {
  const known = await remaining(
    db,
    credits.flatMap(({ personId }) => personId ?? []),
  );
  const ids = credits.map(({ personId }) => personId && known.get(personId));
  const isNamed = (credit: NamedCredit, at: number): boolean => ids[at] === undefined && Boolean(credit.name);
  const named = credits.filter(isNamed).map((one) => ({ name: storable(one.name), externalIds: one.ids }));
  const found = named.length === 0 ? [] : await identifyPeople(db, named);
  let next = 0;
  return credits.map((credit, at) => (isNamed(credit, at) ? found[next++] : ids[at]));
}

/** The people that ids mean now, by id. */
async function remaining(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await rowsOf<{ id: string; now: string }>(
    db,
    `select id, id as now from people where id = any(?::uuid[])
     union all select old_id, person_id from person_aliases where old_id = any(?::uuid[])`,
    [[...ids], [...ids]],
  );
  return new Map(rows.map(({ id, now }) => [id, now]));
}

/** The rows of an item's credits, in order. */
export function creditRows(
  itemId: string,
  people: readonly NamedCredit[],
  ids: readonly (string | undefined)[],
): object[] {
  return people.flatMap(({ role, character, job, guest }, position) => {
    const person = ids[position];
    if (person === undefined) return [];
    const words = { character: character?.slice(0, 200), job: job?.slice(0, 200) };
    return [{ id: newId(), item_id: itemId, person_id: person, role, position, guest, ...words }];
  });
}
