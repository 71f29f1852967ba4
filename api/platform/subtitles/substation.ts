import { isAsMade, type TimedPart, type Timing, timedParts } from './timing.ts';

/** Lines that are cut into parts may add this many characters to a text; later ones stay whole. */
const MOST_ADDED = 4_000_000;

interface Fields {
  start: number;
  end: number;
  count: number;
}

/** Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text. */
const USUAL: Fields = { start: 1, end: 2, count: 10 };

/**
 * A SubStation text at the times of a correction. A rate also scales the times inside a line, and a piece cuts a line
 * that lasts over its beginning; everything else stays as it is. Linear in the length of the text.
 */
export function timedSubstation(text: string, timing: Timing): string {
  if (isAsMade(timing)) return text;
  const out: string[] = [];
  let inEvents = false;
  let fields = USUAL;
  let left = MOST_ADDED;
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('[')) inEvents = /^\[Events\]/i.test(line);
    else if (inEvents && /^Format:/i.test(line)) fields = fieldsOf(line);
    const parts = inEvents && /^(?:Dialogue|Comment):/i.test(line) ? timedLine(line, fields, { timing, left }) : [line];
    out.push(...parts);
    if (parts.length > 1) left -= line.length * (parts.length - 1);
  }
  return out.join('\n');
}

function fieldsOf(line: string): Fields {
  const names = line
    .slice(7, 1000)
    .split(',')
    .map((name) => name.trim().toLowerCase());
  const found = { start: names.indexOf('start'), end: names.indexOf('end'), count: names.length };
  return found.start < 0 || found.end < 0 ? USUAL : found;
}

function timedLine(line: string, fields: Fields, { timing, left }: { timing: Timing; left: number }): string[] {
  const named = line.indexOf(':') + 1;
  const colon = line[named] === ' ' ? named + 1 : named;
  const columns = columnsOf(line.slice(colon), fields.count);
  const [startMs, endMs] = [msOf(columns[fields.start]), msOf(columns[fields.end])];
  if (startMs === undefined || endMs === undefined || endMs < startMs) return [line];
  const cut = timedParts({ startMs, endMs: Math.max(endMs, startMs + 1) }, timing);
  const costly = line.length * (cut.length - 1) > left;
  const parts = costly ? timedParts({ startMs, endMs }, only(timing, startMs)) : cut;
  const words = columns.at(-1) ?? '';
  return parts.map((part) => {
    const shown = columns.with(fields.start, clock(Math.max(part.atMs, 0))).with(fields.end, clock(part.untilMs));
    const inner = innerOf(part, { startMs, endMs, rate: timing.rate });
    return `${line.slice(0, colon)}${shown.with(-1, timedWords(words, inner)).join(',')}`;
  });
}

/** The offset at a cue time, for all times. */
function only({ offsetMs, rate, pieces }: Timing, atMs: number): Timing {
  return { offsetMs: pieces.findLast((piece) => piece.fromMs <= atMs)?.offsetMs ?? offsetMs, rate, pieces: [] };
}

/** The first columns of a line, and the rest as the last one. */
function columnsOf(text: string, count: number): string[] {
  const columns: string[] = [];
  let at = 0;
  while (columns.length < count - 1) {
    const comma = text.indexOf(',', at);
    if (comma < 0) break;
    columns.push(text.slice(at, comma));
    at = comma + 1;
  }
  columns.push(text.slice(at));
  return columns;
}

/** `1:02:03.45`, the time of a line. */
function msOf(time: string | undefined): number | undefined {
  const [, hours, minutes, seconds] =
    /^\s{0,20}(\d{1,4}):(\d{1,2}):(\d{1,2}(?:[.:]\d{1,3})?)\s{0,20}$/.exec(time ?? '') ?? [];
  if (seconds === undefined) return undefined;
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(':', '.'))) * 1000);
}

/** A time in SubStation's format, which has hundredths. */
export function clock(ms: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const all = Math.round(ms / 10);
  return `${Math.floor(all / 360_000)}:${two(Math.floor(all / 6000) % 60)}:${two(Math.floor(all / 100) % 60)}.${two(all % 100)}`;
}

/** How the times inside a line change, in ms from its beginning. */
interface Inner {
  rate: number;
  /** Time of the line, at the rate, that is not in this part. */
  goneMs: number;
  /** Length of the line at the rate. */
  wholeMs: number;
  /** The part is not the whole line, so times that are left to the line must be written. */
  cut: boolean;
}

function innerOf(part: TimedPart, { startMs, endMs, rate }: { startMs: number; endMs: number; rate: number }): Inner {
  const goneMs = Math.round((part.fromMs - startMs) * rate) + Math.max(-part.atMs, 0);
  const wholeMs = Math.round((endMs - startMs) * rate);
  const shownMs = part.untilMs - Math.max(part.atMs, 0);
  return { rate, goneMs, wholeMs, cut: goneMs > 0 || wholeMs - shownMs > 1 };
}

