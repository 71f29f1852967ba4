// What the name of a subtitle, and the text where the name is silent, say about it.
import { posix } from 'node:path';
import {
  decodeForeign,
  type FolderRow,
  folderTitle,
  guessedLanguage,
  isZip,
  readEntry,
  zipEntries,
} from '#areas/subtitles/public.ts';
import { splitName } from '../scan/names/kinds.ts';
import { languageOf } from '../scan/names/languages.ts';
import { readEpisode } from '../scan/names/shows.ts';
import { readName } from '../scan/names/title.ts';

const MOST_ENTRIES = 200;
const SAMPLE = 64 << 10;
const HASH = /(?:^|[^0-9a-z])([0-9a-f]{16})(?=$|[^0-9a-z])/i;

interface File {
  path: string;
  sizeBytes: number;
  modifiedMs: number;
}

/** Rows of a file: one, or one for each subtitle in an archive. */
export function rowsOfFile(file: File, bytes: Buffer): FolderRow[] {
  if (!isZip(bytes))
    return [rowOf(file, { entry: '', text: () => decodeForeign(bytes.subarray(0, SAMPLE), undefined) })];
  return zipEntries(bytes)
    .slice(0, MOST_ENTRIES)
    .map((entry) =>
      rowOf(file, {
        entry: entry.name,
        text: () => decodeForeign(readEntry(bytes, entry)?.subarray(0, SAMPLE) ?? Buffer.alloc(0), undefined),
      }),
    );
}

interface Content {
  entry: string;
  text: () => string;
}

function rowOf(file: File, { entry, text }: Content): FolderRow {
  const names = [...file.path.split('/'), ...(entry === '' ? [] : entry.split('/'))];
  const own = names.at(-1) ?? '';
  const { stem, extension } = splitName(own);
  const { release, ...marks } = marksOf(stem);
  const above = names.slice(0, -1).map((name) => name.replace(/\.zip$/i, ''));
  return {
    ...{ path: file.path, entry, size_bytes: file.sizeBytes, modified_ms: file.modifiedMs },
    ...{ release: release.slice(0, 300), format: extension || 'srt' },
    ...namedIn(release, above),
    movie_hash: names.map((name) => HASH.exec(splitName(name).stem)?.[1]?.toLowerCase()).findLast(Boolean) ?? null,
    language: marks.language ?? guessedLanguage(text()) ?? 'und',
    ...{ forced: marks.forced, hearing_impaired: marks.hearingImpaired },
  };
}

type Named = Pick<FolderRow, 'title' | 'year' | 'season' | 'episode' | 'imdb' | 'tmdb'>;

/** The film or episode: by the name of the file, with ids of the folders above. */
function namedIn(release: string, above: readonly string[]): Named {
  const episode = readEpisode([...above, `${release}.mkv`]);
  const plain = release.replace(HASH, ' ').trim();
  const film = readName(plain === '' ? posix.basename(above.at(-1) ?? '') : release);
  const named = episode?.number === undefined ? film : episode.show;
  const ids = [...above, release].reduce<Record<string, string>>(
    (all, name) => ({ ...all, ...readName(name).ids }),
    {},
  );
  return {
    ...{ title: folderTitle(named.title), year: named.year ?? null },
    ...{ season: episode?.number === undefined ? null : (episode.season ?? null), episode: episode?.number ?? null },
    ...{ imdb: ids['imdb'] ?? bareImdb(release) ?? null, tmdb: ids['tmdb'] ?? null },
  };
}

/** `tt0113277` without brackets. */
const bareImdb = (name: string): string | undefined => /(?:^|[^0-9a-z])(tt\d{6,10})(?:$|[^0-9a-z])/i.exec(name)?.[1];

const FLAGS: Readonly<Record<string, 'forced' | 'hearingImpaired'>> = {
  ...{ forced: 'forced', foreign: 'forced', sdh: 'hearingImpaired', cc: 'hearingImpaired', hi: 'hearingImpaired' },
};

interface Marks {
  release: string;
  language: string | undefined;
  forced: boolean;
  hearingImpaired: boolean;
}

/** Language and flags are the last words of a name: `Heat.1995.de.forced`. `hi` is Hindi unless a language is before it. */
function marksOf(stem: string): Marks {
  const parts = stem.split('.');
  const marks: Marks = { release: stem, language: undefined, forced: false, hearingImpaired: false };
  while (parts.length > 1 || (parts.length === 1 && languageOf(parts[0] ?? '') !== undefined)) {
    const word = parts.at(-1) ?? '';
    const flag = FLAGS[word.toLowerCase()];
    const language = marks.language === undefined ? languageOf(word) : undefined;
    const isHindi = word.toLowerCase() === 'hi' && languageOf(parts.at(-2) ?? '') === undefined;
    if (flag && !isHindi) marks[flag] = true;
    else if (language !== undefined) marks.language = language;
    else break;
    parts.pop();
  }
  marks.release = parts.join('.');
  return marks;
}
