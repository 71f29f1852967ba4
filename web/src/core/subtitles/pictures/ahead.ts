// Which stretches of a track are loaded and which pictures of them are drawn: those of the playhead and a few after it.
import type { Picture, PictureWindow, Stretch } from './reader.ts';

export interface AheadHome {
  /** Answers with `read` or `failed`. A later call replaces it. */
  load(stretch: Stretch): void;
  /** Answers with `take`. */
  draw(ms: number): void;
  now(): number;
}

/** Requests begin at a multiple, so that viewers of one film share what the server read. */
export const STRETCH_MS = 300_000;
/** Before its end the next stretch is loaded. */
const NEAR_MS = 30_000;
/** The stretch that plays, and the one after it. */
const MOST_STRETCHES = 2;
/** After a failure. */
const WAIT_MS = 10_000;

const holds = ({ fromMs, toMs }: Stretch, ms: number): boolean => fromMs <= ms && ms < toMs;

export class Ahead {
  readonly #home: AheadHome;
  #read: (Stretch & { isBlank?: boolean })[] = [];
  #loading: Stretch | undefined;
  #waitsUntil = 0;
  #window: PictureWindow = { fromMs: 0, toMs: 0, pictures: [] };
  #isDrawing = false;

  constructor(home: AheadHome) {
    this.#home = home;
  }

  read(stretch: Stretch): void {
    this.#read = [...this.#read, stretch].slice(-MOST_STRETCHES);
    this.#loading = undefined;
  }

  /** A stretch that no reader understands has no pictures, and is not requested again. */
  unreadable(stretch: Stretch): void {
    this.read(stretch);
    this.#read = this.#read.map((one) => (one === stretch ? { ...one, isBlank: true } : one));
  }

  failed(): void {
    this.#loading = undefined;
    this.#waitsUntil = this.#home.now() + WAIT_MS;
  }

  take(window: PictureWindow): void {
    this.#window = window;
    this.#isDrawing = false;
  }

  /** The picture of a moment; undefined also while it is not here yet. */
  at(ms: number): Picture | undefined {
    const stretch = this.#read.find((one) => holds(one, ms));
    if (!stretch) this.#load(ms);
    else if (ms >= stretch.toMs - NEAR_MS) this.#load(stretch.toMs);
    const isHere = holds(this.#window, ms);
    const isLast = ms >= (this.#window.pictures.at(-1)?.fromMs ?? 0);
    const hasMore =
      stretch !== undefined && !stretch.isBlank && (!isHere || (isLast && this.#window.toMs < stretch.toMs));
    if (hasMore && !this.#isDrawing) {
      this.#isDrawing = true;
      this.#home.draw(ms);
    }
    return isHere ? this.#window.pictures.find((one) => holds(one, ms)) : undefined;
  }

  /** Loads the stretches around a moment, unless it is here or on its way. */
  #load(ms: number): void {
    const isHere = [...this.#read, ...(this.#loading ? [this.#loading] : [])].some((one) => holds(one, ms));
    if (isHere || ms < 0 || this.#home.now() < this.#waitsUntil) return;
    const begin = Math.floor(ms / STRETCH_MS) * STRETCH_MS;
    const ends = this.#read.map(({ toMs }) => toMs).filter((toMs) => toMs <= ms);
    this.#loading = { fromMs: Math.max(begin, ...ends), toMs: begin + STRETCH_MS };
    this.#home.load(this.#loading);
  }
}
