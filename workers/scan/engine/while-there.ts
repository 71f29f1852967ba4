import { rowsOf } from '#platform/rows.ts';
import type { ScannedFolder } from '../store/context.ts';
import { WalkFailed } from '../walk/walker.ts';
import type { Scan } from './scan.ts';

const LOOK_MS = 2000;

/**
 * Runs work on a folder until a check of its storage finds that it is unavailable. Then it throws `WalkFailed` at once: a call to
 * a mount that hangs may never return. What it left running stops at its next step, by the signal of the scan that it got.
 */
export async function whileThere<T>(scan: Scan, folder: ScannedFolder, work: (inside: Scan) => Promise<T>): Promise<T> {
  const lost = new AbortController();
  const { promise: loss, reject } = Promise.withResolvers<never>();
  const look = async (): Promise<void> => {
    if (!(await isLost(scan, folder))) return;
    const why = new WalkFailed('the storage is unavailable');
    lost.abort(why);
    reject(why);
  };
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS); // without the database nothing is known
  const running = work({ ...scan, signal: AbortSignal.any([scan.signal, lost.signal]) });
  running.catch(() => undefined);
  loss.catch(() => undefined);
  try {
    return await Promise.race([running, loss]);
  } finally {
    clearInterval(timer);
  }
}

/** A folder that was removed is lost too. */
async function isLost({ work: { db } }: Scan, { id, storageId }: ScannedFolder): Promise<boolean> {
  const [found] = await rowsOf<{ lost: boolean }>(
    db,
    `select not s.enabled or s.state in ('unavailable', 'suspect') or f.away as lost
     from storages s join library_folders f on f.id = ? where s.id = ?`,
    [id, storageId],
  );
  return found?.lost ?? true;
}
