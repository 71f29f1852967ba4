import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { encodeKeyframes, type ProbedFile } from '#platform/media.ts';
import { readKeyframes } from './probe/keyframes.ts';
import { FinalFailure, type Work } from './work.ts';

interface Row {
  id: string;
  storage_id: string;
  path: string;
  probe: ProbedFile | null;
  size_bytes: number;
  modified_ms: number;
}

/** The keyframes of a file whose container has no index of them: one read of its packets. Kept only for the file as it was. */
export async function indexKeyframes({ fileId }: JobPayload<'media.keyframes'>, work: Work): Promise<void> {
  const { db, config, signal } = work;
  const row = await db('media_files')
    .where({ id: fileId })
    .whereNull('keyframes')
    .first<Row | undefined>('id', 'storage_id', 'path', 'probe', 'size_bytes', 'modified_ms');
  if (!row?.probe) return;
  const storage = (await findStorages(db, [row.storage_id])).get(row.storage_id);
  const place = storage && (await placeInStorage(config, storage, row.path));
  if (place?.kind !== 'there') throw new FinalFailure('STORAGE_UNAVAILABLE', 'The file is not to be reached');
  const times = await readKeyframes(place.absolute, row.probe, { signal });
  await db('media_files')
    .where({ id: fileId, size_bytes: row.size_bytes, modified_ms: row.modified_ms })
    .update({ keyframes: encodeKeyframes(times) });
}
