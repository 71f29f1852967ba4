import type { Db } from '#platform/db.ts';
import { forgetLosses } from '#platform/queue.ts';
import { rowsOf } from '../store/context.ts';
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

/** Renews the lease every 5 seconds and looks each second whether the scan was cancelled; either ends the signal. */
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

/** A database that is away for a moment says nothing about the lease: the next write will. */
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
 * In a transaction of the scan: throws when another worker took it over. Keeps the counts as the checkpoint. Where they grew the
 * scan got further, and workers that it lost before no longer count against it.
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

/** What a scan wrote. Only what is new counts, so a file that ends each of its workers is given up in the end. */
const MARKS = ['added', 'updated', 'moved', 'returned', 'missing'] as const;
const WRITTEN = MARKS.map((name) => `coalesce((counts ->> '${name}')::int, 0)`).join(' + ');
const written = (counts: Counts): number => MARKS.reduce((sum, name) => sum + counts[name], 0);
