import { extraFile, extraTitle } from './extras.ts';
import { kindOf, splitName } from './kinds.ts';
import { numbersOf } from './numbers.ts';
import { seasonWithin } from './seasons.ts';
import { contextOf } from './show-context.ts';
import { type Context, type Numbered, numbersIn, showBehind, showOfFile } from './show-numbers.ts';
import { specialIn } from './show-specials.ts';
import { withSpaces } from './text.ts';
import { episodeTitle, type Named, tidy, titleKey } from './title.ts';

/** The place of a video in a library of shows. */
export interface Episode {
  show: Named;
  /** 0 is specials; absent for absolute numbers and dates without a season. */
  season?: number;
  /** First and last number of the episodes in the file. */
  number?: number;
  numberEnd?: number;
  /** `YYYY-MM-DD` of a daily show. */
  date?: string;
  title?: string;
  extra?: { kind: string; title: string };
}

const MAX = 300;

/** Reads a path inside the library's folder that ends with a video. Undefined without an episode number. */
export function readEpisode(path: readonly string[]): Episode | undefined {
  return readEpisodeIn(contextOf(path.slice(0, -1)), path.at(-1) ?? '');
}

/** Reads the name of a video in a folder that was read before. */
export function readEpisodeIn(context: Context, file: string): Episode | undefined {
  const stem = withSpaces(withoutExtension(withDigits(splitName(file).stem.normalize('NFC').slice(0, MAX))));
  const numbered = numbersIn(context, stem);
  const named = showOf(context, numbered);
  const kind = context.extra ?? extraOf(file, numbered);
  if (!numbered && !kind && context.season === undefined) return specialIn(stem, context.show);
  if (!named || named.show.title === '') return undefined;
  const { show } = named;
  if (kind) return { show, ...seasonMember(context.season), extra: { kind, title: extraTitle(file) } };
  return numbered ? titled({ show, ...placed(numbered, named) }, context) : unnumbered(stem, show, context);
}

/** A file without a number in the folder of the specials. */
function unnumbered(stem: string, show: Named, { season }: Context): Episode | undefined {
  return season === 0 ? { show, season, title: episodeTitle(stem) || tidy(stem) } : undefined;
}

/** In a name with numbers, a suffix after only a space is a word of the episode's title. */
function extraOf(file: string, numbered: Numbered | undefined): string | undefined {
  const suffix = extraFile(file);
  return suffix?.spaced && numbered ? undefined : suffix?.kind;
}

interface NamedShow {
  show: Named;
  season?: number | undefined;
  /** Title of the episode, if it follows the show's. */
  title?: string;
}

/** The folder names the show, otherwise the file, before or after its numbers. */
function showOf(context: Context, numbered: Numbered | undefined): NamedShow | undefined {
  const { show, season, fallback } = context;
  if (show) return { show, season };
  const before = showOfFile(numbered);
  if (before) return { show: before, season };
  const behind = showBehind(numbered);
  return behind ? { season, ...behind } : fallback && { show: fallback, season };
}

/** Full-width digits become ASCII digits. */
function withDigits(name: string): string {
  return name.replaceAll(/[０-９]/g, (digit) => digit.normalize('NFKC'));
}

/** `film.avi.mkv` is a converted file. */
function withoutExtension(stem: string): string {
  return kindOf(stem) === 'video' ? splitName(stem).stem : stem;
}

/** A release folder may contain the title that the file lacks. */
function titled(episode: Episode, { release }: Context): Episode {
  if (episode.title !== undefined || release === undefined) return episode;
  const outer = numbersOf(release, { placed: false, grouped: false, from: 0 });
  const title = outer?.number === episode.number ? episodeTitle(release.slice(outer?.end)) : '';
  return title === '' ? episode : { ...episode, title };
}

function seasonMember(season: number | undefined): { season?: number } {
  return season === undefined ? {} : { season };
}

/** A season in the name wins over the folder's; dates use their year, absolute numbers the first season. */
function placed({ stem, numbers: { at, end, ...numbered } }: Numbered, named: NamedShow): Omit<Episode, 'show'> {
  const byDate = numbered.date === undefined ? 1 : Number(numbered.date.slice(0, 4));
  const season = numbered.season ?? named.season ?? seasonWithin(stem.slice(0, at))?.season ?? byDate;
  const title = named.title ?? withoutShow(episodeTitle(stem.slice(end)), named.show);
  return title === '' ? { ...numbered, season } : { ...numbered, season, title };
}

/** `2x05 - Show - Title`. */
function withoutShow(title: string, show: Named): string {
  const dash = title.indexOf(' - ');
  return dash > 0 && titleKey(title.slice(0, dash)) === titleKey(show.title) ? title.slice(dash + 3) : title;
}
