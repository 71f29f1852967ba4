// What a request has to know of films: their file, soundtracks and texts.
import { findStreamRows, type StreamRow } from '#areas/items/public.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Task } from './speech.schemas.ts';

/** A text that was made from speech. */
interface Made {
  streamId: string;
  task: Task | null;
  model: string | null;
  /** The soundtrack whose language was heard instead of known; null for others. */
  heardIndex: number | null;
}

export interface Film {
  itemId: string;
  libraryId: string;
  fileId: string;
  durationMs: number;
  streams: StreamRow[];
  made: Made[];
}

type FileRow = Pick<Row<'media_files'>, 'id' | 'item_id' | 'library_id' | 'duration_ms'>;

/** The default file of each item, or the named file; by item. An item without a present file is left out. */
export async function findFilms(
  db: Db,
  itemIds: readonly string[],
  fileId: string | undefined,
): Promise<Map<string, Film>> {
  const files = await rowsOf<FileRow>(
    db,
    `select distinct on (item_id) id, item_id, library_id, duration_ms from media_files
     where item_id = any(?::uuid[]) and not ignored and ${fileId ? 'id = ?' : 'missing_since is null'}
     order by item_id, edition_rank, part, id`,
    [[...itemIds], ...(fileId ? [fileId] : [])],
  );
  const ids = files.map(({ id }) => id);
  const streams = Map.groupBy(ids.length > 0 ? await findStreamRows(db, ids) : [], (row) => row.file_id);
  const made = Map.groupBy(await findMade(db, ids), (row) => row.file_id);
  const toFilm = ({ id, item_id: itemId, library_id: libraryId, duration_ms: duration }: FileRow): Film => ({
    ...{ itemId, libraryId, fileId: id, durationMs: duration ?? 0 },
    streams: streams.get(id) ?? [],
    made: (made.get(id) ?? []).map((row) => ({
      ...{ streamId: row.stream_id, task: row.task, model: row.model, heardIndex: row.heard_index },
    })),
  });
  return new Map(files.map((row) => [row.item_id, toFilm(row)]));
}

interface MadeRow extends Pick<Row<'kept_subtitles'>, 'file_id' | 'stream_id' | 'task' | 'model'> {
  heard_index: number | null;
}

async function findMade(db: Db, fileIds: readonly string[]): Promise<MadeRow[]> {
  if (fileIds.length === 0) return [];
  return rowsOf<MadeRow>(
    db,
    `select k.file_id, k.stream_id, k.task, k.model, r.audio_index as heard_index from kept_subtitles k
     left join subtitle_requests r on r.stream_id = k.stream_id and r.spoken_by = 'heard'
     where k.source = 'generated' and k.file_id = any(?::uuid[])`,
    [[...fileIds]],
  );
}
