// Uploads of recordings at once in a process.
import { Postponed } from '#workers/work.ts';

/** Live jobs share four places of a process with interactive ones, and an upload may hold its place for hours. */
const MOST_UPLOADS = 2;
const PAUSE_MS = 5000;

let uploads = 0;

/** Runs `work` while fewer than two others run; throws `Postponed` otherwise. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (uploads >= MOST_UPLOADS) throw new Postponed(new Date(Date.now() + PAUSE_MS), 'slot');
  uploads += 1;
  try {
    return await work();
  } finally {
    uploads -= 1;
  }
}
