import { principalOf } from '#identity/account-row.ts';
import type { Db } from '#platform/db.ts';
import type { Emitted } from '#platform/outbox.ts';
import { asVisibleTo, forClass, forPerson } from './audience.ts';
import { type Reader, readerFor, type WholeReader } from './reader.ts';

/** The account as a reader, with its main profile; undefined for an unknown account. */
export async function readerOf(db: Db, accountId: string): Promise<WholeReader | undefined> {
  const who = await principalOf(db, accountId);
  return who && readerFor(db, who);
}

/** The event for this reader: `item.updated` may be `item.deleted` or `item.added` for it. */
export const eventFor = (event: Emitted, reader: Reader): Emitted => asVisibleTo(event, reader.class);

/** The payload that this reader may see; undefined when it does not get the event. */
export function payloadFor(event: Emitted, reader: Reader): Record<string, unknown> | undefined {
  const published = { ...event, number: 0, at: event.at.toISOString() };
  return forClass(published, reader.class) ?? forPerson(published, reader);
}

export { REPLAYED, SUPERSEDED } from './feed.ts';
export type { WholeReader } from './reader.ts';
