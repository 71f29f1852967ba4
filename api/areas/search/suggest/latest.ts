import { stoppedInTime } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Db, stopStatement, withConnection } from '#platform/db.ts';
import { limits, MOST_MS } from '../found/within.ts';

interface Question {
  /** When it arrived. */
  began: number;
  /** Ends its database work. */
  end: AbortController;
}

/** The latest question of each device that is being answered. */
const latest = new Map<string, Question>();

/**
 * Runs the reads of a question in one transaction. They end when the same device sends a later question, when the caller disconnects, and
 * after two seconds; the result is then undefined. Questions are in the order in which they arrived: an earlier one that waited longer
 * before it came here does not end a later one.
 */
export async function latestOfDevice<T>(call: Call, read: (db: Db) => Promise<T>): Promise<T | undefined> {
  const device = call.who.deviceId ?? `${call.who.accountId}:${call.client.id ?? ''}`;
  const other = latest.get(device);
  if (other && other.began > call.began) return undefined;
  other?.end.abort();
  const own: Question = { began: call.began, end: new AbortController() };
  latest.set(device, own);
  const ended = AbortSignal.any([own.end.signal, call.signal]);
  try {
    return await call.db.transaction((transaction) =>
      withConnection(transaction, async (connection) => {
        let stopping: Promise<unknown> | undefined;
        const stop = (): void => {
          stopping = stopStatement(transaction, connection);
        };
        ended.addEventListener('abort', stop, { once: true });
        try {
          ended.throwIfAborted();
          await transaction.raw(limits(MOST_MS));
          return await read(transaction);
        } finally {
          ended.removeEventListener('abort', stop);
          await stopping; // the connection may serve another request as soon as this one ends
        }
      }),
    );
  } catch (error) {
    if (ended.aborted || stoppedInTime(error)) return undefined;
    throw error;
  } finally {
    if (latest.get(device) === own) latest.delete(device);
  }
}
