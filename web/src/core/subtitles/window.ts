// The part of a track around the playhead, which is what the page has of it.
import { CueTrack } from './track.ts';
import { type Cue, drawnCue, type RawCue } from './vtt.ts';

/** Cues of a stretch of time: everything that is shown from `fromMs` until before `toMs`. */
export interface CueWindow {
  fromMs: number;
  toMs: number;
  cues: readonly Cue[];
}

/** The frames of a picture are a little behind the clock of their film. */
const BEHIND_MS = 2000;
const AHEAD_MS = 60_000;
const MOST_CUES = 200;
/** Of one moment; more than are shown at once, since the later ones may end first. */
const MOST_AT_ONCE = 64;

/** The window around a moment. It is shorter where many cues begin, and always longer than nothing. */
export function windowOf(track: CueTrack<RawCue>, ms: number): CueWindow {
  const around = between(track, ms - BEHIND_MS, ms + AHEAD_MS);
  return around.toMs > ms ? around : between(track, ms, ms + AHEAD_MS);
}

function between(track: CueTrack<RawCue>, fromMs: number, aheadMs: number): CueWindow {
  const coming = track.between(fromMs, aheadMs, MOST_CUES);
  const toMs = coming.length < MOST_CUES ? aheadMs : (coming.at(-1)?.startMs ?? aheadMs);
  return { fromMs, toMs, cues: [...track.at(fromMs, MOST_AT_ONCE), ...coming].map(drawnCue) };
}

/** Before the end of a window its successor is requested. */
const NEAR_MS = 10_000;

/** What the page shows of a track: the cues of a moment, and a request for the window of it where that is not here. */
export class Around {
  readonly #request: (ms: number) => void;
  #window: CueWindow = { fromMs: 0, toMs: 0, cues: [] };
  #track = new CueTrack<Cue>([]);
  #isWaiting = false;

  constructor(request: (ms: number) => void) {
    this.#request = request;
  }

  take(window: CueWindow): void {
    this.#window = window;
    this.#track = new CueTrack(window.cues);
    this.#isWaiting = false;
  }

  at(ms: number): Cue[] {
    const { fromMs, toMs } = this.#window;
    const isIn = ms >= fromMs && ms < toMs;
    const near = Math.min(NEAR_MS, (toMs - fromMs) / 4);
    if (!this.#isWaiting && (!isIn || ms >= toMs - near)) {
      this.#isWaiting = true;
      this.#request(ms);
    }
    return isIn ? this.#track.at(ms) : [];
  }
}
