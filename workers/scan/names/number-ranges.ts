/** The numbers in an episode's name. */
export interface Numbers {
  season?: number;
  number?: number;
  /** The last number if the file contains several episodes. */
  numberEnd?: number;
  /** `YYYY-MM-DD` of a daily show. */
  date?: string;
  /** Where the numbers begin and end in the name. */
  at: number;
  end: number;
}

/** Known facts about the location of the file. */
export interface Placing {
  /** Whether the name contains spaces. */
  spaced: boolean;
  /** Whether it is in the folder of a show. */
  placed: boolean;
  /** Whether the name began with a fansub group. */
  grouped: boolean;
  /** The season whose folder contains it. */
  season?: number | undefined;
  /** Where the name continues after the title of its show. */
  from: number;
}

/** Reads numbers in one notation. */
export type Rule = (name: string, placing: Placing) => Numbers | undefined;

/** Where a match ends in its text. */
export function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length;
}

/** Whether the number is a year. */
export function isCalendarYear(number: number): boolean {
  return number >= 1900 && number < 2100;
}

/** Numbers found after an offset in the name. */
export function shifted(numbers: Numbers, by: number): Numbers {
  return { ...numbers, at: numbers.at + by, end: numbers.end + by };
}

interface Range {
  match: RegExpExecArray;
  season?: number | undefined;
  number: number;
  last?: number | undefined;
}

/** The numbers of a match. */
export function ranged({ match, season, number, last }: Range): Numbers {
  return {
    ...(season === undefined ? {} : { season }),
    number,
    ...(last !== undefined && last > number ? { numberEnd: last } : {}),
    at: match.index,
    end: endOf(match),
  };
}

const MORE =
  /^[\s._]{0,2}(?:(?:[-&+~,]|-?(?:to|and)(?:-|(?=[\s._]|e\d)))[\s._]{0,2})?(?:s(\d{1,4})[\s._]?e|(\d{1,4})x|ep?|x)[\s._]?(\d{1,5})(?!\d|\p{L}{2})/iu;
const TIGHT = /^(?:v\d)?(?:[-~+]|to|[\s._](?:~|to)[\s._]|[\s._]{0,2}&[\s._]{0,2})(\d{1,5})(?:v\d)?(?![\p{L}\d])/iu;
const NEXT = /^[._](\d\d)(?=[\s._]|$)/;
const MOST = 100;
/** A spaced number at a greater distance is of another count: `S05E53 - Ep.129`. */
const FAR = 30;

/**
 * Reads further numbers after the first: `E02`, `-E02`, `x02`, ` - 1x02`, `-02`, `to E02`. A spaced number alone
 * belongs to the title.
 */
export function several(name: string, first: Numbers): Numbers {
  let found = first;
  for (let count = 0; count < MOST; count += 1) {
    const next = oneMore(name, found);
    if (!next) break;
    found = next;
  }
  return again(name, found);
}

function oneMore(name: string, found: Numbers): Numbers | undefined {
  const rest = name.slice(found.end, found.end + 24);
  const last = found.numberEnd ?? found.number ?? 0;
  const more = markedMore(rest, found, last) ?? tightMore(rest, last);
  return more && more.number > last ? { ...found, numberEnd: more.number, end: found.end + more.length } : undefined;
}

interface More {
  number: number;
  length: number;
}

/** A number marked like the first, of the same season. */
function markedMore(rest: string, { season }: Numbers, last: number): More | undefined {
  const [text, long, crossed, digits] = MORE.exec(rest) ?? [];
  const stated = long ?? crossed;
  if (text === undefined || (stated !== undefined && season !== undefined && Number(stated) !== season))
    return undefined;
  const number = Number(digits);
  const far = stated === undefined && text.includes(' ') && number - last > FAR;
  return far ? undefined : { number, length: text.length };
}

function tightMore(rest: string, last: number): More | undefined {
  const match = TIGHT.exec(rest) ?? nextOf(rest, last);
  const number = Number(match?.[1]);
  return match && number - last <= MOST ? { number, length: match[0].length } : undefined;
}

/** `S03E21.22`: only the next number. */
function nextOf(rest: string, last: number): RegExpExecArray | null {
  const match = NEXT.exec(rest);
  return Number(match?.[1]) === last + 1 ? match : null;
}

/** `S02E01-bar-S02E02-bar`: the same season again further on. */
function again(name: string, found: Numbers): Numbers {
  const rest = name.slice(found.end);
  const match = /(?<![\p{L}\d])s(\d{1,4})e(\d{1,4})(?!\d)/iu.exec(rest);
  const last = found.numberEnd ?? found.number ?? 0;
  if (!match || Number(match[1]) !== found.season || Number(match[2]) !== last + 1) return found;
  return { ...found, numberEnd: last + 1 };
}
