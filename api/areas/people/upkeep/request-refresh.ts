import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { lockPeople } from '../people.store.ts';
import { personAgents } from './agents.ts';

/** Enqueues the refresh of a person, or returns the one that waits or runs. Throws 409 `no-identity`. */
export async function requestRefresh(
  call: Call,
  personId: string,
  wanted: { replacePortrait: boolean } | undefined,
): Promise<string> {
  const { db } = call;
  await lockPeople(db, [personId]);
  const identified = await db('person_ids').where({ person_id: personId }).first('provider');
  if (!identified && !personAgents().some(({ searchesByName }) => searchesByName)) {
    throw conflict('no-identity', 'The person has no external id, and no agent searches by name');
  }
  const key = `people.refresh:${personId}`;
  const running = await db('jobs').where({ key, state: 'active' }).first('id');
  if (running) return running.id;
  const person = await db('people').where({ id: personId }).first('name');
  return call.enqueue(
    'people.refresh',
    { personId, replacePortrait: wanted?.replacePortrait ?? false },
    { key, target: { kind: 'person', id: personId, ...(person && { title: person.name }) } },
  );
}
