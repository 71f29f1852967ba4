import { setTimeout as sleep } from 'node:timers/promises';
import { stopTranscodeSessions } from '#areas/streaming/public.ts';
import { type StopReason, stopSession } from '#areas/viewing/public.ts';
import { hiddenByLabelsSql } from '#kernel/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';

const EVERY_MS = 15_000;

const hidden = hiddenByLabelsSql('i', 'p');

/** Sessions whose time is up, by what nobody reported and no bytes were fetched, or whose account may not go on, or not with this item. */
const DUE = `
  select s.id, case when a.disabled or ${hidden} then 'limit' else 'timeout' end as reason
  from playback_sessions s join accounts a on a.id = s.account_id join profiles p on p.id = s.profile_id
    join items i on i.id = s.item_id
  where s.state <> 'stopped' and (a.disabled or ${hidden}
    or greatest(s.last_report_at, s.last_bytes_at) <
       now() - case when s.state = 'paused' then interval '30 minutes' else interval '60 seconds' end)`;

/** One worker at a time sweeps; the others find the lock taken. */
export async function sweepOnce(db: Db): Promise<number> {
  return db.transaction(async (transaction) => {
    const lock = await transaction.raw<{ rows: { got: boolean }[] }>(
      `select pg_try_advisory_xact_lock(hashtext('foyer.playback-sweeper')) as got`,
    );
    if (!lock.rows[0]?.got) return 0;
    const due = await transaction.raw<{ rows: { id: string; reason: StopReason }[] }>(DUE);
    for (const { id, reason } of due.rows) {
      await stopSession(transaction, id, { reason });
      await stopTranscodeSessions(transaction, id);
    }
    return due.rows.length;
  });
}

/** Every 15 seconds until aborted; a lost database is no reason to end. */
export async function sweepPlayback(db: Db, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sweepOnce(db).catch((error: Error) => log.warn({ err: error.message }, 'playback not swept'));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
