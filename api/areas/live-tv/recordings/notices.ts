import { notify } from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';
import type { RecordingRow } from './recordings.store.ts';

/** Notifies the owners of recordings that lost their slot, or never had one. */
export async function notifyConflicts(db: Db, rows: readonly RecordingRow[]): Promise<void> {
  for (const row of rows) {
    if (row.account_id === null) continue;
    await notify(db, {
      ...{
        kind: 'recording-conflict',
        to: { accountIds: [row.account_id] },
        target: { kind: 'recording', id: row.id },
      },
      ...(row.channel_id !== null && { itemId: row.channel_id }),
      data: { name: row.title, channel: row.channel_name },
      ...{ url: `/live/recordings?recording=${row.id}`, expiresAt: row.end_at.toISOString() },
    });
  }
}
