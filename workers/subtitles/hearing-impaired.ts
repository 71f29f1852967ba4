import type { Cue } from '#platform/subtitles/cues.ts';

/** Marks that a track has at least, and their share of its cues. */
const LEAST = 3;
const SHARE = 0.04;
/** With more, the track translates signs instead of speech. */
const MOST_SHARE = 0.9;
/** A longer remark is a sentence that stands in brackets. */
const MOST_WORDS = 6;
const MOST_LETTERS = 60;

const BRACKETS: Readonly<Record<string, string>> = { '[': ']', '(': ')', '（': '）', '［': '］', '【': '】' };
const LETTER = /\p{L}/u;
/** A speaker in capitals, or with a number, such as `MARY:` and `MAN 2:`. */
const SPEAKER = /^\p{Lu}[\p{Lu}\d .'’#&-]{1,28}(?<![\d.]): ?(?=\S|$)/u;
const SENTENCE = /[.?!…,]$/;

/** A sound or a speaker in brackets that begins a line; undefined for everything else. */
function remarkOf(line: string): string | undefined {
  const end = BRACKETS[line[0] ?? ''];
  const at = end === undefined ? -1 : line.indexOf(end);
  return at > 1 ? line.slice(1, at).trim() : undefined;
}

/** Remarks at the end of a line, as after `Come in. (knocking)`. */
function lastRemarkOf(line: string): string | undefined {
  const open = Object.keys(BRACKETS).find((one) => BRACKETS[one] === line.at(-1));
  const at = open === undefined ? -1 : line.lastIndexOf(open);
  return at > 0 ? line.slice(at + 1, -1).trim() : undefined;
}

function isRemark(text: string | undefined): boolean {
  if (!text || text.length > MOST_LETTERS || !LETTER.test(text) || SENTENCE.test(text)) return false;
  return text.split(/\s+/).length <= MOST_WORDS;
}

const plain = (line: string): string =>
  line
    .replace(/<[^<>]{0,20}>/g, '')
    .trim()
    .replace(/^[-–—‐] ?/, '')
    .trim();

/** A speaker in capitals says something about a line only where its words are not in capitals too. */
function hasSpeaker(line: string): boolean {
  const found = SPEAKER.exec(line)?.[0];
  return found !== undefined && /\p{Lu}{2}/u.test(found) && /\p{Ll}/u.test(line.slice(found.length));
}

/** Whether a cue names a sound or a speaker. */
export function isMarked({ text }: Pick<Cue, 'text'>): boolean {
  const lines = text.split('\n').map(plain);
  if (lines.some(hasSpeaker)) return true;
  return lines.some((line) => isRemark(remarkOf(line)) || isRemark(lastRemarkOf(line)));
}

/** Whether a track is for the hearing impaired, by its cues: a fair share of them names sounds or speakers. */
export function isForHearingImpaired(cues: readonly Pick<Cue, 'text'>[]): boolean {
  const marked = cues.filter(isMarked).length;
  return marked >= LEAST && marked >= cues.length * SHARE && marked <= cues.length * MOST_SHARE;
}
