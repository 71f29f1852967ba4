import { present } from '#workers/present.ts';
import { AMONG, ENDING, ENDS, FOLLOWS, HALF, NUMBERS, VOLUMES } from './comic-numbers.ts';
import { tidy } from './title.ts';

/** What the name of a comic without ComicInfo.xml says. */
export interface NamedComic {
  series?: string;
  /** As printed, without leading zeros: `12`, `12.5`, `1-8`. */
  number?: string;
  volume?: string;
  year?: number;
  title?: string;
}

const LONGEST = 300;
const LEADING = /^\d{1,3}\s-\s(?=\p{L})/u;
const YEARS = /[([][^()[\]]{0,12}?((?:1[5-9]|20)\d{2})(?:[-.]\d{2}){0,2}[)\]]/u;

interface Marker {
  text: string;
  at: number;
  end: number;
}

/** `Saga 012 (2013) (Digital)`, `One Piece v03 c021 - Title`, `[Group] Akira Vol. 2`, `いぬやしき 第09巻`. */
export function readComicName(stem: string): NamedComic {
  const name = cleaned(stem);
  const volume = firstOf(VOLUMES, name);
  const marked = firstOf(NUMBERS, volume ? blanked(name, volume) : name);
  const end = firstOf(ENDS, name);
  const number = marked ?? halfOf(name) ?? unmarked(name, volume, end);
  const year = YEARS.exec(name)?.[1];
  return present({
    ...aroundOf(
      name,
      [volume, number, end, volume && volumeBefore(name, volume)].filter((one) => one !== undefined),
    ),
    number: number && printed(number.text),
    volume: volume && printed(volume.text),
    year: year === undefined ? undefined : Number(year),
  });
}

/** The words before the first marker and after the last. */
function aroundOf(name: string, marks: readonly Marker[]): Pick<NamedComic, 'series' | 'title'> {
  if (marks.length === 0) return present({ series: seriesIn(name) });
  const first = Math.min(...marks.map(({ at }) => at));
  const last = Math.max(...marks.map(({ end }) => end));
  return present({ series: seriesIn(name.slice(0, first)), title: trimmed(bare(name.slice(last))) || undefined });
}

/** On one line, without the names of groups in front. */
function cleaned(stem: string): string {
  const text = stem.normalize('NFC').slice(0, LONGEST).replaceAll('【', '[').replaceAll('】', ']');
  let name = text.replaceAll('_', ' ').replaceAll(/\s+/g, ' ').trim();
  for (let close = closeOf(name); close > 0 && close < name.length - 1; close = closeOf(name))
    name = name.slice(close + 1).trim();
  return name;
}

/** The end of a bracket that the name begins with. */
function closeOf(name: string): number {
  const close = { '[': ']', '(': ')' }[name[0] ?? ''];
  return close === undefined ? -1 : name.indexOf(close);
}

function firstOf(patterns: readonly RegExp[], name: string): Marker | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(name);
    if (found) return markerOf(found);
  }
  return undefined;
}

/** The name with spaces in place of a marker. */
const blanked = (name: string, { at, end }: Marker): string =>
  name.slice(0, at) + ' '.repeat(end - at) + name.slice(end);

/** `T22` of `T22 Vol 714`. */
function volumeBefore(name: string, volume: Marker): Marker | undefined {
  const other = firstOf(VOLUMES, blanked(name, volume));
  return other && other.at < volume.at ? other : undefined;
}

function halfOf(name: string): Marker | undefined {
  const found = HALF.exec(name);
  return found ? { ...markerOf(found), text: `${found[1]}.5` } : undefined;
}

/** A number without a word or sign of its own. */
function unmarked(name: string, volume: Marker | undefined, end: Marker | undefined): Marker | undefined {
  if (volume) return behind(name, volume);
  return end ? undefined : (endingNumber(name) ?? numberAmong(name));
}

const markerOf = (found: RegExpExecArray, from = 0): Marker => ({
  ...{ text: found[1] ?? '', at: from + found.index, end: from + found.index + found[0].length },
});

/** A number right behind the volume: `v1 001`, `v6 - 10`. */
function behind(name: string, volume: Marker): Marker | undefined {
  const found = FOLLOWS.exec(name.slice(volume.end));
  return found ? markerOf(found, volume.end) : undefined;
}

/** The number at the end of the first part that ends with one; a year counts in the last part only. */
function endingNumber(name: string): Marker | undefined {
  const parts = [...partsOf(blankBrackets(name))];
  for (const [i, { at, part }] of parts.entries()) {
    const found = ENDING.exec(part);
    if (found && !isTitle(found, i === 0, i === parts.length - 1)) return markerOf(found, at);
  }
  return undefined;
}

/** Whether a number is the title of a series itself, or ends it as a year does. */
const isTitle = (found: RegExpExecArray, isFirst: boolean, isLast: boolean): boolean =>
  (isFirst && found.index === 0) || (!isLast && looksLikeYear(found[1] ?? ''));

/** A number of two digits or more among words, such as before the name of a group. */
function numberAmong(name: string): Marker | undefined {
  const found = AMONG.exec(blankBrackets(name));
  const text = found?.[1] ?? '';
  return found && text.length > 1 && !looksLikeYear(text) ? markerOf(found) : undefined;
}

/** Parts between spaced hyphens, with their places, without spaces at their end. */
function* partsOf(text: string): Generator<{ at: number; part: string }> {
  for (let at = 0; at <= text.length; ) {
    const next = text.indexOf(' - ', at);
    const end = next < 0 ? text.length : next;
    yield { at, part: text.slice(at, end).replace(NOISE, '').trimEnd() };
    if (next < 0) return;
    at = next + 2;
  }
}

const NOISE = /\s(?:c2c|digital|webrip)\s{0,300}$/i;
const looksLikeYear = (text: string): boolean => /^(?:19|20)\d{2}$/.test(text);

/** Brackets and the words in them become spaces. */
function blankBrackets(name: string): string {
  let depth = 0;
  let out = '';
  for (const char of name) {
    if ('([{'.includes(char)) depth += 1;
    out += depth > 0 ? ' '.repeat(char.length) : char;
    if (')]}'.includes(char)) depth = Math.max(0, depth - 1);
  }
  return out;
}

const bare = (text: string): string => blankBrackets(text).replaceAll(/\s+/g, ' ').trim();
const EDGE = ' -,:;#&';

/** Without separators at its ends. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && EDGE.includes(text[from] ?? '')) from += 1;
  while (to > from && EDGE.includes(text[to - 1] ?? '')) to -= 1;
  return text.slice(from, to);
}

function seriesIn(text: string): string | undefined {
  const own = trimmed(bare(text).replace(LEADING, '').replace(NOISE, ''));
  return tidy(own) || undefined;
}

/** Without leading zeros; a range only where it rises. */
function printed(text: string): string {
  const [from = '', to] = text.split('-').map((one) => one.replace(/^c?0*(?=\d)/, ''));
  return to !== undefined && Number(to) > Number(from) ? `${from}-${to}` : from;
}
