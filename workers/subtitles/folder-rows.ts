// What the name of a subtitle, and the text where the name is silent, say about it.
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

/** Rows of a file: one, or one for each name of a subtitle in an archive; a download takes the first entry of a name too. */
export function rowsOfFile(file: File, bytes: Buffer): FolderRow[] {
  if (!isZip(bytes))
    return [rowOf(file, { entry: '', text: () => decodeForeign(bytes.subarray(0, SAMPLE), undefined) })];
  const entries = zipEntries(bytes).slice(0, MOST_ENTRIES);
  return entries
    .filter(({ name }, at) => entries.findIndex((one) => one.name === name) === at)
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
  const { imdb = bareImdb(release), tmdb = null } = idsIn([...above, release]);
  const episode = readEpisode([...above, `${release}.mkv`]);
  if (episode?.number !== undefined) {
    const { show, season = null, number } = episode;
    return { title: folderTitle(show.title), year: show.year ?? null, season, episode: number, imdb, tmdb };
  }
  const { title, year = null } = readName(isHash(release) ? (above.at(-1) ?? '') : release);
  return { title: folderTitle(title), year, season: null, episode: null, imdb, tmdb };
}

/** A name that is only a hash: the folder names the film. */
const isHash = (release: string): boolean => release.replace(HASH, ' ').trim() === '';

/** `tt0113277` without brackets. */
const bareImdb = (name: string): string | null => /(?:^|[^0-9a-z])(tt\d{6,10})(?:$|[^0-9a-z])/i.exec(name)?.[1] ?? null;

const idsIn = (names: readonly string[]): Record<string, string> =>
  Object.assign({}, ...names.map((name) => readName(name).ids)) as Record<string, string>;

const FLAGS: Readonly<Record<string, 'forced' | 'hearingImpaired'>> = {
  ...{ forced: 'forced', foreign: 'forced', sdh: 'hearingImpaired', cc: 'hearingImpaired', hi: 'hearingImpaired' },
};

interface Marks {
  release: string;
  language: string | undefined;
  forced: boolean;
  hearingImpaired: boolean;
}

/** Language and flags are the last words of a name: `Heat.1995.de.forced`. */
function marksOf(stem: string): Marks {
  const parts = stem.split('.');
  const marks: Marks = { release: stem, language: undefined, forced: false, hearingImpaired: false };
  while (parts.length > 0 && noted(marks, parts)) parts.pop();
  marks.release = parts.join('.') || stem;
  return marks;
}

/** Whether the last word is a flag or the language. `hi` is Hindi unless a language is before it. */
function noted(marks: Marks, parts: readonly string[]): boolean {
  const [word = '', before = ''] = [parts.at(-1), parts.at(-2)];
  const flag = FLAGS[word.toLowerCase()];
  const isHindi = word.toLowerCase() === 'hi' && languageOf(before) === undefined;
  if (flag && !isHindi) {
    marks[flag] = true;
    return true;
  }
  if (marks.language !== undefined) return false;
  marks.language = languageOf(word);
  return marks.language !== undefined;
}
