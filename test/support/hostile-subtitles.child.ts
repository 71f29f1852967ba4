// Opens some of the hostile files, and reports each verdict with its time and the memory until then.
import { openForeign } from '#areas/subtitles/foreign/open.ts';
import { timedSubstation } from '#platform/subtitles/substation.ts';
import { hostileSubtitle } from './hostile-subtitles.ts';

export interface Verdict {
  number: number;
  /** The format of the text, or why there is none. */
  word: string;
  ms: number;
  memoryMb: number;
}

const LATER = { offsetMs: 700, rate: 1.04, pieces: [{ fromMs: 1500, offsetMs: -200 }] };

function opened(bytes: Buffer, number: number): string {
  const result = openForeign(bytes, { language: number % 2 ? 'ru' : 'en', episode: { season: 1, number: 2 } });
  if (!result.ok) return result.why;
  if (result.format === 'ass') timedSubstation(result.text, LATER);
  return result.format;
}

const [first = 0, step = 1, end = 0] = process.argv.slice(2).map(Number);
for (let number = first; number < end; number += step) {
  const bytes = hostileSubtitle(number);
  const began = performance.now();
  const word = opened(bytes, number);
  const ms = performance.now() - began;
  const memoryMb = process.resourceUsage().maxRSS / 1024;
  process.send?.({ number, word, ms, memoryMb } satisfies Verdict);
}
process.disconnect();
