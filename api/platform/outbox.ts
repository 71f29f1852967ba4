import type { Db } from './db.ts';
import { type EventFacts, type EventName, events, type Payload } from './events.ts';
import { newId } from './ids.ts';

/** Channel that wakes the relay after a commit. */
export const OUTBOX_CHANNEL = 'foyer_outbox';

/** Writes the event in the caller's transaction: a rollback sends nothing, a commit sends it once. */
export async function emit<N extends EventName>(
  db: Db,
  name: N,
  { payload, facts = {} }: { payload: Payload<N>; facts?: EventFacts },
): Promise<void> {
  const checked = events[name].payload.parse(payload);
  await db('outbox').insert({
    id: newId(),
    event: name,
    payload: JSON.stringify(checked),
    facts: JSON.stringify(facts),
  });
  await db.raw(`select pg_notify(?, '')`, [OUTBOX_CHANNEL]);
}
