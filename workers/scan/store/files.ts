import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { encodeKeyframes, type ProbedFile, type ProbedStream } from '#platform/media.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { PROBE_VERSION, type Probed } from '#workers/probe/probe.ts';
import type { Draft, DraftFile } from '../group/draft.ts';
import type { WalkedFile } from '../walk/types.ts';
import { recordset, type Writing } from './context.ts';
import type { KnownFile } from './known.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'media_files.probe': ProbedFile;
    'media_streams.probe': Partial<ProbedStream>;
  }
}

/** Result of reading a new or changed file. */
export type Read = { hash: Buffer } & ({ probed: Probed } | { fault: string });

export interface Placed {
  draft: Draft;
  file: DraftFile;
  itemId: string;
  known: KnownFile | undefined;
  /** Absent if the file did not change. */
  read: Read | undefined;
}

export interface WrittenFile {
  id: string;
  placed: Placed;
}

/** Writes the rows of media files with their streams and chapters, and sets the id of every file. */
export async function writeFiles(writing: Writing, all: readonly Placed[]): Promise<WrittenFile[]> {
  const written = all.map((placed) => ({ id: placed.known?.id ?? newId(), placed }));
  const read = written.filter(({ placed }) => placed.read);
  await insertFiles(
    writing,
    read.filter(({ placed }) => !placed.known),
  );
  await replaceFiles(
    writing,
    read.filter(({ placed }) => placed.known),
  );
  await placeFiles(
    writing,
    written.filter(({ placed }) => !placed.read),
  );
  await writeStreams(
    writing.db,
    read.map(({ id, placed }) => ({ id, read: placed.read, isNew: !placed.known })),
  );
  return written;
}

const RECORD = `jsonb_to_recordset(?::jsonb) as r(id uuid, item_id uuid, path text, size_bytes bigint, modified_ms double precision, inode text,
  edition text, edition_rank int, part int, parts int, container text, duration_ms bigint, start_ms bigint, bitrate bigint, probe jsonb,
  probe_fault text, probe_version int, keyframes text, sampled_hash text)`;
const PLACE = ['item_id', 'edition', 'edition_rank', 'part', 'parts'];
const CONTENT = ['container', 'duration_ms', 'start_ms', 'bitrate', 'probe', 'probe_fault', 'probe_version'];
const COLUMNS = ['path', 'size_bytes', 'modified_ms', 'inode', ...PLACE, ...CONTENT];
/** A label of a person stays, and so do the parts of files that a person put into an item. */
const KEPT: Readonly<Record<string, string>> = { edition: 'edition_locked', part: 'pinned', parts: 'pinned' };
const news = (column: string): string =>
  KEPT[column] ? `case when f.${KEPT[column]} then f.${column} else r.${column} end` : `r.${column}`;
const BYTES = `decode(r.keyframes, 'hex'), decode(r.sampled_hash, 'hex')`;

async function insertFiles({ db, library, folder }: Writing, files: readonly WrittenFile[]): Promise<void> {
  if (files.length === 0) return;
  await db.raw(
    `insert into media_files (library_id, folder_id, storage_id, probed_at, id, ${COLUMNS.join()}, keyframes, sampled_hash)
     select ?, ?, ?, now(), r.id, ${COLUMNS.map((column) => `r.${column}`).join()}, ${BYTES} from ${RECORD}`,
    [library.id, folder.id, folder.storageId, recordset(files.map(rowOf))],
  );
}

/** New content at a known path, or a file that moved here: row and id stay. */
async function replaceFiles({ db, library, folder }: Writing, files: readonly WrittenFile[]): Promise<void> {
  if (files.length === 0) return;
  await db.raw(
    `update media_files f set (library_id, folder_id, storage_id, probed_at, missing_since, absent_scan, absence_kept, updated_at,
       ${COLUMNS.join()}, keyframes, sampled_hash)
     = (?, ?, ?, now(), null, null, false, now(), ${COLUMNS.map(news).join()}, ${BYTES}) from ${RECORD} where f.id = r.id`,
    [library.id, folder.id, folder.storageId, recordset(files.map(rowOf))],
  );
}

/** Updates content and streams of a single file, not its place. */
export async function replaceContent(
  db: Db,
  { id, walked, read }: { id: string; walked: WalkedFile; read: Read },
): Promise<void> {
  await db('media_files')
    .where({ id })
    .update({
      ...Object.fromEntries(CONTENT.map((column) => [column, null])),
      size_bytes: walked.size,
      modified_ms: walked.mtimeMs,
      inode: walked.inode,
      probe_version: PROBE_VERSION,
      sampled_hash: read.hash,
      probed_at: new Date(),
      updated_at: new Date(),
      ...('probed' in read ? bareContent(read.probed) : { probe_fault: read.fault, start_ms: 0, keyframes: null }),
    });
  await writeStreams(db, [{ id, read }]);
}

function bareContent(probed: Probed): Record<string, unknown> {
  const { keyframes } = probed;
  return {
    ...contentOf(probed),
    probe: JSON.stringify(probed.file),
    keyframes: keyframes ? encodeKeyframes(keyframes) : null,
  };
}

