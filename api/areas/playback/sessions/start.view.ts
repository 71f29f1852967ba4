import {
  type FileRow,
  findFileRows,
  findStreamRows,
  listChapters,
  type StreamRow,
  type VisibleItem,
} from '#areas/items/public.ts';
import { findOpenings, storageUnavailable } from '#areas/streaming/public.ts';
import { attachedNames } from '#areas/subtitles/public.ts';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { decodeKeyframes, type ProbedStream } from '#platform/media.ts';
import type { Row } from '#platform/typed-query.ts';
import type { CandidateFile } from '../decision/candidates.ts';
import type { Track } from '../decision/tracks.ts';
import type { PlaybackStart } from '../playback.schemas.ts';

interface Extra extends Pick<Row<'media_files'>, 'id' | 'probe_fault' | 'keyframes'> {
  slow: boolean;
}

/** The playable files. Throws 415 or 423 with the most specific reason when there is none. */
export async function playableFiles(
  call: Call,
  itemId: string,
  { fileId, resumed }: { fileId?: string | undefined; resumed?: string | undefined },
): Promise<CandidateFile[]> {
  const { db } = call;
  const all = await findFileRows(db, [itemId], { whole: true });
  const rows = fileId ? all.filter((row) => row.id === fileId) : firstParts(all, resumed);
  if (rows.length === 0) throw notPlayable('missing-file');
  // Checks the storages first: a file that was missing may be back with its storage.
  const available = await refuseUnavailable(call, rows);
  const present = available.filter((row) => row.missing_since === null);
  if (present.length === 0) throw notPlayable('missing-file');
  const extras = await readExtras(
    db,
    present.map((row) => row.id),
  );
  const probed = present.filter((row) => row.probe !== null);
  if (probed.length === 0) throw faultOf(present.map((row) => extras.get(row.id)?.probe_fault ?? null));
  const streams = Map.groupBy(
    await findStreamRows(
      db,
      probed.map((row) => row.id),
    ),
    (stream) => stream.file_id,
  );
  return probed.map((row) => ({
    id: row.id,
    container: row.container ?? '',
    durationMs: row.duration_ms ?? 0,
    bitrate: row.bitrate ?? 0,
    keyframesKnown: areCuttable(extras.get(row.id)?.keyframes, row.duration_ms ?? 0),
    slowStorage: extras.get(row.id)?.slow ?? false,
    tracks: (streams.get(row.id) ?? []).map(toTrack),
  }));
}

/** The files whose storage is available, by a check of the storage. Throws 423 when none is. */
async function refuseUnavailable<File extends { id: string }>(call: Call, files: readonly File[]): Promise<File[]> {
  const found = await findOpenings(
    call,
    files.map(({ id }) => id),
  );
  const available = files.filter(({ id }) => found.get(id)?.kind !== 'unavailable');
  const [first] = found.values();
  if (available.length > 0 || first?.kind !== 'unavailable') return available;
  throw storageUnavailable(call, first.storageId, first.reason);
}

/** A segment between two keyframes is made, stored and sent as a whole. */
const LONGEST_GAP_MS = 30_000;

/** True when copied video can be cut at its keyframes: they are known and close enough. */
function areCuttable(index: Buffer | null | undefined, durationMs: number): boolean {
  const times = index ? decodeKeyframes(index) : [];
  return times.length > 0 && [...times, durationMs].every((at, i) => at - (times[i - 1] ?? 0) <= LONGEST_GAP_MS);
}

/** Of a film in parts the part of the stored position, else the first one. A single file is its own first part. */
function firstParts(rows: readonly FileRow[], resumed: string | undefined): readonly FileRow[] {
  const later = rows.filter((row) => (row.part ?? 1) > 1);
  const begun = later.filter((row) => row.id === resumed && row.missing_since === null);
  const first = rows.filter((row) => !later.includes(row));
  if (begun.length > 0) return begun;
  return first.length > 0 ? first : rows;
}

async function readExtras(db: Db, ids: readonly string[]): Promise<Map<string, Extra>> {
  const rows = await db('media_files as f')
    .join('storages as s', 's.id', 'f.storage_id')
    .whereIn('f.id', ids)
    .select<Extra[]>('f.id', 'f.probe_fault', 'f.keyframes', db.raw(`s.state = 'degraded' as slow`));
  return new Map(rows.map((row) => [row.id, row]));
}

function notPlayable(reason: string): ApiError {
  return new ApiError('MEDIA_NOT_PLAYABLE', 'This cannot be played', { reason });
}

