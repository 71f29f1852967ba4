import { iso } from '#kernel/schemas.ts';
import type { Upload } from './uploads.schemas.ts';
import { KEPT_DAYS, sizeOfChunk, type UploadWithChunks } from './uploads.store.ts';

const GONE = '00000000-0000-0000-0000-000000000000';
const DAY_MS = 86_400_000;

export function toUpload(row: UploadWithChunks): Upload {
  const optional = {
    mime: row.mime,
    sha256: row.sha256 ?? row.announced_sha256,
    takenAt: row.taken_at && iso(row.taken_at),
    pairKey: row.pair_key,
    albumId: row.album_id,
    itemId: row.item_id,
    duplicateOf: row.duplicate_of,
    errorReason: row.error_reason,
    deviceName: row.device_name,
  };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null));
  return {
    id: row.id,
    libraryId: row.library_id ?? GONE,
    state: row.state as Upload['state'],
    name: row.name,
    sizeBytes: row.size_bytes,
    chunkBytes: row.chunk_bytes,
    chunkCount: row.chunk_count,
    received: row.received,
    receivedBytes: receivedBytes(row),
    ...given,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
    expiresAt: iso(new Date(row.updated_at.getTime() + KEPT_DAYS * DAY_MS)),
  };
}

function receivedBytes(row: UploadWithChunks): number {
  const chunks = row.received.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const hasLast = row.received.at(-1)?.[1] === row.chunk_count - 1;
  if (!hasLast) return chunks * row.chunk_bytes;
  return (chunks - 1) * row.chunk_bytes + sizeOfChunk(row, row.chunk_count - 1);
}
