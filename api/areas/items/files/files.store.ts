import type { Principal } from '#identity/principal.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { visibleItems } from '../item/summaries.store.ts';
import type { MediaFile, MediaStream } from '../media.schemas.ts';
import { findSubtitleFields } from './subtitle-fields.view.ts';

export interface FileRow
  extends Pick<Row<'media_files'>, (typeof FILE_COLUMNS)[number] | 'probe' | 'sampled_hash' | 'content_hash'> {
  has_keyframes: boolean;
  chapters: number;
}

export type StreamRow = Pick<Row<'media_streams'>, (typeof STREAM_COLUMNS)[number]>;

const FILE_COLUMNS = [
  'id',
  'item_id',
  'storage_id',
  'folder_id',
  'path',
  'size_bytes',
  'modified_ms',
  'edition',
  'part',
  'parts',
  'container',
  'duration_ms',
  'bitrate',
  'probed_at',
  'missing_since',
  'added_at',
] as const;

const STREAM_COLUMNS = [
  'id',
  'file_id',
  'stream_index',
  'kind',
  'codec',
  'language',
  'title',
  'is_default',
  'forced',
  'hearing_impaired',
  'external_path',
  'probe',
  'kept',
] as const;

export interface FileOptions {
  /** The reader of the streams; absent without them. */
  streams: Principal | undefined;
  /** Adds the columns of a single file: probe, hashes, chapters. */
  whole?: boolean;
}

/**
 * Files of items that the caller may see, preferred one first: present before missing, then by edition, part and
 * bitrate.
 */
export async function findFileRows(
  db: Db,
  itemIds: readonly string[],
  options: { whole?: boolean },
): Promise<FileRow[]> {
  const query = db('media_files as f')
    .whereRaw('f.item_id = any(?::uuid[])', [[...itemIds]])
    .where('f.ignored', false)
    .orderByRaw('f.missing_since is not null, f.edition_rank, f.edition nulls first, f.part nulls first')
    .orderByRaw('f.bitrate desc nulls last, f.id')
    .limit(200 * itemIds.length)
    .select(FILE_COLUMNS.map((name) => `f.${name}`));
  if (options.whole) {
    query.select('f.probe', 'f.sampled_hash', 'f.content_hash').select(
      db.raw(`coalesce(octet_length(f.keyframes), 0) > 0 as has_keyframes,
        (select count(*)::int from chapters c where c.file_id = f.id) as chapters`),
    );
  }
  return query as unknown as Promise<FileRow[]>;
}

export async function findStreamRows(db: Db, fileIds: readonly string[]): Promise<StreamRow[]> {
  return db('media_streams')
    .whereRaw('file_id = any(?::uuid[])', [[...fileIds]])
    .orderByRaw('external_path is not null, stream_index, external_path')
    .select(STREAM_COLUMNS);
}

/** Files by item, optionally with streams, in two queries. */
export async function findFiles(
  db: Db,
  itemIds: readonly string[],
  options: FileOptions,
): Promise<Map<string, MediaFile[]>> {
  const rows = itemIds.length > 0 ? await findFileRows(db, itemIds, {}) : [];
  const streams = options.streams ? await findStreams(db, options.streams, rows) : new Map<string, MediaStream[]>();
  return Map.groupBy(
    rows.map((row) => toMediaFile(row, streams.get(row.id) ?? [])),
    (file) => file.itemId,
  );
}

export async function findStreams(
  db: Db,
  who: Principal,
  files: readonly { id: string }[],
): Promise<Map<string, MediaStream[]>> {
  const rows =
    files.length > 0
      ? await findStreamRows(
          db,
          files.map((file) => file.id),
        )
      : [];
  const grouped = Map.groupBy(rows, (row) => row.file_id);
  const subtitles = await findSubtitleFields(db, who, rows);
  const shown = (row: StreamRow): MediaStream => ({ ...toMediaStream(row), ...subtitles.get(row.id) });
  return new Map([...grouped].map(([id, list]) => [id, list.map(shown)]));
}

/** A file without its path. */
export function toMediaFile(row: FileRow, streams: MediaStream[]): MediaFile {
  return {
    id: row.id,
    itemId: row.item_id,
    ...(row.edition ? { edition: row.edition } : {}),
    container: row.container ?? '',
    sizeBytes: row.size_bytes,
    durationMs: row.duration_ms ?? 0,
    bitrate: row.bitrate ?? 0,
    streams,
    missing: row.missing_since !== null,
    addedAt: iso(row.added_at),
  };
}

const SHOWN = ['profile', 'width', 'height', 'frameRate', 'hdr', 'channels', 'sampleRate'] as const;

export function toMediaStream(row: StreamRow): MediaStream {
  const measured: Partial<Record<(typeof SHOWN)[number], unknown>> = {};
  for (const name of SHOWN) if (row.probe[name] !== undefined) measured[name] = row.probe[name];
  return {
    id: row.id,
    index: row.stream_index,
    kind: row.kind,
    codec: row.codec,
    ...(row.language ? { language: row.language } : {}),
    ...(row.title ? { title: row.title } : {}),
    default: row.is_default,
    forced: row.forced,
    hearingImpaired: row.hearing_impaired,
    external: row.external_path !== null,
    ...(measured as Pick<MediaStream, (typeof SHOWN)[number]>),
  };
}

/** True when the caller may see storage, folder and path. */
export function seesPaths(who: Principal): boolean {
  return who.permissions.has('library:manage');
}

/** Totals of the present files in a container that the caller may see. */
export async function findFileTotals(
  db: Db,
  who: Principal,
  containerId: string,
): Promise<{ files: number; sizeBytes: number; durationMs: number }> {
  const row: { files: number; size: number | null; duration: number | null } | undefined = await visibleItems(db, who)
    .join('media_files as f', 'f.item_id', 'i.id')
    .whereNull('i.extra_of')
    .whereRaw('(i.parent_id = ? or i.grandparent_id = ?)', [containerId, containerId])
    .whereRaw('not f.ignored and f.missing_since is null')
    .select(db.raw('count(*)::int as files, sum(f.size_bytes)::bigint as size, sum(f.duration_ms)::bigint as duration'))
    .first();
  return { files: row?.files ?? 0, sizeBytes: row?.size ?? 0, durationMs: row?.duration ?? 0 };
}
