import type { Word } from '#areas/subtitles/speech/requests.store.ts';
import type { Speech } from '../../voice/detector.ts';
import type { Heard } from './child.ts';

/** Text that repeats itself compresses better than speech does; half a minute of a litany reaches 2.4. */
const MOST_COMPRESSION = 2.8;
/** A line that comes more often in a row is a repetition of the model. */
const MOST_REPEATS = 2;
/** The voice detector begins late and ends early by so much. */
const SLACK_MS = 300;
/** A word after a pause begins at most so long before the voice that is detected. */
const LEAD_MS = 100;

/**
 * The words of a stretch on the film's clock, without those that the model invents: lines that repeat, and words where
 * no one speaks. `speech` is on the clock of the stretch.
 */
export function wordsOf({ segments }: Heard, speech: readonly Speech[], fromMs: number): Word[] {
  const kept: Word[] = [];
  let [last, repeats] = ['', 0];
  for (const { text, compression, words } of segments) {
    const line = text.trim().toLowerCase();
    repeats = line === last ? repeats + 1 : 1;
    last = line;
    if (compression > MOST_COMPRESSION || repeats > MOST_REPEATS) continue;
    for (const [start, end, word] of words) {
      const [startMs, endMs] = [Math.round(start * 1000), Math.round(end * 1000)];
      if (word.trim() === '' || !isSpoken(startMs, endMs, speech)) continue;
      const fromVoiceMs = voiceStart(startMs, endMs, speech);
      kept.push({ startMs: fromMs + fromVoiceMs, endMs: fromMs + Math.max(fromVoiceMs, endMs), text: word });
    }
  }
  return kept;
}

/** The model lets the first word after music or silence begin in them, up to seconds too early. */
function voiceStart(startMs: number, endMs: number, speech: readonly Speech[]): number {
  const voice = speech.find((span) => span.endMs > startMs);
  if (!voice || voice.startMs - LEAD_MS <= startMs || voice.startMs >= endMs + SLACK_MS) return startMs;
  return voice.startMs - LEAD_MS;
}

function isSpoken(startMs: number, endMs: number, speech: readonly Speech[]): boolean {
  return speech.some((span) => startMs < span.endMs + SLACK_MS && endMs > span.startMs - SLACK_MS);
}