/** Unchanged content: only the place may change, and a missing file may return. */
async function placeFiles({ db, folder }: Writing, files: readonly WrittenFile[]): Promise<void> {
  if (files.length === 0) return;
  await db.raw(
    `update media_files f set (${PLACE.join()}, storage_id, missing_since, absent_scan, absence_kept, updated_at)
     = (${PLACE.map(news).join()}, ?, null, null, false, now()) from ${RECORD}
     where f.id = r.id and (${PLACE.map((column) => `f.${column}`).join()}, f.storage_id, f.missing_since, f.absent_scan, f.absence_kept)
       is distinct from (${PLACE.map(news).join()}, ?::uuid, null::timestamptz, null::uuid, false)`,
    [folder.storageId, recordset(files.map(({ id, placed }) => ({ id, ...placeOf(placed) }))), folder.storageId],
  );
}

function placeOf({ itemId, file }: Placed): Record<string, unknown> {
  return { item_id: itemId, edition: file.edition, edition_rank: file.rank, part: file.part, parts: file.parts };
}

function rowOf({ id, placed }: WrittenFile): Record<string, unknown> {
  const { file, read } = placed;
  return {
    id,
    path: file.path,
    size_bytes: file.walked.size,
    modified_ms: file.walked.mtimeMs,
    inode: file.walked.inode,
    ...placeOf(placed),
    probe_version: PROBE_VERSION,
    sampled_hash: read?.hash.toString('hex'),
    ...(read && 'probed' in read ? contentOf(read.probed) : { probe_fault: read?.fault, start_ms: 0 }),
  };
}

function contentOf({ file, keyframes }: Probed): Record<string, unknown> {
  return {
    container: file.container,
    duration_ms: file.durationMs === 0 ? null : file.durationMs,
    start_ms: file.startMs,
    bitrate: file.durationMs === 0 ? null : file.bitrate,
    probe: file,
    keyframes: keyframes && encodeKeyframes(keyframes).toString('hex'),
  };
}

interface Content {
  id: string;
  read: Read | undefined;
  isNew?: boolean;
}

async function writeStreams(db: Db, files: readonly Content[]): Promise<void> {
  const known = await dropStreams(
    db,
    files.filter(({ isNew }) => !isNew).map(({ id }) => id),
  );
  const probed = files.flatMap(({ id, read }) => (read && 'probed' in read ? [{ id, file: read.probed.file }] : []));
  const streams = probed.flatMap(({ id, file }) => streamRows(id, file, known));
  if (streams.length > 0)
    await db.raw(
      `insert into media_streams (id, file_id, stream_index, kind, codec, language, title, is_default, forced, hearing_impaired, probe)
       select * from jsonb_to_recordset(?::jsonb) as r(id uuid, file_id uuid, stream_index int, kind text, codec text, language text, title text,
         is_default boolean, forced boolean, hearing_impaired boolean, probe jsonb)`,
      [recordset(streams)],
    );
  const chapters = probed.flatMap(({ id, file }) => chapterRows(id, file));
  if (chapters.length === 0) return;
  await db.raw(
    `insert into chapters (file_id, number, title, start_ms, end_ms)
     select * from jsonb_to_recordset(?::jsonb) as r(file_id uuid, number int, title text, start_ms bigint, end_ms bigint)
     where not exists (select from chapters c where c.file_id = r.file_id) order by r.file_id, r.number on conflict do nothing`,
    [recordset(chapters)],
  );
}

/** Forgets the streams and chapters that files had. Returns the ids of the streams by `keyOf`. */
async function dropStreams(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const before = await rowsOf<StreamKey>(
    db,
    `delete from media_streams where file_id = any(?::uuid[]) and external_path is null and not kept
     returning id, file_id, stream_index, kind`,
    [ids],
  );
  await db.raw(`delete from chapters where file_id = any(?::uuid[]) and source = 'file'`, [[...ids]]);
  return new Map(before.map((row) => [keyOf(row), row.id]));
}

type StreamKey = Pick<Row<'media_streams'>, 'id' | 'file_id' | 'stream_index' | 'kind'>;

const keyOf = ({ file_id, stream_index, kind }: Omit<StreamKey, 'id'>): string => `${file_id} ${stream_index} ${kind}`;

/** A stream of the same number and kind keeps its id. */
function streamRows(fileId: string, file: ProbedFile, known: ReadonlyMap<string, string>): object[] {
  return file.streams.map((stream) => ({
    id: known.get(keyOf({ file_id: fileId, stream_index: stream.index, kind: stream.kind })) ?? newId(),
    file_id: fileId,
    stream_index: stream.index,
    kind: stream.kind,
    codec: stream.codec,
    language: stream.language,
    title: stream.title?.slice(0, 500),
    is_default: stream.default,
    forced: stream.forced,
    hearing_impaired: stream.hearingImpaired,
    probe: stream,
  }));
}

function chapterRows(fileId: string, file: ProbedFile): object[] {
  return file.chapters.slice(0, 1000).map((chapter, number) => ({
    file_id: fileId,
    number,
    title: chapter.title.slice(0, 500),
    start_ms: chapter.startMs,
    end_ms: chapter.endMs,
  }));
}
