/** Text subtitles as cues, from SubRip, WebVTT or SubStation. Pure functions of the bytes. */
export interface Cue {
  startMs: number;
  endMs: number;
  /** WebVTT text with the tags `<i>`, `<b>` and `<u>` only. */
  text: string;
  /** Position as WebVTT settings, when not at the bottom of the picture. */
  settings?: string;
}

const MOST_CUES = 50_000;
/** Limit of a cue in characters; karaoke with a code for each letter stays below. */
const MOST_WORDS = 20_000;

/** Limit of all cues in characters: twenty times the text of a long film. */
const MOST_TEXT = 4_000_000;

/**
 * Replaces each stretch from `open` to the next `}` in one pass. A regular expression would try each `{` to the end.
 */
function inBraces(text: string, open: string, made: (inner: string) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = text.indexOf(open); start >= 0; start = text.indexOf(open, at)) {
    const end = text.indexOf('}', start);
    if (end < 0) break;
    parts.push(text.slice(at, start), made(text.slice(start + open.length, end)));
    at = end + 1;
  }
  return parts.join('') + text.slice(at);
}

/** Text in braces. */
function codesOf(words: string): string {
  const codes: string[] = [];
  inBraces(words, '{', (inner) => {
    codes.push(inner);
    return '';
  });
  return codes.join('\n');
}

/** Cues in order of their start. Invalid parts are skipped, because the file is untrusted. */
export function parseCues(text: string, format: string): Cue[] {
  // Two of the characters stand for the brackets of kept tags.
  const plain = text.replace(/\r\n?/g, '\n').replaceAll('\0', '').replaceAll('\u0001', '').replaceAll('\u0002', '');
  const substation = ['ass', 'ssa'].includes(format) || /^\[Script Info\]/im.test(plain.slice(0, 2000));
  const cues = substation ? substationCues(plain) : blockCues(plain);
  const valid = cues.filter((cue) => cue.endMs > cue.startMs && cue.text !== '').slice(0, MOST_CUES);
  let left = MOST_TEXT;
  return valid
    .filter(({ text: { length } }) => {
      left -= length;
      return left >= 0;
    })
    .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
}

