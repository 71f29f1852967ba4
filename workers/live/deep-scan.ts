// Lets a device search its frequencies: lineup.post starts it, lineup_status.json shows it.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Work } from '../work.ts';
import { deviceBase, fetchJsonOf, type LineupPlace, type Reach } from './lineup.ts';

const Status = z.object({
  ScanInProgress: z.coerce.number().default(0),
  ScanPossible: z.coerce.number().default(1),
  Progress: z.coerce.number().min(0).max(100).default(0),
  Found: z.coerce.number().min(0).default(0),
});

const ANSWER_MS = 10_000;
const LOOK_MS = 1000;
const MOST_MS = 30 * 60_000;

/** Ends when the device has searched. A device or program that cannot search is left as it is. */
export async function searchFrequencies(place: LineupPlace, reach: Reach, work: Work): Promise<void> {
  const base = await deviceBase(place, reach);
  const fetchJson = fetchJsonOf(place, reach, ANSWER_MS);
  const status = async () => Status.parse(await fetchJson(`${base}/lineup_status.json`));
  if ((await status()).ScanPossible === 0) return;
  const post = { method: 'POST' as const, ...reach.networks, timeoutMs: ANSWER_MS, signal: work.signal };
  await reach.outbound(`${base}/lineup.post?scan=start`, post);
  for (const end = Date.now() + MOST_MS; Date.now() < end; ) {
    const { ScanInProgress, Progress, Found } = await status();
    if (ScanInProgress === 0) return;
    await work.report(work.db, {
      done: Found,
      total: Math.max(Found, Math.round((Found * 100) / Math.max(1, Progress))),
      unit: 'items',
    });
    await sleep(LOOK_MS, undefined, { signal: work.signal });
  }
}
