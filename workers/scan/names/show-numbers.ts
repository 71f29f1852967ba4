import { withoutGroup } from './fansubs.ts';
import { type Numbers, numbersOf } from './numbers.ts';
import { seasonWithin } from './seasons.ts';
import { tagsOf } from './tags.ts';
import { episodeTitle, type Named, readName, tidy, titleKey } from './title.ts';
import { tokenise } from './tokens.ts';

/** What the folders above a video determine. */
export interface Context {
  show?: Named;
  /** A name to use for the show if there is no other. */
  fallback?: Named;
  season?: number;
  extra?: string;
  /** The name of a folder that contains a single episode. */
  release?: string;
}

/** A name with the numbers in it. */
export interface Numbered {
  stem: string;
  numbers: Numbers;
}

/** The numbers of the file, otherwise of the folder that contains only it. */
export function numbersIn(context: Context, stem: string): Numbered | undefined {
  const bare = withoutGroup(stem);
  const placing = { placed: context.show !== undefined, season: context.season, grouped: bare !== stem };
  const from = behindShow(bare, context.show);
  const numbers = numbersOf(bare, { ...placing, from });
  if (!context.release || marked(numbers)) return numbers && { stem: bare, numbers };
  const outer = numbersOf(context.release, { ...placing, from: 0 });
  if (outer && (marked(outer) || !numbers)) return { stem: context.release, numbers: outer };
  return numbers && { stem: bare, numbers };
}

function marked(numbers: Numbers | undefined): boolean {
  return numbers !== undefined && (numbers.season !== undefined || numbers.date !== undefined);
}

/** Where a name continues after the title of its show, so that numbers of the title are skipped. */
function behindShow(stem: string, show: Named | undefined): number {
  if (!show) return 0;
  const title = tokenise(show.title).map(({ low }) => titleKey(low));
  const words = tokenise(stem);
  const same = title.every((word, i) => titleKey(words[i]?.low ?? '') === word);
  const last = words[title.length - 1];
  return same && last && words.length > title.length ? last.end : 0;
}

const DAY = /(?<!\d)(?:19|20)\d\d[\s._-]\d\d[\s._-]\d\d(?!\d)/;
const LAST_WORD = /[\s._-](?:ep|episode|e(?=\d))\s?\d{0,4}[\s._-]{0,3}$|[\s._]\d{3}-\d{3}[\s._]{0,3}$/i;
const SHORT_DAY = /^\d{6}[\s._]/;
const ABSOLUTE = /[\s_.]-[\s_.]{0,2}\d{1,4}(?:\.\d)?(?:-\d{1,4})?[\s_.]{0,2}[-([]?[\s_.]{0,2}$/;

/** The name before the numbers, without a date, a season or a repeated number. */
export function showOfFile(numbered: Numbered | undefined): Named | undefined {
  if (!numbered) return undefined;
  const before = numbered.stem.slice(0, numbered.numbers.at).replace(SHORT_DAY, '');
  if (tidy(before) === '') return undefined;
  const first = [before.search(DAY), before.search(ABSOLUTE), before.length].filter((at) => at > 0);
  const name = before.slice(0, Math.min(...first)).replace(LAST_WORD, '');
  const within = seasonWithin(name);
  return readName(within && !isCountedSeries(name, within, numbered.numbers.season) ? within.before : name);
}

/** `The Series 42 S09E13`: "series" with a number other than the season's belongs to the title. */
function isCountedSeries(
  name: string,
  within: { before: string; season?: number },
  season: number | undefined,
): boolean {
  const other = season !== undefined && within.season !== undefined && within.season !== season;
  return other && /^series\s/i.test(name.slice(within.before.length));
}

/** `01 - Show - Title` outside a show's folder. */
export function showBehind(
  numbered: Numbered | undefined,
): { show: Named; season?: number; title: string } | undefined {
  if (!numbered || numbered.numbers.at > 0) return undefined;
  const rest = tidy(numbered.stem.slice(numbered.numbers.end).replace(/^[\s._-]{1,4}/, ''));
  const [name = '', ...more] = rest.split(' - ');
  if (tidy(name) === '' || tagsOf(name)[0]?.tag === 'release') return undefined;
  const within = seasonWithin(name) ?? { before: name };
  return { show: readName(within.before), ...seasonMember(within.season), title: episodeTitle(more.join(' - ')) };
}

function seasonMember(season: number | undefined): { season?: number } {
  return season === undefined ? {} : { season };
}