const ARROW = /^\s*((?:\d+:)?\d{1,2}:\d{1,2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{1,2}[.,]\d{1,3})/;
const SETTING = /(?<=\s)(?:line|position|align|size|vertical):[\w%.,-]{1,30}/g;

/** SubRip and WebVTT: blocks of lines, one of which has the arrow. */
function blockCues(text: string): Cue[] {
  return text.split(/\n[ \t]*\n+/).flatMap((block) => blockCue(block.split('\n')) ?? []);
}

function blockCue(lines: readonly string[]): Cue | undefined {
  const at = lines.findIndex((line) => line.includes('-->') && ARROW.test(line));
  const arrow = lines[at] ?? '';
  const [, start, end] = ARROW.exec(arrow) ?? [];
  if (start === undefined || end === undefined) return undefined;
  const words = lines
    .slice(at + 1)
    .join('\n')
    .slice(0, MOST_WORDS);
  const settings = arrow.match(SETTING)?.join(' ') ?? anchored(codesOf(words));
  return { startMs: clockMs(start), endMs: clockMs(end), text: cleaned(words), ...(settings && { settings }) };
}

function substationCues(text: string): Cue[] {
  const lines = text.split('\n');
  const events = lines.findIndex((line) => /^\[Events\]/i.test(line));
  const format = lines.slice(events + 1).find((line) => /^Format:/i.test(line));
  const fields = (format ?? 'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text')
    .slice(7)
    .split(',')
    .map((field) => field.trim().toLowerCase());
  const [start, end] = [fields.indexOf('start'), fields.indexOf('end')];
  const size = { x: numberOf(WIDTH.exec(text)) ?? 384, y: numberOf(HEIGHT.exec(text)) ?? 288 };
  return lines
    .filter((line) => /^Dialogue:/i.test(line))
    .map((line) => {
      const parts = line.slice(9).split(',');
      const words = parts
        .slice(fields.length - 1)
        .join(',')
        .slice(0, MOST_WORDS);
      const codes = codesOf(words);
      const settings = positioned(codes, size) ?? anchored(codes);
      return {
        startMs: clockMs(parts[start] ?? ''),
        endMs: clockMs(parts[end] ?? ''),
        text: cleaned(substationText(words, codes)),
        ...(settings && { settings }),
      };
    });
}

const WIDTH = /^PlayResX:\s*(\d+)/im;
const HEIGHT = /^PlayResY:\s*(\d+)/im;

const numberOf = (found: RegExpExecArray | null): number | undefined => Number(found?.[1]) || undefined;

/** Position on the picture by coordinates. */
function positioned(codes: string, size: { x: number; y: number }): string | undefined {
  const [, x, y] = /\\pos\(\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\)/.exec(codes) ?? [];
  if (x === undefined || y === undefined) return undefined;
  const share = (at: string, of: number): number => Math.round(Math.min(Math.max(Number(at) / of, 0), 1) * 100) || 0;
  return `line:${share(y, size.y)}% position:${share(x, size.x)}%`;
}

/** Anchors follow the number pad: 8 is the top centre. Most subtitles use 2, the default of players. */
function anchored(codes: string): string | undefined {
  const at = Number(/\\an([1-9])/.exec(codes)?.[1] ?? 2);
  const line = at > 6 ? ['line:0'] : at > 3 ? ['line:50%'] : [];
  const side = at % 3 === 1 ? ['align:start'] : at % 3 === 0 ? ['align:end'] : [];
  return [...line, ...side].join(' ') || undefined;
}

/** Drops drawings; keeps the override codes for italic, bold and underline. */
function substationText(words: string, codes: string): string {
  if (/\\p[1-9]/.test(codes)) return '';
  const open = new Set<string>();
  const marked = inBraces(words, '{', (inner) =>
    [...inner.matchAll(/\\([ibu])([01])(?!\d)/g)].map(([, tag = '', on]) => switched(open, tag, on === '1')).join(''),
  );
  const closing = [...open].reverse().map((tag) => `</${tag}>`);
  return marked.replace(/\\N|\\n/g, '\n').replace(/\\h/g, ' ') + closing.join('');
}

function switched(open: Set<string>, tag: string, on: boolean): string {
  if (on === open.has(tag)) return '';
  if (on) open.add(tag);
  else open.delete(tag);
  return on ? `<${tag}>` : `</${tag}>`;
}

/** Keeps the tags that WebVTT shares with SubRip and removes all other markup. */
function cleaned(text: string): string {
  return (/[{<>&]/.test(text) ? withoutMarkup(text) : text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

function withoutMarkup(text: string): string {
  return inBraces(text, '{\\', () => '')
    .replace(/<(\/?)(i|b|u)>/gi, (_, slash: string, tag: string) => `\u0001${slash}${tag.toLowerCase()}\u0002`)
    .replace(/<[^<>]{0,200}>/g, '')
    .replace(/&(?!(amp|lt|gt|nbsp|lrm|rlm|#\d+);)/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replaceAll('\u0001', '<')
    .replaceAll('\u0002', '>');
}

/** `1:02:03,4`, `02:03.456`; hours are optional. */
function clockMs(text: string): number {
  const [seconds = '0', minutes = '0', hours = '0'] = text.trim().replace(',', '.').split(':').reverse();
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}

/** Decodes a subtitle file by its byte order mark, as valid UTF-8, or by the usual encoding of its language. */
export function decodeText(bytes: Uint8Array, language?: string): string {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder(LEGACY[language?.split('-')[0] ?? ''] ?? 'windows-1252').decode(bytes);
  }
}

/** The cues of a subtitle file. */
export function cuesOfBytes(
  bytes: Uint8Array,
  { format, language }: { format: string; language?: string | undefined },
): Cue[] {
  return parseCues(decodeText(bytes, language), format);
}

const LEGACY: Record<string, string> = {
  ...{
    ru: 'windows-1251',
    uk: 'windows-1251',
    be: 'windows-1251',
    bg: 'windows-1251',
    sr: 'windows-1251',
    mk: 'windows-1251',
  },
  ...{
    pl: 'windows-1250',
    cs: 'windows-1250',
    sk: 'windows-1250',
    hu: 'windows-1250',
    sl: 'windows-1250',
    hr: 'windows-1250',
    ro: 'windows-1250',
  },
  ...{
    el: 'windows-1253',
    tr: 'windows-1254',
    he: 'windows-1255',
    ar: 'windows-1256',
    fa: 'windows-1256',
    vi: 'windows-1258',
  },
  ...{ et: 'windows-1257', lv: 'windows-1257', lt: 'windows-1257', th: 'windows-874' },
  ...{ ja: 'shift_jis', ko: 'euc-kr', zh: 'gb18030' },
};
