import type { MadeCue } from './made-cues.ts';

const LINE = /^\{(\d{1,9})\}\{(\d{0,9})\}(.*)$/;
/** Where neither the file nor the film says it. */
const USUAL_RATE = 23.976;
/** Of a cue without an end. */
const SHOWN_MS = 4000;
const MOST_LINE = 20_000;

export const isMicroDvd = (text: string): boolean => /^\{\d{1,9}\}\{\d{0,9}\}/m.test(text.slice(0, 2000));

/** MicroDVD counts frames. The first cue may state the frame rate, else it is the film's. */
export function microDvdCues(text: string, filmRate: number | undefined): MadeCue[] {
  const read = text
    .split('\n')
    .map((line) => LINE.exec(line.slice(0, MOST_LINE)))
    .flatMap((found) => (found ? [{ from: Number(found[1]), to: Number(found[2] ?? 0), words: found[3] ?? '' }] : []));
  const [first] = read;
  const stated = first && first.from <= 1 && first.to <= 1 ? rateOf(first.words) : undefined;
  const rate = stated ?? filmRate ?? USUAL_RATE;
  const ms = (frame: number): number => Math.round((frame / rate) * 1000);
  return read.slice(stated === undefined ? 0 : 1).map(({ from, to, words }) => ({
    ...{ startMs: ms(from), endMs: to > from ? ms(to) : ms(from) + SHOWN_MS },
    text: words.split('|').map(styled).join('\n'),
  }));
}

function rateOf(words: string): number | undefined {
  const rate = /^\d{1,3}(?:[.,]\d{1,6})?$/.test(words.trim()) ? Number(words.trim().replace(',', '.')) : 0;
  return rate >= 5 && rate <= 240 ? rate : undefined;
}

/** `{y:i}` and `{Y:b}` are styles of a line; other codes are left out. A leading `/` is italic too. */
function styled(line: string): string {
  const codes = line.match(/\{[a-z]:[^{}]{0,40}\}/gi) ?? [];
  const tags = [
    ...new Set(codes.flatMap((code) => (/^\{y:/i.test(code) ? (code.slice(3).match(/[ibu]/g) ?? []) : []))),
  ];
  const bare = line.replace(/\{[a-z]:[^{}]{0,40}\}/gi, '');
  const isItalic = bare.startsWith('/') && !tags.includes('i');
  const all = isItalic ? [...tags, 'i'] : tags;
  const words = isItalic ? bare.slice(1) : bare;
  return (
    all.map((tag) => `<${tag}>`).join('') +
    words +
    all
      .toReversed()
      .map((tag) => `</${tag}>`)
      .join('')
  );
}
