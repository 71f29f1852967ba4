import { createHash } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Timing } from './timing.ts';

/** The correction of a subtitle track that holds now. */
export interface Sync extends Timing {
  streamId: string;
  fileId: string;
  /** Names the track in its file, whatever its id. */
  track: string;
  /** Identity of the bytes that the correction fits. */
  content: string;
  source: 'none' | 'manual' | 'auto';
  confidence: number | undefined;
  /** New at every change of the correction or of the bytes. */
  version: string;
  accountId: string | null;
  setAt: Date | undefined;
}

type Found = Partial<
  Pick<Row<'subtitle_syncs'>, 'offset_ms' | 'rate' | 'source' | 'confidence' | 'account_id' | 'set_at' | 'pieces'>
> & {
  id: string;
  file_id: string;
  track: string;
  content: string;
  version: string | null;
};

const TRACK = `case when s.kept then 'k:' || s.id when s.external_path is not null then 'x:' || s.external_path else 'e:' || s.stream_index end`;
/** A kept text never changes. A text next to the film is known by its size and time, one inside it by the bytes of the film. */
const CONTENT = `case when s.kept then 'kept' when s.external_path is not null then s.external_size || ':' || s.external_modified_ms
  else coalesce(encode(f.sampled_hash, 'hex'), f.size_bytes::text) end`;

/** The corrections of these subtitle tracks, by stream; a track that was never corrected has source `none`. */
export async function findSyncs(db: Db, streamIds: readonly string[]): Promise<Map<string, Sync>> {
  if (streamIds.length === 0) return new Map();
  const rows = await rowsOf<Found>(
    db,
    `select t.*, y.offset_ms, y.rate, y.pieces, y.source, y.confidence, y.version, y.account_id, y.set_at
     from (select s.id, s.file_id, f.size_bytes, ${TRACK} as track, ${CONTENT} as content from media_streams s
           join media_files f on f.id = s.file_id where s.id = any(?::uuid[]) and s.kind = 'subtitle') t
     left join subtitle_syncs y on y.file_id = t.file_id and y.track = t.track
       and (y.content = t.content or y.track like 'e:%' and y.content = t.size_bytes::text)`,
    [[...streamIds]],
  );
  return new Map(rows.map((row) => [row.id, toSync(row)]));
}

function toSync(row: Found): Sync {
  return {
    streamId: row.id,
    fileId: row.file_id,
    track: row.track,
    content: row.content,
    offsetMs: row.offset_ms ?? 0,
    rate: row.rate ?? 1,
    pieces: row.pieces ?? [],
    source: row.source ?? 'none',
    confidence: row.confidence ?? undefined,
    version: versionOf(row),
    accountId: row.account_id ?? null,
    setAt: row.set_at ?? undefined,
  };
}

function versionOf({ track, content, version }: Found): string {
  return createHash('sha256')
    .update(JSON.stringify([track, content, version]))
    .digest('base64url')
    .slice(0, 16);
}

/** The correction of one track; undefined when there is no such subtitle track. */
export async function findSync(db: Db, streamId: string): Promise<Sync | undefined> {
  return (await findSyncs(db, [streamId])).get(streamId);
}
