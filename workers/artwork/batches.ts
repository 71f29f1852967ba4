// Works through the items whose pictures are looked for, some at once, until none is due.
import { endStage, nextDue, type Pending, putOff, type Stage, takePending } from '#areas/artwork/public.ts';
import { ApiError } from '#kernel/errors.ts';
import { ObjectsUnavailable } from '#platform/objects.ts';
import { ParserUnavailable } from '#platform/pictures.ts';
import { Postponed, type Work } from '../work.ts';
import { StorageGone } from './local.ts';

interface Round {
  libraryId: string | undefined;
  stages: readonly Stage[];
  /** Items at once. */
  width: number;
  /** One item; returns its next stage, or undefined after the last. */
  each: (pending: Pending) => Promise<Stage | undefined>;
}

const BATCH = 64;
const STORAGE_MINUTES = 10;
const SERVER_MINUTES = 1;

/**
 * Throws `Postponed` while items wait for a storage, for the parser or for another worker. Returns the number of items
 * that were finished.
 */
export async function workThrough(work: Work, round: Round): Promise<number> {
  let done = 0;
  for (;;) {
    work.signal.throwIfAborted();
    const batch = await takePending(work.db, { ...round, limit: BATCH });
    if (batch.length === 0) break;
    const left = [...batch];
    const one = async (): Promise<void> => {
      for (let pending = left.shift(); pending; pending = left.shift()) {
        work.signal.throwIfAborted();
        done += await finish(work, round, pending);
      }
    };
    await Promise.all(Array.from({ length: round.width }, one));
    await work.report(work.db, { done, unit: 'items' });
  }
  const due = await nextDue(work.db, round);
  if (due) throw new Postponed(new Date(Math.max(due.getTime(), Date.now() + 1000)));
  return done;
}

/** 1 for a finished item, 0 for one that waits. A picture's own fault ends with the item, see `each`. */
async function finish(work: Work, { each }: Round, pending: Pending): Promise<0 | 1> {
  try {
    await endStage(work.db, pending, await each(pending));
    return 1;
  } catch (error) {
    if (work.signal.aborted) throw error;
    const minutes = waitFor(error);
    if (minutes === undefined) throw error;
    await putOff(work.db, pending, minutes);
    return 0;
  }
}

/** Minutes until another attempt; undefined for a fault of the program. */
function waitFor(error: unknown): number | undefined {
  if (error instanceof StorageGone) return STORAGE_MINUTES;
  const starting = error instanceof ApiError && error.code === 'SERVICE_STARTING';
  const waits = starting || error instanceof ParserUnavailable || error instanceof ObjectsUnavailable;
  return waits ? SERVER_MINUTES : undefined;
}
