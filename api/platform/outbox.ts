import type { Db } from './db.ts';
import { type EventFacts, type EventName, events, type Payload } from './events.ts';
import { newId } from './ids.ts';

declare module './column-types.ts' {
  interface ColumnTypes {
    'events.event': EventName;
    'events.payload': Record<string, unknown>;
    'events.facts': EventFacts;
  }
}

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

/** Receives the events of one `emit`. */
type Follower = (db: Db, events: readonly Emitted[]) => Promise<void>;
let follower: Follower | undefined;

/**
 * Sets a function that writes more rows with every event, in its transaction (Webhooks); called once by each process
 * that emits events.
 */
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

/** Like `emit`; returns the written events. */
export async function publish<N extends EventName>(
  db: Db,
  name: N,
  event: { payload: Payload<N>; facts?: EventFacts },
): Promise<Emitted> {
  const [emitted] = await publishMany(db, name, [event]);
  if (!emitted) throw new Error('no event');
  return emitted;
}

const BATCH = 1000;

/** Like `emit` for each of them in order, with few statements. */
export async function emitMany<N extends EventName>(
  db: Db,
  name: N,
  events: readonly { payload: Payload<N>; facts?: EventFacts }[],
): Promise<void> {
  for (let at = 0; at < events.length; at += BATCH) await publishMany(db, name, events.slice(at, at + BATCH));
}

async function publishMany<N extends EventName>(
  db: Db,
  name: N,
  many: readonly { payload: Payload<N>; facts?: EventFacts }[],
): Promise<Emitted[]> {
  const made = many.map(({ payload, facts = {} }) => ({
    id: newId(),
    event: name,
    payload: events[name].payload.parse(payload) as Record<string, unknown>,
    facts,
  }));
  const rows = await db('outbox')
    .insert(made.map((one) => ({ ...one, payload: JSON.stringify(one.payload), facts: JSON.stringify(one.facts) })))
    .returning('at');
  await db.raw(`select pg_notify(?, '')`, [OUTBOX_CHANNEL]);
  const at = rows[0]?.at ?? new Date(); // the transaction's time, the same for all
  const emitted = made.map((one) => ({ ...one, at }));
  await follower?.(db, emitted);
  return emitted;
}
