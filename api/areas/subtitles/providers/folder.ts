// Subtitle files and archives in a folder of a storage. It is only read, and needs no internet.
import { open } from 'node:fs/promises';
import { posix } from 'node:path';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { type FolderRow, findFolderFile, findInFolder, folderTitle } from './folder.store.ts';
import {
  type Asked,
  type ForeignFile,
  type Found,
  type MatchedBy,
  type Means,
  type Provider,
  ProviderFault,
} from './provider.ts';

const MOST_FILE_BYTES = 20 << 20;
const BETWEEN = '\n';
const USABLE = ['available', 'degraded'];

export const folder: Provider = {
  ...{ id: 'folder', name: 'Folder', kind: 'folder' },
  isConfigured: async ({ settings }) =>
    settings.get('subtitles.folder.storageId') !== null && settings.get('subtitles.folder.path') !== null,
  search,
  download,
};

async function search({ deps: { db } }: Means, asked: Asked): Promise<Found[]> {
  const { ids, show, query } = asked;
  const named = query === undefined ? (show?.ids ?? ids) : {};
  const rows = await findInFolder(db, {
    movieHash: query === undefined ? (asked.movieHash ?? null) : null,
    ...{ imdb: named['imdb'] ?? null, tmdb: named['tmdb'] ?? null },
    title: folderTitle(query ?? show?.title ?? asked.title),
    ...{ season: asked.season ?? null, episode: asked.episode ?? null },
    languages: asked.languages.map((tag) => tag.split('-')[0]?.toLowerCase() ?? ''),
  });
  return rows.filter((row) => fitsYear(row, asked)).map((row) => foundIn(row, asked));
}

/** Films of the same name differ by a year or more. */
function fitsYear({ year, title, movie_hash: hash }: FolderRow, asked: Asked): boolean {
  if (hash !== null && hash === asked.movieHash) return true;
  const isNamed = title === folderTitle(asked.title) && asked.query === undefined;
  return !isNamed || year === null || asked.year === undefined || Math.abs(year - asked.year) <= 1;
}

function foundIn(row: FolderRow, asked: Asked): Found {
  return {
    file: row.path + BETWEEN + row.entry,
    ...{ release: row.release, format: row.format },
    language: row.language === 'und' ? (asked.languages[0] ?? 'und') : row.language,
    ...{ hearingImpaired: row.hearing_impaired, forced: row.forced, translatedByMachine: false },
    matchedBy: matchOf(row, asked),
  };
}

function matchOf(row: FolderRow, { movieHash, ids, show, release, query }: Asked): MatchedBy {
  if (query !== undefined) return 'title';
  if (row.movie_hash !== null && row.movie_hash === movieHash) return 'hash';
  const named = show?.ids ?? ids;
  const byId = (row.imdb !== null && row.imdb === named['imdb']) || (row.tmdb !== null && row.tmdb === named['tmdb']);
  if (byId) return show ? 'episode' : 'id';
  const [own, film] = [folderTitle(row.release), folderTitle(release ?? '')];
  return film !== '' && own.startsWith(film) ? 'release' : 'title';
}

async function download({ deps }: Means, file: string): Promise<ForeignFile> {
  const { db, settings, config } = deps;
  const [path = '', entry = ''] = file.split(BETWEEN);
  const row = await findFolderFile(db, path, entry);
  const [storageId, top] = [settings.get('subtitles.folder.storageId'), settings.get('subtitles.folder.path')];
  const storage = storageId === null ? undefined : (await findStorages(db, [storageId])).get(storageId);
  if (!row || !storage || top === null || !USABLE.includes(storage.state)) throw gone();
  const place = await placeInStorage(config, storage, posix.join(top, row.path));
  if (place.kind !== 'there') throw gone();
  return { bytes: await wholeFile(place.absolute), ...(entry !== '' && { entry }) };
}

const gone = (): ProviderFault => new ProviderFault('error', 'the file is not in the folder');

async function wholeFile(absolute: string): Promise<Uint8Array> {
  const file = await open(absolute, 'r');
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > MOST_FILE_BYTES) throw gone();
    return await file.readFile();
  } finally {
    await file.close();
  }
}
