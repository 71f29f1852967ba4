import type { Db } from '#platform/db.ts';

/** Key of a text that the server keeps, in the bucket `foyer-subtitles`. */
export const keptKey = (sha256: string): string => `kept/${sha256}`;

/** Keys of the texts that the server keeps for these streams, by stream. */
export async function findKeptKeys(db: Db, streamIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db('kept_subtitles')
    .whereRaw('stream_id = any(?::uuid[])', [[...streamIds]])
    .select('stream_id', 'sha256');
  return new Map(rows.map((row) => [row.stream_id, keptKey(row.sha256)]));
}
