// Subtitle files and archives in a folder of a storage. It is only read, and needs no internet.
import { open } from 'node:fs/promises';
import { posix } from 'node:path';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { equalParts } from '../tags.ts';
import { type FolderRow, findFolderFile, findInFolder, folderTitle } from './folder.store.ts';
import {
  type ForeignFile,
  type Found,
  type MatchedBy,
  type Means,
  type Provider,
  ProviderFault,
  type Wanted,
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

async function search({ deps: { db } }: Means, wanted: Wanted): Promise<Found[]> {
  const { query, movieHash = null, season = null, episode = null } = wanted;
  const { imdb = null, tmdb = null } = idsOf(wanted);
  const rows = await findInFolder(db, {
    ...{ movieHash: query === undefined ? movieHash : null, imdb, tmdb, season, episode },
    title: folderTitle(titleOf(wanted)),
    languages: wanted.languages.flatMap(equalParts),
  });
  return rows.filter((row) => fitsYear(row, wanted)).map((row) => foundIn(row, wanted));
}

/** Those of the show for an episode; none for another title. */
const idsOf = ({ ids, show, query }: Wanted): Wanted['ids'] => (query === undefined ? (show?.ids ?? ids) : {});
const titleOf = ({ title, show, query }: Wanted): string => query ?? show?.title ?? title;

/** Films of the same name differ by a year or more. */
function fitsYear({ year, title, movie_hash: hash }: FolderRow, wanted: Wanted): boolean {
  if (hash !== null && hash === wanted.movieHash) return true;
  const isNamed = title === folderTitle(wanted.title) && wanted.query === undefined;
  return !isNamed || year === null || wanted.year === undefined || Math.abs(year - wanted.year) <= 1;
}

function foundIn(row: FolderRow, wanted: Wanted): Found {
  return {
    file: row.path + BETWEEN + row.entry,
    ...{ release: row.release, format: row.format },
    language: row.language === 'und' ? (wanted.languages[0] ?? 'und') : row.language,
    ...{ hearingImpaired: row.hearing_impaired, forced: row.forced, translatedByMachine: false },
    matchedBy: matchOf(row, wanted),
  };
}

function matchOf(row: FolderRow, wanted: Wanted): MatchedBy {
  if (wanted.query !== undefined) return 'title';
  if (row.movie_hash !== null && row.movie_hash === wanted.movieHash) return 'hash';
  if (hasId(row, wanted)) return wanted.show ? 'episode' : 'id';
  const [own, film] = [folderTitle(row.release), folderTitle(wanted.release ?? '')];
  return film !== '' && own === film ? 'release' : 'title';
}

function hasId({ imdb, tmdb }: FolderRow, wanted: Wanted): boolean {
  const ids = idsOf(wanted);
  return (imdb !== null && imdb === ids['imdb']) || (tmdb !== null && tmdb === ids['tmdb']);
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
