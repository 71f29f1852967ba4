import { openMedia, type Wanted } from '#areas/storage/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { encodeKeyframes } from '#platform/media.ts';
import type { Row } from '#platform/typed-query.ts';
import { readKeyframes } from './probe/keyframes.ts';
import { probeAgain } from './probe-again.ts';
import { FinalFailure, type Work } from './work.ts';

const COLUMNS = [
  ...(['id', 'item_id', 'library_id', 'storage_id', 'folder_id', 'path', 'probe', 'probe_fault'] as const),
  ...(['probe_version', 'size_bytes', 'modified_ms', 'inode', 'keyframes'] as const),
];

type KeyframeRow = Pick<Row<'media_files'>, (typeof COLUMNS)[number]>;

/**
 * Indexes the keyframes of a file whose container has no index: reads its packets once, and stores the result only if
 * the file is unchanged. A file that was never read, or changed, is probed first, and another job reads its packets.
 */
export async function indexKeyframes({ fileId }: JobPayload<'media.keyframes'>, work: Work): Promise<void> {
  const row = await findRow(work, fileId);
  if (!row) return;
  const place = await openMedia(work, wantedOf(row));
  if (place.kind !== 'there') throw new FinalFailure('STORAGE_UNAVAILABLE', 'The file is not to be reached');
  if (await probeAgain(work, row, place.absolute)) return;
  if (!row.probe || row.keyframes) return;
  if (!row.probe.streams.some((stream) => stream.kind === 'video' && !stream.attachedPicture)) return;
  const times = await readKeyframes(place.absolute, row.probe, { signal: work.signal });
  await work
    .db('media_files')
    .where({ id: fileId, size_bytes: row.size_bytes, modified_ms: row.modified_ms })
    .update({ keyframes: encodeKeyframes(times) });
}

function wantedOf(row: KeyframeRow): Wanted {
  const { storage_id: storageId, folder_id: folderId, path, size_bytes: sizeBytes, modified_ms: modifiedMs } = row;
  return { storageId, folderId, path, sizeBytes, modifiedMs };
}

async function findRow({ db }: Work, id: string): Promise<KeyframeRow | undefined> {
  return db('media_files').where({ id }).first(COLUMNS);
}
