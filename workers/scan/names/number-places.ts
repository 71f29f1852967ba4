import { dayAt } from './number-days.ts';
import { endOf, isCalendarYear, type Numbers, type Placing, ranged, several, shifted } from './number-ranges.ts';

const DASHED = /(?:[\s_.]-[\s_.]{0,2}|[\s._]#)(\d{1,4})(?:[\s._]?v\d)?(?![\p{L}\d]|\.\d)/giu;
const BRACKETED =
  /[[【{](\d{1,4})(?:v\d|完)?(?:[\s_]?(?:end|fin)|（end）)?(?:[-~](\d{1,4}))?[\]】}]|\((0\d{1,3}|\d{2,4})(?:[-~](\d{1,4}))?\)/giu;

/** `Show - 02`: prefers a number at the end of the name or of a part to one that begins a title. */
export function dashed(name: string, { from }: Placing): Numbers | undefined {
  const match = plainDash(name, from) ?? name.slice(from).matchAll(DASHED).next().value;
  if (!match) return undefined;
  const before = /(?<=[\s._])(0\d{1,3})$/.exec(name.slice(0, from + match.index));
  if (before && Number(before[1]) < Number(match[1]))
    return { number: Number(before[1]), numberEnd: Number(match[1]), at: before.index, end: from + endOf(match) };
  const end = from + endOf(match);
  const last = BATCH.exec(name.slice(end, end + 16));
  return several(name, {
    number: Number(match[1]),
    ...(last && Number(last[1]) > Number(match[1]) ? { numberEnd: Number(last[1]) } : {}),
    at: from + match.index,
    end: end + (last?.[0].length ?? 0),
  });
}

const BATCH = /^\s-\s(\d{2,4})(?=[\s_]{0,2}(?:[[(]|$))/;

function plainDash(name: string, from: number): RegExpExecArray | undefined {
  return [...name.slice(from).matchAll(DASHED)].find((match) => endsPart(name, from + endOf(match)));
}

function endsPart(name: string, end: number): boolean {
  return (
    /^(?:[\s._]{0,4}$|[\s_]{0,2}[[(【{~-]|[\s_]{2})/.test(name.slice(end, end + 6)) ||
    RANGE.test(name.slice(end, end + 8))
  );
}

const RANGE = /^(?:v\d)?-\d/i;

/** `[02]`, `(01-25)`. */
export function bracketed(name: string, { from, season }: Placing): Numbers | undefined {
  const all = [...name.slice(from).matchAll(BRACKETED)];
  const match = all.find((one) => !isCalendarYear(Number(one[1] ?? one[3])));
  if (!match) return undefined;
  const last = match[2] ?? match[4];
  const numbers = ranged({
    match,
    number: withoutSeason(match[1] ?? match[3] ?? '', season),
    last: last === undefined ? undefined : Number(last),
  });
  return shifted(numbers, from);
}

const LEADING = /^[\s._-]{0,3}(\d{1,4})(?:v\d)?(?![\p{L}\d])/u;
const SEASON_DASH = /^[\s._]?(\d{1,2})-(\d\d)(?!\d)/;

/** In a show's folder a name may begin with the number: `01 - Pilot`. */
export function leading(name: string, placing: Placing): Numbers | undefined {
  const { placed, season, from } = placing;
  if (!placed) return undefined;
  const rest = name.slice(from);
  return (season === undefined ? bothNumbers(rest, from) : undefined) ?? leadingNumber(name, placing);
}

/** `1-12`: a season and a number, unless the second number is the next one. */
function bothNumbers(rest: string, from: number): Numbers | undefined {
  const both = SEASON_DASH.exec(rest);
  if (!both || Number(both[2]) === Number(both[1]) + 1) return undefined;
  return shifted(ranged({ match: both, season: Number(both[1]), number: Number(both[2]) }), from);
}

function leadingNumber(name: string, { from, season }: Placing): Numbers | undefined {
  const match = LEADING.exec(name.slice(from));
  const year = from === 0 && isCalendarYear(Number(match?.[1]));
  if (!match || year || (from > 0 && plainDash(name, from))) return undefined;
  return several(name, shifted(ranged({ match, number: withoutSeason(match[1] ?? '', season) }), from));
}

/** `101` in the folder of the first season is its first episode. */
function withoutSeason(digits: string, season: number | undefined): number {
  const number = Number(digits);
  const coded = season !== undefined && season > 0 && digits.length > 2 && Math.trunc(number / 100) === season;
  return coded && number % 100 > 0 ? number % 100 : number;
}

const SHORT = /(?<!-)(?:[._]|(?<=[\p{L}\s])-)(\d{1,2})(\d\d)(\d\d)?(?=[\s._[]|-(?!\d)|$)/giu;
const DAY_SHORT = /[._-](\d\d)(\d\d)(\d\d)(?=[\s._[-]|$)/;

/**
 * `show.203.title`: season and number in one, in names without spaces. `show.10708` contains two, `show.140722` is a
 * date.
 */
export function short(name: string, { from, spaced, grouped }: Placing): Numbers | undefined {
  if (spaced || grouped) return undefined;
  const found = [...name.slice(from).matchAll(SHORT)].flatMap((match) => shortOf(match) ?? []);
  const last = found.at(-1);
  if (last) return shifted(last, from);
  const day = DAY_SHORT.exec(name);
  return day ? dayAt(day, [`20${day[1]}`, day[2], day[3]]) : undefined;
}

function shortOf(match: RegExpExecArray): Numbers | undefined {
  const [season = 0, number = 0, second] = match
    .slice(1)
    .map((digits) => (digits === undefined ? undefined : Number(digits)));
  if (season === 0 || number === 0 || isCalendarYear(season * 100 + number)) return undefined;
  if (second !== undefined && second !== number + 1) return undefined;
  return ranged({ match, season, number, last: second });
}

const LAST =
  /(?:^|[\s._#-])(\d{1,4})(?:[\s._]?[-~&][\s._]?(\d{1,4}))?(?:[\s._]?v\d)?(?=[\s._-]{0,3}(?:$|[[(【{]|\s{2}))/giu;
const LAST_BRACKET = /\((\d{1,3})\)[\s._]{0,3}$/;
const LOOSE = /(?<=[\s._]|\p{L}{2}-)(\d{2,4})(?:v\d)?(?=[\s._])/giu;
const BEFORE_DASH = /(?<=[\s._])(\d{1,3})-(\d{1,3})(?=[\s._]{1,3}-)/;
const FIRST = /^(\d{2,4})(?:-(\d{2,4}))?(?:\.\s|\s-\s|-|\s(?=\p{L}))/u;

/** `03-Show` and `003-004. Show - Title` outside a show's folder. */
export function first(name: string, { placed }: Placing): Numbers | undefined {
  const match = placed ? null : FIRST.exec(name);
  if (!match || isCalendarYear(Number(match[1]))) return undefined;
  const last = match[2] === undefined ? undefined : Number(match[2]);
  return ranged({ match, number: Number(match[1]), last });
}

/** `Show 12`: the last number before brackets and release tags. */
export function trailing(name: string, { from }: Placing): Numbers | undefined {
  const match = [...name.slice(from).matchAll(LAST)].find((one) => !isCalendarYear(Number(one[1])));
  if (!match) return inLastBracket(name);
  const last = match[2] === undefined ? undefined : Number(match[2]);
  return several(name, shifted(ranged({ match, number: Number(match[1]), last }), from));
}

function inLastBracket(name: string): Numbers | undefined {
  const range = BEFORE_DASH.exec(name);
  if (range) return ranged({ match: range, number: Number(range[1]), last: Number(range[2]) });
  const match = LAST_BRACKET.exec(name);
  return match ? ranged({ match, number: Number(match[1]) }) : undefined;
}

/** A separate number of at least two digits anywhere. */
export function loose(name: string, { from }: Placing): Numbers | undefined {
  const all = [...name.slice(from).matchAll(LOOSE)].filter((one) => !isCalendarYear(Number(one[1])));
  const match = all.at(-1);
  return match && shifted(ranged({ match, number: Number(match[1]) }), from);
}

const PART =
  /(?<![\p{L}\d])(?:part|pt|parte|teil|episode)[\s._-]{0,2}(\d{1,3}|[ivx]{1,5}|one|two|three|four|five|six|seven|eight|nine|ten)(?![\p{L}\d])/iu;
const WORDS = ' one two three four five six seven eight nine ten'.split(' ');
const AND_PART = /^[\s._]and[\s._]part[\s._]?(\d{1,3})(?!\d)/i;
const ROMAN = ' i ii iii iv v vi vii viii ix x xi xii xiii xiv xv'.split(' ');

/** A miniseries is numbered in parts. */
export function part(name: string, { grouped }: Placing): Numbers | undefined {
  if (grouped) return undefined;
  const match = PART.exec(name);
  const word = (match?.[1] ?? '').toLowerCase();
  const number = /^\d/.test(word) ? Number(word) : Math.max(ROMAN.indexOf(word), WORDS.indexOf(word));
  if (!match || number <= 0) return undefined;
  const more = AND_PART.exec(name.slice(endOf(match)));
  return ranged({ match, number, last: more ? Number(more[1]) : undefined });
}
