import { findStreamRows, type StreamRow } from '#areas/items/public.ts';
import {
  type DueFile,
  findTracks,
  keepTracks,
  nextDueFile,
  plainText,
  putOffDue,
  putTrack,
  settleDue,
  stretchesOf,
} from '#areas/search/public.ts';
import { findSource, TEXT_CODECS } from '#areas/streaming/public.ts';
import { findKept } from '#areas/subtitles/public.ts';
import { findSyncs } from '#platform/subtitles/syncs.ts';
import { type TrackFilm, textCuesOf } from '../subtitles/sync/cues-of-track.ts';
import type { Work } from '../work.ts';

const UNKNOWN = 'und';

/** Files of one job; the next one begins a moment later, so that others get the place. */
const MOST_FILES = 500;

/** Job search.transcripts: reads the tracks of files that are due, and forgets those that left. */
export async function readTranscripts(_: object, work: Work): Promise<{ files: number; tracks: number }> {
  let [files, tracks] = [0, 0];
  while (files < MOST_FILES && work.settings.get('search.transcripts')) {
    work.signal.throwIfAborted();
    const due = await nextDueFile(work.db);
    if (!due) break;
    const read = await readFile(due, work).catch((error: unknown) => {
      work.signal.throwIfAborted();
      work.log.warn({ err: error, fileId: due.file_id }, 'subtitles of a file were not read for the search');
      return undefined;
    });
    files += 1;
    tracks += read ?? 0;
    if (read === undefined) await putOffDue(work.db, due);
    else await settleDue(work.db, due);
  }
  return { files, tracks };
}

/** Returns how many tracks were read; undefined when the storage is unavailable. */
async function readFile({ file_id: fileId, item_id: itemId }: DueFile, work: Work): Promise<number | undefined> {
  const { db } = work;
  const film = itemId === null ? undefined : await findSource(db, fileId);
  if (!film?.probe || itemId === null) return 0;
  const chosen = await chosenTracks(fileId, work);
  await keepTracks(
    db,
    fileId,
    chosen.map(({ row }) => row.id),
  );
  const known = new Map((await findTracks(db, fileId)).map((track) => [track.stream_id, track.content]));
  let read = 0;
  for (const { row, generated, content } of chosen) {
    if (known.get(row.id) === content) continue;
    const of: TrackFilm = { ...film, probe: film.probe };
    const cues = await textCuesOf(of, row, work);
    if (cues === 'storage') return undefined;
    if (typeof cues === 'string') continue;
    const plain = cues.map((cue) => ({ ...cue, text: plainText(cue.text) })).filter(({ text }) => text !== '');
    const track = { stream_id: row.id, file_id: fileId, item_id: itemId, library_id: film.libraryId };
    const about = { language: row.language ?? UNKNOWN, generated, content };
    await db.transaction((transaction) => putTrack(transaction, { ...track, ...about }, stretchesOf(plain)));
    read += 1;
  }
  return read;
}

interface Chosen {
  row: StreamRow;
  generated: boolean;
  content: string;
}

/** One text track a language: one that a person made before a generated one, a full one before one with sounds. */
async function chosenTracks(fileId: string, { db }: Work): Promise<Chosen[]> {
  const rows = (await findStreamRows(db, [fileId])).filter(
    (row) => row.kind === 'subtitle' && TEXT_CODECS.includes(row.codec) && !row.forced,
  );
  const kept = new Map((await findKept(db, [fileId])).map((one) => [one.stream_id, one]));
  const syncs = await findSyncs(
    db,
    rows.map(({ id }) => id),
  );
  const all = rows.map((row): Chosen => {
    const text = kept.get(row.id);
    const sync = syncs.get(row.id);
    const content = [row.language, sync?.track, sync?.content, text?.sha256].join('|');
    return { row, generated: text?.source === 'generated', content };
  });
  const order = (one: Chosen): number =>
    (one.generated ? 4 : 0) + (one.row.hearing_impaired ? 2 : 0) + (one.row.is_default ? 0 : 1);
  const best = all.toSorted((a, b) => order(a) - order(b) || a.row.stream_index - b.row.stream_index);
  return [...Map.groupBy(best, ({ row }) => row.language?.split('-')[0] ?? UNKNOWN).values()].flatMap(
    ([first]) => first ?? [],
  );
}
