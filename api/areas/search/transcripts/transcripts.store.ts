import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Stretch } from './stretches.ts';

export type TrackRow = Row<'transcript_tracks'>;

/** A file whose subtitles changed. */
export interface DueFile {
  file_id: string;
  /** As text, exact to the microsecond. */
  since: string;
  item_id: string | null;
}

/** The file that is due for longest, of libraries whose transcripts are searched; and rows of files that are gone. */
export async function nextDueFile(db: Db): Promise<DueFile | undefined> {
  const [row] = await rowsOf<DueFile>(
    db,
    `select d.file_id, d.since::text, f.item_id from transcript_due d
       left join media_files f on f.id = d.file_id left join libraries l on l.id = f.library_id
     where d.since <= now() and coalesce(l.settings ->> 'searchTranscripts', 'true') = 'true' order by d.since limit 1`,
    [],
  );
  return row;
}

/** Whether any file is due. */
export const isAnyDue = async (db: Db): Promise<boolean> => (await nextDueFile(db)) !== undefined;

/** Ends the need, unless the file changed again. */
export async function settleDue(db: Db, { file_id: id, since }: DueFile): Promise<void> {
  await db.raw('delete from transcript_due where file_id = ? and since = ?::timestamptz', [id, since]);
}

/** The file is due again in ten minutes. */
export async function putOffDue(db: Db, { file_id: id, since }: DueFile): Promise<void> {
  await db.raw(
    `update transcript_due set since = now() + interval '10 minutes' where file_id = ? and since = ?::timestamptz`,
    [id, since],
  );
}

/** Every file of a library with subtitles becomes due. */
export async function noteLibrary(db: Db, libraryId: string): Promise<void> {
  await db.raw(
    `select foyer_transcripts_note(array(select f.id from media_files f where f.library_id = ? and exists (
       select from media_streams s where s.file_id = f.id and s.kind = 'subtitle')))`,
    [libraryId],
  );
}

export async function findTracks(db: Db, fileId: string): Promise<TrackRow[]> {
  return db('transcript_tracks').where({ file_id: fileId }).select('*');
}

/** Deletes the tracks of a file except these. */
export async function keepTracks(db: Db, fileId: string, streamIds: readonly string[]): Promise<void> {
  await db('transcript_tracks')
    .where({ file_id: fileId })
    .whereRaw('stream_id <> all(?::uuid[])', [[...streamIds]])
    .delete();
}

export type NewTrack = Omit<TrackRow, 'read_at'>;

/** Replaces the text of a track. */
export async function putTrack(db: Db, track: NewTrack, stretches: readonly Stretch[]): Promise<void> {
  await db('transcript_tracks').where({ stream_id: track.stream_id }).delete();
  await db('transcript_tracks').insert(track);
  const rows = stretches.map(({ number, startMs, cues }) => ({
    number,
    start: startMs,
    overlap: number > 0 ? (cues[0]?.text ?? '') : '',
    text: cues
      .slice(number > 0 ? 1 : 0)
      .map((cue) => cue.text)
      .join(' '),
    cues: cues.map((cue) => [cue.startMs, cue.endMs, cue.text]),
  }));
  for (let at = 0; at < rows.length; at += BATCH) {
    await db.raw(
      `insert into transcripts (library_id, stream_id, number, start_ms, cues, words)
       select :library::uuid, :stream::uuid, r.number, r.start, r.cues,
         foyer_search_vector(t.overlap, 'B') || foyer_search_vector(t.own, 'A') || foyer_search_stems(t.overlap, t.config, 'B')
           || foyer_search_stems(t.own, t.config, 'A')
       from jsonb_to_recordset(:rows::jsonb) as r(number int, start int, overlap text, text text, cues jsonb)
         cross join lateral (select foyer_search_tokens(r.overlap, false) as overlap, foyer_search_tokens(r.text, true) as own,
           foyer_search_config(:language) as config) t`,
      {
        ...{ library: track.library_id, stream: track.stream_id, language: track.language },
        rows: JSON.stringify(rows.slice(at, at + BATCH)),
      },
    );
  }
}

const BATCH = 100;
