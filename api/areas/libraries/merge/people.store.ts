import type { Db } from '#platform/db.ts';
import { identifyPeople } from '#platform/identify-people.ts';
import { newId } from '#platform/ids.ts';
import type { NamedCredit } from '#platform/item-values.ts';

/** A name that Postgres takes. */
const storable = (name: string): string => name.slice(0, 200).replaceAll('\0', '').toWellFormed();

/** Ids of the people of credits, in the same order, creating missing ones; undefined for those who are blocked. */
export async function peopleOf(db: Db, credits: readonly NamedCredit[]): Promise<(string | undefined)[]> {
  const named = credits.flatMap(({ personId, name, ids }) =>
    personId === undefined ? [{ name: storable(name), externalIds: ids }] : [],
  );
  const found = named.length === 0 ? [] : await identifyPeople(db, named);
  let at = 0;
  return credits.map(({ personId }) => personId ?? found[at++]);
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
