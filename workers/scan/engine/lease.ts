import type { Db } from '#platform/db.ts';
import { Cancelled, LeaseLost } from './scan.ts';

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
  const row = await db('scans')
    .where({ id: scanId })
    .first<{ cancel_requested: boolean } | undefined>('cancel_requested');
  return row !== undefined && !row.cancel_requested;
}

/** In a transaction of the scan: throws when another worker took it over. Keeps the counts as the checkpoint. */
export async function fence(
  db: Db,
  { scanId, token, counts }: { scanId: string; token: string; counts: object },
): Promise<void> {
  const rows = await db('scans')
    .where({ id: scanId, lease_holder: token, state: 'running' })
    .update({ counts: JSON.stringify(counts), stalls: 0, lease_until: db.raw(`now() + ${LEASE}`) });
  if (rows === 0) throw new LeaseLost('lease lost');
}
