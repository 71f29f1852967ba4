import { parseTorrentTitle } from '@viren070/parse-torrent-title';
import { calendarDay } from './days.ts';
import { extraFile, extrasFolder } from './extras.ts';
import { splitName } from './kinds.ts';
import { type Named, readName, tidy } from './title.ts';

/** Where a video of a library of shows belongs. */
export interface Episode {
  show: Named;
  /** 0 is specials; absent for absolute numbers and dates without a season. */
  season?: number;
  /** First and last number of what the file holds. */
  number?: number;
  numberEnd?: number;
  /** `YYYY-MM-DD` of a daily show. */
  date?: string;
  title?: string;
  extra?: { kind: string; title: string };
}

interface Numbers {
  season?: number;
  number?: number;
  numberEnd?: number;
  date?: string;
  /** Where the numbers begin and end in the name. */
  at: number;
  end: number;
}

const MAX = 300;
const SEASON_FOLDER =
  /^(?:season|series|staffel|saison|temporada|stagione|seizoen|sezon|s)[\s._-]*(\d{1,4})(?:\D.*)?$/i;
const SPECIALS = /^(?:specials?|season[\s._-]*0+|s0+|ovas?|extras season)$/i;
const S_E = /(?<![a-z0-9])s(\d{1,4})[\s._-]*e(\d{1,4})((?:[\s._-]*(?:-|e|-e|x)[\s._-]*e?\d{1,4}(?!\d|p))*)/i;
const X = /(?<![a-z0-9])(\d{1,2})x(\d{2,3})(?:-(?:\d{1,2}x)?(\d{2,3}))?(?!\d)/i;
const DATE = /(?<!\d)(19\d\d|20\d\d)[\s._-](0[1-9]|1[0-2])[\s._-](0[1-9]|[12]\d|3[01])(?!\d)/;
const WORDED =
  /(?<![a-z])(?:episode|folge|épisode|episodio|ep|e)[\s._-]*(\d{1,4})(?:[\s._-]*-[\s._-]*(?:ep|e)?(\d{1,4}))?(?![a-z0-9])/i;
const LEADING = /^(\d{1,4})(?=[\s._-]|$)(?:[\s._]*-[\s._]*(\d{1,4})(?=[\s._-]|$))?/;
const TRAILING = /(?:^|\s-\s|[\s._]#)(\d{1,4})(?:v\d)?(?=\s*(?:[[({-]|$))/;

/** Reads a path inside the library's folder, its last name a video. Nothing when no episode number can be told. */
export function readEpisode(path: readonly string[]): Episode | undefined {
  const file = path.at(-1) ?? '';
  const { stem } = splitName(file);
  const context = contextOf(path.slice(0, -1));
  const numbers = numbersOf(stem.slice(0, MAX), context.season !== undefined || context.show !== undefined);
  const show = context.show ?? showOfFile(stem, numbers);
  if (!show || show.title === '') return undefined;
  const extra = context.extra ?? extraFile(file)?.kind;
  if (extra) return { show, ...seasonMember(context.season), extra: { kind: extra, title: tidy(stem) } };
  return numbers && { show, ...placed(numbers, context.season, stem) };
}

function seasonMember(season: number | undefined): { season?: number } {
  return season === undefined ? {} : { season };
}

/** A season the name tells wins over the folder's; dates go by their year, absolute numbers into the first season. */
function placed(
  { at: _at, end, ...told }: Numbers,
  folderSeason: number | undefined,
  stem: string,
): Omit<Episode, 'show'> {
  const season = told.season ?? folderSeason ?? (told.date === undefined ? 1 : Number(told.date.slice(0, 4)));
  const title = titleBehind(stem.slice(end));
  return title === '' ? { ...told, season } : { ...told, season, title };
}

interface Context {
  show?: Named;
  season?: number;
  extra?: string;
}

/** Walks up from the file: extras folder, season folder, folders of a single release, then the show's own. */
function contextOf(folders: readonly string[]): Context {
  const context: Context = {};
  for (const folder of folders.toReversed()) {
    const extra = extrasFolder(folder);
    const season = seasonOf(folder);
    if (extra && context.season === undefined) context.extra = extra;
    else if (season !== undefined) context.season ??= season;
    else if (!S_E.test(folder)) return { ...context, ...showFolder(folder, context.season) };
  }
  return context;
}

/** The number of a folder that is called like a season and nothing else. */
export function seasonOf(folder: string): number | undefined {
  if (SPECIALS.test(folder.trim())) return 0;
  const match = SEASON_FOLDER.exec(folder.trim().slice(0, MAX));
  return match ? Number(match[1]) : undefined;
}

/** `Show.S02.1080p` is a show and its season in one. */
function showFolder(folder: string, season: number | undefined): Context {
  const match = /^(.*\S)[\s._-]+(?:s|season[\s._-]*)(\d{1,2})(?![\de])/i.exec(folder.slice(0, MAX));
  if (!match || season !== undefined) return { show: readName(folder) };
  return { show: readName(match[1] ?? folder), season: Number(match[2]) };
}

function showOfFile(stem: string, numbers: Numbers | undefined): Named | undefined {
  if (!numbers) return undefined;
  const before = stem.slice(0, numbers.at).replace(/^\[[^\]]{1,40}\]\s*/, '');
  return tidy(before) === '' ? undefined : readName(before.replace(/[\s._-]+$/, ''));
}