function faultOf(faults: (string | null)[]): ApiError {
  const known = faults.filter((fault) => fault !== null);
  if (known.length === 0) return notPlayable('not-probed');
  if (known.includes('codec-refused')) {
    return new ApiError('MEDIA_UNSUPPORTED_CODEC', 'The server cannot decode this', { reason: 'codec-refused' });
  }
  return notPlayable('corrupt');
}

/** The probed stream with the id, language and flags of its row, which a user may have corrected. */
export function toTrack(row: StreamRow): Track {
  const probe = row.probe as Partial<ProbedStream>;
  return {
    ...probe,
    id: row.id,
    index: row.stream_index,
    kind: row.kind,
    codec: row.codec,
    ...(row.language && { language: row.language }),
    ...(row.title && { title: row.title }),
    default: row.is_default,
    forced: row.forced,
    hearingImpaired: row.hearing_impaired,
    ...(row.external_path && { externalPath: row.external_path }),
    ...(row.kept && { kept: true }),
  };
}

type Sidecars = Pick<PlaybackStart, 'markers' | 'chapters' | 'fonts'> & { trickplay: boolean };

/** Data of the file that a player needs in addition to its streams. */
export async function readSidecars(db: Db, itemId: string, file: CandidateFile): Promise<Sidecars> {
  const markers = await db('markers')
    .where({ item_id: itemId })
    .whereRaw('(file_id is null or file_id = ?)', [file.id])
    .orderBy('start_ms')
    .select('kind', 'start_ms', 'end_ms');
  const offered = markers.flatMap(({ kind, start_ms: startMs, end_ms: endMs }) =>
    kind === 'preview' || kind === 'highlight' ? [] : [{ kind, startMs, endMs }],
  );
  const chapters = await listChapters(db, file.id);
  const trickplay = await db('trickplay').where({ file_id: file.id, removed_at: null }).first('width');
  return {
    markers: offered,
    chapters: chapters.map(({ title, startMs }) => ({ title, startMs })),
    fonts: fontsOf(itemId, file),
    trickplay: trickplay !== undefined,
  };
}

function fontsOf(itemId: string, file: CandidateFile): PlaybackStart['fonts'] {
  const fonts = attachedNames(file.tracks).filter(({ name, mime }) => /font|ttf|otf/i.test(`${mime ?? ''} ${name}`));
  return fonts.map(({ name }) => ({
    name,
    url: `/api/v1/items/${itemId}/fonts/${encodeURIComponent(name)}?fileId=${file.id}`,
  }));
}

/** The next episode or track in its show or album that the caller may see. */
export async function nextItemId(db: Db, who: Principal, itemId: string): Promise<string | undefined> {
  const [row]: { id: string }[] = await db('items as i')
    .joinRaw(
      `join items n on n.type = i.type and n.extra_of is null
       and (case when i.type = 'track' then n.parent_id = i.parent_id
         else coalesce(n.grandparent_id, n.parent_id) = coalesce(i.grandparent_id, i.parent_id) end)
       and (coalesce(n.parent_index, 0), coalesce(n.index_number, 0)) > (coalesce(i.parent_index, 0), coalesce(i.index_end, i.index_number, 0))`,
    )
    .where('i.id', itemId)
    .whereIn('i.type', ['episode', 'track', 'lesson'])
    .modify(onlyVisibleItems, who, 'n')
    .orderByRaw('coalesce(n.parent_index, 0), coalesce(n.index_number, 0), n.id')
    .limit(1)
    .select('n.id');
  return row?.id;
}

/** The original language of the item or its show, from an NFO file or a user. */
export async function originalLanguage(
  db: Db,
  { id, parentId, grandparentId }: Pick<VisibleItem, 'id' | 'parentId' | 'grandparentId'>,
): Promise<string | undefined> {
  const way = [id, parentId, grandparentId].filter((one) => one !== null);
  const rows = await db('items')
    .whereIn('id', way)
    .select<{ id: string; language: string | null }[]>('id', db.raw(`details ->> 'originalLanguage' as language`));
  const languages = new Map(rows.map((row) => [row.id, row.language]));
  return way.map((one) => languages.get(one)).find((language) => language) ?? undefined;
}

export interface LastChoice {
  audioLanguage: string | null;
  subtitleLanguage: string | null;
  subtitleOff: boolean;
}

/** The last track choice of this profile in the same show or film. */
export async function lastChoice(db: Db, profileId: string, showId: string): Promise<LastChoice | undefined> {
  const row = await db('track_choices').where({ profile_id: profileId, item_id: showId }).first();
  return (
    row && { audioLanguage: row.audio_language, subtitleLanguage: row.subtitle_language, subtitleOff: row.subtitle_off }
  );
}
