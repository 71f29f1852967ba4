// Cues of words: lines of 42 characters, two a cue, 1 to 7 seconds.
import type { Word } from '#areas/subtitles/speech/requests.store.ts';

export interface Cue {
  startMs: number;
  endMs: number;
  text: string;
}

const LINE = 42;
const LINES = 2;
const SHORTEST_MS = 1000;
const LONGEST_MS = 7000;
/** A pause that ends a cue. */
const PAUSE_MS = 800;
/** A cue stays for so long after its last word, where there is room. */
const LINGER_MS = 250;
/** A sentence ends a cue that is at least so long. */
const SENTENCE_MS = 1500;
/** So many frames a cue may last over a change of shot. */
const FRAMES_OVER = 2;

export interface Shots {
  /** Times of keyframes, ms in order; empty while unknown. */
  keyframes: readonly number[];
  /** Length of a frame, ms. */
  frameMs: number;
}

/** Makes cues of words in order. A cue that lingers after its words ends at the next keyframe. */
export function cuesOf(words: readonly Word[], shots: Shots): Cue[] {
  const groups = groupsOf(words.flatMap(pieces));
  return groups.map((group, i) => {
    const startMs = group[0]?.startMs ?? 0;
    const spoken = Math.min(group.at(-1)?.endMs ?? 0, startMs + LONGEST_MS);
    const next = groups[i + 1]?.[0]?.startMs ?? Number.POSITIVE_INFINITY;
    const wanted = Math.max(spoken + LINGER_MS, startMs + SHORTEST_MS);
    const endMs = Math.max(spoken, Math.min(wanted, next, shotEnd(spoken, wanted, shots)));
    return { startMs, endMs: Math.min(Math.max(endMs, startMs + 1), next), text: linesOf(group).join('\n') };
  });
}

/** The end of a cue over the first keyframe after its words. */
function shotEnd(spokenMs: number, wantedMs: number, { keyframes, frameMs }: Shots): number {
  const shot = firstAfter(keyframes, spokenMs);
  return shot < wantedMs ? shot + Math.floor(FRAMES_OVER * frameMs) : wantedMs;
}

function firstAfter(times: readonly number[], ms: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  return times[low] ?? Number.POSITIVE_INFINITY;
}

/** A word that is longer than a line, in parts of a line. */
function pieces(word: Word): Word[] {
  const text = word.text.replace(/[<>\r\n]/g, '');
  if (text.trim().length <= LINE) return [{ ...word, text }];
  return (text.trim().match(/.{1,42}/gu) ?? []).map((part, i) => ({ ...word, text: i === 0 ? ` ${part}` : part }));
}

function groupsOf(words: readonly Word[]): Word[][] {
  const groups: Word[][] = [];
  let group: Word[] = [];
  for (const word of words) {
    if (group.length > 0 && isNext(group, word)) {
      groups.push(group);
      group = [];
    }
    group.push(word);
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

const SENTENCE = /[.!?…。！？]["'”’»]?$/u;

/** Whether a word begins the next cue. */
function isNext(group: readonly Word[], word: Word): boolean {
  const [first, last] = [group[0] as Word, group.at(-1) as Word];
  if (word.startMs - last.endMs > PAUSE_MS || word.endMs - first.startMs > LONGEST_MS) return true;
  if (linesOf([...group, word]).length > LINES) return true;
  return SENTENCE.test(last.text.trim()) && last.endMs - first.startMs >= SENTENCE_MS;
}

/** Lines of at most 42 characters; the break is as near to the middle as it can. */
function linesOf(group: readonly Word[]): string[] {
  const total = group
    .map(({ text }) => text)
    .join('')
    .trim().length;
  const half = Math.ceil(total / LINES);
  const balanced = total > LINE ? wrap(group, Math.min(LINE, half + 6)) : wrap(group, LINE);
  return balanced.length <= LINES ? balanced : wrap(group, LINE);
}

function wrap(group: readonly Word[], width: number): string[] {
  const lines: string[] = [];
  for (const { text } of group) {
    const line = lines.at(-1);
    if (line !== undefined && (line + text).length <= width) lines[lines.length - 1] = line + text;
    else lines.push(text.trimStart());
  }
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** SubRip in UTF-8. */
export function subripOf(cues: readonly Cue[]): string {
  return cues
    .map(({ startMs, endMs, text }, i) => `${i + 1}\n${clock(startMs)} --> ${clock(endMs)}\n${text}\n\n`)
    .join('');
}

function clock(ms: number): string {
  const two = (n: number): string => String(Math.floor(n)).padStart(2, '0');
  const rest = String(Math.round(ms) % 1000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)},${rest}`;
}
