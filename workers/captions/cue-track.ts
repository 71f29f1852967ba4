import type { CaptionCue } from '#platform/live/captions.ts';

/** The text of a moment; an empty one clears the screen. */
export interface Shown {
  text: string;
  line?: number | undefined;
}

/** Text that is written while it is visible makes one cue for as long as this, so that no cue holds a single letter. */
export const GROWTH_MS = 300;
/** Cues that wait for `take`; a hostile stream loses the oldest. */
const MOST_CUES = 20_000;
const MOST_LETTERS = 2000;
/** Letters of all cues that wait. */
const MOST_WAITING = 1 << 20;

/** Turns the states of a screen into cues. */
export class CueTrack {
  readonly #growthMs: number;
  #cues: CaptionCue[] = [];
  #letters = 0;
  #shown: { startMs: number; text: string; line: number | undefined } | undefined;
  #grows = false;

  constructor(growthMs: number = GROWTH_MS) {
    this.#growthMs = growthMs;
  }

  /** The screen at a time. `grows`: text was added to the visible one. */
  show(atMs: number, { text, line }: Shown, grows = false): void {
    const shown = this.#shown;
    if (shown && shown.text === text && shown.line === line) return;
    if (shown && grows && this.#grows && atMs - shown.startMs < this.#growthMs) {
      shown.text = text.slice(0, MOST_LETTERS);
      return;
    }
    this.#close(atMs);
    this.#grows = grows;
    this.#shown = text === '' ? undefined : { startMs: atMs, text: text.slice(0, MOST_LETTERS), line };
  }

  /** A new line begins: text that is added next is a cue of its own. */
  seal(): void {
    this.#grows = false;
  }

  /** The cues until a time. A text that is still visible goes on in the next ones. */
  take(untilMs: number): CaptionCue[] {
    const shown = this.#shown;
    this.#close(untilMs);
    if (shown) this.#shown = { ...shown, startMs: Math.max(shown.startMs, untilMs) };
    const cues = this.#cues;
    this.#cues = [];
    this.#letters = 0;
    return cues;
  }

  #close(atMs: number): void {
    const shown = this.#shown;
    this.#shown = undefined;
    if (!shown || atMs <= shown.startMs) return;
    const { startMs, text, line } = shown;
    this.#cues.push({ startMs, endMs: atMs, text, ...(line !== undefined && { line }) });
    this.#letters += text.length;
    while (this.#cues.length > MOST_CUES || this.#letters > MOST_WAITING)
      this.#letters -= this.#cues.shift()?.text.length ?? this.#letters;
  }
}