function numbersOf(stem: string, placed: boolean): Numbers | undefined {
  return seasonEpisode(stem) ?? crossed(stem) ?? dated(stem) ?? worded(stem) ?? (placed ? bare(stem) : absolute(stem));
}

function seasonEpisode(stem: string): Numbers | undefined {
  const match = S_E.exec(stem);
  if (!match) return undefined;
  const more = [...(match[3] ?? '').matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return ranged({ match, season: Number(match[1]), number: Number(match[2]), last: more.at(-1) });
}

function crossed(stem: string): Numbers | undefined {
  const match = X.exec(stem);
  if (!match) return undefined;
  return ranged({
    match,
    season: Number(match[1]),
    number: Number(match[2]),
    last: match[3] ? Number(match[3]) : undefined,
  });
}

function dated(stem: string): Numbers | undefined {
  const match = DATE.exec(stem);
  const date = match ? calendarDay(`${match[1]}-${match[2]}-${match[3]}`) : undefined;
  return match && date ? { date, at: match.index, end: match.index + match[0].length } : undefined;
}

function worded(stem: string): Numbers | undefined {
  const match = WORDED.exec(stem);
  return match ? ranged({ match, number: Number(match[1]), last: match[2] ? Number(match[2]) : undefined }) : undefined;
}

/** Inside a show's folder a number alone is enough: `01 - Pilot`, `Show - 1001`. */
function bare(stem: string): Numbers | undefined {
  const leading = LEADING.exec(stem);
  if (leading)
    return ranged({ match: leading, number: Number(leading[1]), last: leading[2] ? Number(leading[2]) : undefined });
  return absolute(stem);
}

function absolute(stem: string): Numbers | undefined {
  const match = TRAILING.exec(stem);
  if (match) return ranged({ match, number: Number(match[1]), last: undefined });
  return undefined;
}

interface Range {
  match: RegExpExecArray;
  season?: number;
  number: number;
  last: number | undefined;
}

function ranged({ match, season, number, last }: Range): Numbers {
  return {
    ...(season === undefined ? {} : { season }),
    number,
    ...(last !== undefined && last > number ? { numberEnd: last } : {}),
    at: match.index,
    end: match.index + match[0].length,
  };
}

/** What stands behind the numbers, without release tags. */
function titleBehind(rest: string): string {
  const bare = rest.replace(/^[\s._-]+/, '');
  if (bare === '' || /^[[(]/.test(bare)) return '';
  // The parser knows release tags; a stand-in before the title makes it stop at them.
  const parsed = parseTitle(`S01E01 ${bare}`);
  return tidy(parsed);
}

function parseTitle(name: string): string {
  try {
    const parsed = parseTorrentTitle(name);
    return parsed.episodeTitle ?? parsed.title ?? '';
  } catch {
    return '';
  }
}
