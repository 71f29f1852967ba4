import { principalOf } from '#identity/account-row.ts';
import type { Db } from '#platform/db.ts';
import type { Emitted } from '#platform/outbox.ts';
import { asVisibleTo, forClass, forPerson } from './audience.ts';
import { type Reader, readerFor, type WholeReader } from './reader.ts';

/** What an account reads as, with its main profile; undefined when there is no such account. */
export async function readerOf(db: Db, accountId: string): Promise<WholeReader | undefined> {
  const who = await principalOf(db, accountId);
  return who && readerFor(db, who);
}

/** The event as it is to this reader: `item.updated` may be an item that went or came. */
export const eventFor = (event: Emitted, reader: Reader): Emitted => asVisibleTo(event, reader.class);

/** The payload as this reader gets it by SPEC 6 rules 3-6; undefined when the event is not for it. */
export function payloadFor(event: Emitted, reader: Reader): Record<string, unknown> | undefined {
  const published = { ...event, number: 0, at: event.at.toISOString() };
  return forClass(published, reader.class) ?? forPerson(published, reader);
}

export { REPLAYED, SUPERSEDED } from './feed.ts';
export type { WholeReader } from './reader.ts';
