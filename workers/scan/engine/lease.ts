import type { Db } from '#platform/db.ts';
import { forgetLosses } from '#platform/queue.ts';
import { rowsOf } from '#platform/rows.ts';
import { Cancelled, type Counts, LeaseLost } from './scan.ts';

const LEASE = `interval '15 seconds'`;
const RENEW_MS = 5000;
const LOOK_MS = 1000;

interface Held {
  db: Db;
  scanId: string;
  token: string;
}

export interface Lease {
  signal: AbortSignal;
  stop(): void;
}

/**
 * Renews the lease every 5 seconds and checks each second whether the scan was cancelled; either loss aborts the
 * signal.
 */
export function keepLease(held: Held): Lease {
  const ended = new AbortController();
  const renew = setInterval(() => void attempt(() => renewed(held), ended, new LeaseLost('lease lost')), RENEW_MS);
  const look = setInterval(() => void attempt(() => wanted(held), ended, new Cancelled('cancelled')), LOOK_MS);
  return {
    signal: ended.signal,
    stop() {
      clearInterval(renew);
      clearInterval(look);
    },
  };
}

/** A database that is briefly unavailable proves nothing about the lease; the next write checks it. */
async function attempt(check: () => Promise<boolean>, ended: AbortController, why: Error): Promise<void> {
  const good = await check().catch(() => true);
  if (!good) ended.abort(why);
}

async function renewed({ db, scanId, token }: Held): Promise<boolean> {
  const rows = await db('scans')
    .where({ id: scanId, lease_holder: token, state: 'running' })
    .update({ lease_until: db.raw(`now() + ${LEASE}`) });
  return rows > 0;
}

async function wanted({ db, scanId }: Held): Promise<boolean> {
  const row = await db('scans').where({ id: scanId }).first('cancel_requested');
  return row !== undefined && !row.cancel_requested;
}

/**
 * Checks the lease in a transaction of the scan; throws when another worker took over. Stores the counts of the
 * checkpoint. Growing counts are progress, so workers lost before no longer count against the scan.
 */
export async function fence(
  db: Db,
  { scanId, token, counts }: { scanId: string; token: string; counts: Counts },
): Promise<void> {
  const [held] = await rowsOf<{ job_id: string | null; stalls: number }>(
    db,
    `update scans set counts = ?, lease_until = now() + ${LEASE}, stalls = case when ${WRITTEN} < ? then 0 else stalls end
     where id = ? and lease_holder = ? and state = 'running' returning job_id, stalls`,
    [JSON.stringify(counts), written(counts), scanId, token],
  );
  if (!held) throw new LeaseLost('lease lost');
  if (held.stalls === 0 && held.job_id) await forgetLosses(db, held.job_id);
}

/** Counts of written changes. Only new ones are progress, so a file that kills each worker is given up in the end. */
const MARKS = ['added', 'updated', 'moved', 'returned', 'missing'] as const;
const WRITTEN = MARKS.map((name) => `coalesce((counts ->> '${name}')::int, 0)`).join(' + ');
const written = (counts: Counts): number => MARKS.reduce((sum, name) => sum + counts[name], 0);
