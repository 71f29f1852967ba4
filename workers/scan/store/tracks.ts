import { newId } from '#platform/ids.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { ExternalTrack } from '../group/draft.ts';
import { recordset, type Writing } from './context.ts';
import type { WrittenFile } from './files.ts';

/** First stream number of sidecars in a file. */
const FIRST = 1000;

interface Stored extends Pick<Row<'media_streams'>, 'id' | 'file_id' | 'stream_index'> {
  external_path: string;
  external_size: number;
  external_modified_ms: number;
}

/**
 * Stores subtitles and audio tracks next to a file as its external streams, and removes vanished ones. Returns files
 * that changed.
 */
export async function writeTracks({ db }: Writing, files: readonly WrittenFile[]): Promise<Set<string>> {
  const ids = files.filter(({ placed }) => placed.known).map(({ id }) => id); // new files have none yet
  if (ids.length === 0 && files.every(({ placed }) => placed.file.tracks.length === 0)) return new Set();
  const stored = await rowsOf<Stored>(
    db,
    `select id, file_id, stream_index, external_path, external_size, external_modified_ms from media_streams
     where file_id = any(?::uuid[]) and external_path is not null`,
    [ids],
  );
  const byFile = Map.groupBy(stored, (row) => row.file_id);
  const changed = new Set<string>();
  const gone: string[] = [];
  const fresh: object[] = [];
  for (const { id, placed } of files) {
    const change = compare(id, byFile.get(id) ?? [], placed.file.tracks);
    gone.push(...change.gone);
    fresh.push(...change.fresh);
    if (change.gone.length + change.fresh.length > 0) changed.add(id);
  }
  if (gone.length > 0) await db.raw('delete from media_streams where id = any(?::uuid[])', [gone]);
  if (fresh.length > 0) await insert(db, fresh);
  return changed;
}

function compare(
  fileId: string,
  stored: readonly Stored[],
  tracks: readonly ExternalTrack[],
): { gone: string[]; fresh: object[] } {
  const same = (row: Stored, track: ExternalTrack): boolean =>
    row.external_path === track.path &&
    row.external_size === track.size &&
    Math.abs(row.external_modified_ms - track.mtimeMs) <= 1000;
  const kept = stored.filter((row) => tracks.some((track) => same(row, track)));
  const missing = tracks.filter((track) => !stored.some((row) => same(row, track)));
  const taken = new Set(kept.map((row) => row.stream_index));
  return {
    gone: stored.filter((row) => !kept.includes(row)).map((row) => row.id),
    fresh: missing.map((track) => rowOf({ fileId, track, before: stored, taken })),
  };
}

interface Making {
  fileId: string;
  track: ExternalTrack;
  before: readonly Stored[];
  taken: Set<number>;
}

/** A changed sidecar keeps its number and id. */
function rowOf({ fileId, track, before, taken }: Making): object {
  const old = before.find((row) => row.external_path === track.path);
  let index = old?.stream_index ?? FIRST;
  while (taken.has(index)) index += 1;
  taken.add(index);
  return {
    id: old?.id ?? newId(),
    file_id: fileId,
    stream_index: index,
    kind: track.kind,
    codec: track.codec,
    language: track.language,
    title: track.title?.slice(0, 500),
    is_default: track.default,
    forced: track.forced,
    hearing_impaired: track.hearingImpaired,
    external_path: track.path,
    external_size: track.size,
    external_modified_ms: track.mtimeMs,
  };
}

async function insert(db: Writing['db'], rows: readonly object[]): Promise<void> {
  const columns =
    'id, file_id, stream_index, kind, codec, language, title, is_default, forced, hearing_impaired, external_path, external_size, external_modified_ms';
  await db.raw(
    `insert into media_streams (${columns}) select ${columns} from jsonb_to_recordset(?::jsonb) as r(id uuid, file_id uuid, stream_index int,
       kind text, codec text, language text, title text, is_default boolean, forced boolean, hearing_impaired boolean, external_path text,
       external_size bigint, external_modified_ms double precision)`,
    [recordset(rows)],
  );
}
