import type { RecordingRow } from '#areas/live-tv/public.ts';
import { notify } from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';

/** Notifies the owner of a recording that it failed, or that its item is there. */
export async function notifyOwner(
  db: Db,
  row: RecordingRow,
  news: { kind: 'recording-failed' } | { kind: 'recording-finished'; itemId: string },
): Promise<void> {
  if (row.account_id === null) return;
  const itemId = news.kind === 'recording-finished' ? news.itemId : undefined;
  const about = itemId ?? row.channel_id;
  await notify(db, {
    ...{ kind: news.kind, to: { accountIds: [row.account_id] }, target: { kind: 'recording', id: row.id } },
    ...(about !== null && { itemId: about }),
    data: { name: row.title, channel: row.channel_name },
    url: itemId === undefined ? `/live/recordings?recording=${row.id}` : `/item/${itemId}`,
  });
}