/** The words of a line with scaled times in their codes. */
function timedWords(words: string, inner: Inner): string {
  if (inner.rate === 1 && !inner.cut) return words;
  const out: string[] = [];
  const song = { atCs: 0, sungCs: 0 };
  let at = 0;
  for (let open = words.indexOf('{'); open >= 0; open = words.indexOf('{', at)) {
    const close = words.indexOf('}', open);
    if (close < 0) break;
    out.push(words.slice(at, open), timedCodes(words.slice(open, close), inner, song));
    at = close;
  }
  return out.join('') + words.slice(at);
}

/** A line stores only the lengths of its syllables, so their sum is kept. */
interface Song {
  /** End of the syllables so far, in hundredths of the original. */
  atCs: number;
  /** The same at the rate, in this part. */
  sungCs: number;
}

const SYLLABLE = /^\\(k[fot]?|K)(\d{1,7}(?:\.\d{1,4})?)/;
const TIMED = /^\\(t|move|fade?)\(([^()\\]{0,200})/;

function timedCodes(codes: string, inner: Inner, song: Song): string {
  const out: string[] = [];
  let at = 0;
  for (let slash = codes.indexOf('\\'); slash >= 0; slash = codes.indexOf('\\', slash + 1)) {
    const code = codes.slice(slash, slash + 220);
    const timed = syllable(code, inner, song) ?? timedCode(code, inner);
    if (!timed) continue;
    out.push(codes.slice(at, slash), timed.text);
    at = slash + timed.length;
  }
  return out.join('') + codes.slice(at);
}

interface Changed {
  text: string;
  /** Length of the original. */
  length: number;
}

function syllable(code: string, { rate, goneMs }: Inner, song: Song): Changed | undefined {
  const [all, name, length] = SYLLABLE.exec(code) ?? [];
  if (all === undefined) return undefined;
  song.atCs = name === 'kt' ? Number(length) : song.atCs + Number(length);
  const until = Math.max(Math.round(song.atCs * rate - goneMs / 10), 0);
  const value = name === 'kt' ? until : Math.max(until - song.sungCs, 0);
  song.sungCs = until;
  return { text: `\\${name}${value}`, length: all.length };
}

function timedCode(code: string, inner: Inner): Changed | undefined {
  const [all, name, list = ''] = TIMED.exec(code) ?? [];
  if (all === undefined) return undefined;
  const made = { t: changedTransform, move: changedMove, fad: changedFade, fade: changedFade }[name as 't'];
  const text = made(list.split(','), inner);
  return text === undefined ? undefined : { text: `\\${text}`, length: all.length };
}

/** A time inside the part. */
const inPart = (text: string | undefined, { rate, goneMs }: Inner): number =>
  Math.round((Number(text) || 0) * rate) - goneMs;

/** `\t([from,to,][speed,]codes)`: without times it lasts as long as the line. */
function changedTransform(list: readonly string[], inner: Inner): string | undefined {
  const numbers = list.slice(0, -1); // what follows the last comma is the codes, or nothing before them
  const speed = numbers.length % 2 === 1 ? [numbers.at(-1)] : [];
  const timed = numbers.length >= 2;
  if (!timed && !inner.cut) return undefined;
  const [from, to] = timed ? [inPart(numbers[0], inner), inPart(numbers[1], inner)] : [-inner.goneMs, 0];
  const whole = !timed || Number(numbers[1]) === 0;
  const end = whole ? inner.wholeMs - inner.goneMs : to;
  if (whole && !inner.cut) return `t(${[from, 0, ...speed, list.at(-1)].join(',')}`;
  return `t(${[Math.min(from, end), end === 0 ? -1 : end, ...speed, list.at(-1)].join(',')}`; // an end of 0 means the line's
}

/** `\move(x1,y1,x2,y2[,from,to])`. A move that is over becomes its end. */
function changedMove(list: readonly string[], inner: Inner): string | undefined {
  const [x1, y1, x2, y2, first, last] = list;
  const whole = last === undefined || (Number(first) <= 0 && Number(last) <= 0);
  if (y2 === undefined || (whole && !inner.cut)) return undefined;
  const from = whole ? -inner.goneMs : inPart(first, inner);
  const to = whole ? inner.wholeMs - inner.goneMs : inPart(last, inner);
  return from <= 0 && to <= 0 ? `pos(${x2},${y2}` : `move(${[x1, y1, x2, y2, from, to].join(',')}`;
}

/** `\fad(in,out)` and `\fade(a1,a2,a3,t1,t2,t3,t4)`. */
function changedFade(list: readonly string[], inner: Inner): string | undefined {
  if (list.length === 7) {
    const times = list.slice(3).map((time) => inPart(time, inner));
    return `fade(${[...list.slice(0, 3), ...times].join(',')}`;
  }
  if (list.length !== 2) return undefined;
  const [coming, going] = list.map((time) => Math.round((Number(time) || 0) * inner.rate));
  if (!inner.cut) return `fad(${coming},${going}`;
  const end = inner.wholeMs - inner.goneMs;
  return `fade(255,0,255,${[-inner.goneMs, (coming ?? 0) - inner.goneMs, end - (going ?? 0), end].join(',')}`;
}
