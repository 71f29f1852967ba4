import type { Cue } from '#platform/subtitles/cues.ts';

/** A cue with the tags `<i>`, `<b>` and `<u>` of SubRip. */
export type MadeCue = Pick<Cue, 'startMs' | 'endMs' | 'text'>;

/** SubRip of cues that another format had. */
export function subripOf(cues: readonly MadeCue[]): string {
  return cues
    .filter(({ startMs, endMs, text }) => endMs > startMs && text.trim() !== '')
    .map(({ startMs, endMs, text }, at) => `${at + 1}\n${clock(startMs)} --> ${clock(endMs)}\n${lines(text)}\n`)
    .join('\n');
}

/** An empty line inside would end the cue. */
const lines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

function clock(ms: number): string {
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(h)}:${two(m)}:${two(s)},${String(Math.round(ms) % 1000).padStart(3, '0')}`;
}
