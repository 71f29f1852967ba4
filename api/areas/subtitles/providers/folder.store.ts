// The index of the subtitle folder, which job `subtitles.folder` keeps.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';

export type FolderRow = Row<'subtitle_folder'>;

/** How titles are compared: in lower case, with single spaces between words. */
export const folderTitle = (title: string): string =>
  title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 300);

export interface FolderQuery {
  movieHash: string | null;
  imdb: string | null;
  tmdb: string | null;
  title: string;
  season: number | null;
  episode: number | null;
  /** First parts of the tags. */
  languages: readonly string[];
}

const MOST = 200;

/** Files that fit by hash, id or title; of an episode only those with its numbers. */
export async function findInFolder(db: Db, query: FolderQuery): Promise<FolderRow[]> {
  const { movieHash, imdb, tmdb, title, season, episode, languages } = query;
  return rowsOf<FolderRow>(
    db,
    `select * from subtitle_folder f
     where (f.movie_hash = ?
        or ((f.imdb = ? or f.tmdb = ? or f.title = ?)
          and f.season is not distinct from ?::int and f.episode is not distinct from ?::int))
       and (f.language = 'und' or split_part(f.language, '-', 1) = any(?::text[]))
     order by f.path, f.entry limit ${MOST}`,
    [movieHash, imdb, tmdb, title, season, episode, [...languages]],
  );
}

export async function findFolderFile(db: Db, path: string, entry: string): Promise<FolderRow | undefined> {
  return db('subtitle_folder').where({ path, entry }).first();
}

/** Size and time of each file in the index, by path. */
export async function knownFiles(db: Db): Promise<Map<string, string>> {
  const rows = await db('subtitle_folder').distinct('path', 'size_bytes', 'modified_ms');
  return new Map(rows.map((row) => [row.path, signatureOf(row)]));
}

/** What changes when a file changes. */
export const signatureOf = (row: Pick<FolderRow, 'size_bytes' | 'modified_ms'>): string =>
  `${row.size_bytes} ${Math.trunc(row.modified_ms)}`;

/** Replaces what the index knows of these files. */
export async function putFolderFiles(
  db: Db,
  { paths, rows }: { paths: readonly string[]; rows: readonly FolderRow[] },
): Promise<void> {
  await db('subtitle_folder')
    .whereRaw('path = any(?::text[])', [[...paths]])
    .delete();
  if (rows.length > 0) await db.batchInsert('subtitle_folder', [...rows], 200);
}

export async function clearFolder(db: Db): Promise<void> {
  await db('subtitle_folder').delete();
}
