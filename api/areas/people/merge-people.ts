import { adoptPortraits, survivorOf } from '#areas/artwork/public.ts';
import { redirectValues } from '#areas/custom-fields/public.ts';
import { raiseChanges, touchItems } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import type { Row } from '#platform/typed-query.ts';
import { type CreditMove, moveCredits, moveFavorites, noteAliases } from './merge.store.ts';
import {
  itemsCrediting,
  librariesOf,
  lockPeople,
  type PersonColumns,
  settleCounts,
  updatePersonRow,
} from './people.store.ts';
import { getVisiblePerson } from './people.view.ts';
import { MOST_EVENTS } from './remove-person.ts';

/** Merges people into one and returns the id of that one. Ids that were merged into it before are left out. */
export async function mergeInto(call: Call, targetId: string, personIds: readonly string[]): Promise<string> {
  const { db } = call;
  if (personIds.includes(targetId)) {
    throw invalid(['body', 'personIds'], 'itself', 'a person is not merged into themselves');
  }
  const wanted: string[] = [];
  for (const id of personIds) wanted.push(await getVisiblePerson(call, id));
  await raiseChanges(db, await librariesOf(db, [targetId, ...wanted]));
  await lockPeople(db, [targetId, ...wanted]);
  // another merge may have ended while this one waited
  const into = await survivorOf(db, targetId);
  const others = await survivors(call, wanted, into);
  const [target] = await rowsOf(call, [into]);
  if (!target) throw notFound();
  if (others.length === 0) return into;
  const items = await itemsCrediting(db, others, MOST_EVENTS);
  await moveAll(call, target, await rowsOf(call, others));
  await touchItems(db, items, ['people']);
  await settleCounts(db);
  await audit(call, 'person.merged', { personId: into, personIds: others });
  return into;
}

async function survivors({ db }: Call, ids: readonly string[], into: string): Promise<string[]> {
  const own = await Promise.all(ids.map((id) => survivorOf(db, id)));
  return [...new Set(own)].filter((id) => id !== into);
}

/** The rows in the order of `ids`, locked. */
async function rowsOf({ db }: Call, ids: readonly string[]): Promise<Row<'people'>[]> {
  await lockPeople(db, ids);
  const rows = await db('people').whereRaw('id = any(?::uuid[])', [[...ids]]);
  return ids.flatMap((id) => rows.find((row) => row.id === id) ?? []);
}

async function moveAll({ db }: Call, target: Row<'people'>, others: readonly Row<'people'>[]): Promise<void> {
  const move: CreditMove = { into: target.id, from: others.map(({ id }) => id) };
  await moveCredits(db, move);
  await moveFavorites(db, move);
  await noteAliases(db, move);
  await adoptPortraits(db, move);
  await redirectValues(
    db,
    move.from.map((from) => ({ from, into: move.into })),
  );
  await db('people')
    .whereRaw('id = any(?::uuid[])', [[...move.from]])
    .delete();
  await updatePersonRow(db, target.id, completed(target, others));
}

/** Most aliases of a person. */
const MOST_ALIASES = 50;

const FACTS = ['birthday', 'deathday', 'birthplace', 'biography', 'homepage', 'sort_name'] as const;

/** What the survivor gains: names, missing facts with their locks, and ids; ids that differ are further ids. */
function completed(target: Row<'people'>, others: readonly Row<'people'>[]): PersonColumns {
  const facts = Object.fromEntries(
    FACTS.flatMap((name) => {
      const value = others.map((other) => other[name]).find((one) => one !== null);
      return target[name] === null && value !== undefined ? [[name, asText(value)]] : [];
    }),
  ) as PersonColumns;
  const names = [...target.aliases, ...others.flatMap((other) => [other.name, ...other.aliases])];
  const aliases = [...new Set(names)].filter((name) => name !== target.name).slice(0, MOST_ALIASES);
  const all = others.flatMap((other) => [
    ...Object.entries(other.external_ids).map(([provider, value]) => ({ provider, value })),
    ...other.further_ids,
  ]);
  const external_ids = {
    ...Object.fromEntries(all.map(({ provider, value }) => [provider, value])),
    ...target.external_ids,
  };
  const further_ids = [...target.further_ids, ...all.filter(({ provider, value }) => external_ids[provider] !== value)];
  return { ...facts, aliases, external_ids, further_ids: unique(further_ids) };
}

const asText = (value: string | Date): string => (value instanceof Date ? dayOf(value) : value);

/** Postgres' days are midnight in the local time of this process. */
const dayOf = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part, at) => String(part).padStart(at === 0 ? 4 : 2, '0'))
    .join('-');

function unique(ids: readonly { provider: string; value: string }[]): { provider: string; value: string }[] {
  return [...new Map(ids.map((id) => [`${id.provider}:${id.value}`, id])).values()];
}
