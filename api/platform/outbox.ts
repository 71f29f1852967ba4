import type { Db } from './db.ts';
import { type EventFacts, type EventName, events, type Payload } from './events.ts';
import { newId } from './ids.ts';

/** Channel that wakes the relay after a commit. */
export const OUTBOX_CHANNEL = 'foyer_outbox';

export interface Emitted {
  id: string;
  event: EventName;
  /** The database's time of the change. */
  at: Date;
  payload: Record<string, unknown>;
  facts: EventFacts;
}

type Follower = (db: Db, event: Emitted) => Promise<void>;
let follower: Follower | undefined;

/** What else is written with every event, in its transaction (Webhooks); said once by each process that makes events. */
export function followEvents(next: Follower): void {
  follower = next;
}

/** Writes the event in the caller's transaction: a rollback sends nothing, a commit sends it once. */
export async function emit<N extends EventName>(
  db: Db,
  name: N,
  event: { payload: Payload<N>; facts?: EventFacts },
): Promise<void> {
  await publish(db, name, event);
}

/** As `emit`; answers what was written. */
export async function publish<N extends EventName>(
  db: Db,
  name: N,
  { payload, facts = {} }: { payload: Payload<N>; facts?: EventFacts },
): Promise<Emitted> {
  const checked = events[name].payload.parse(payload) as Record<string, unknown>;
  const id = newId();
  const [row] = await db('outbox')
    .insert({ id, event: name, payload: JSON.stringify(checked), facts: JSON.stringify(facts) })
    .returning<{ at: Date }[]>('at');
  await db.raw(`select pg_notify(?, '')`, [OUTBOX_CHANNEL]);
  const emitted = { id, event: name, at: row?.at ?? new Date(), payload: checked, facts };
  await follower?.(db, emitted);
  return emitted;
}
