import { type StreamPlan, segmentStartMs } from '#areas/streaming/public.ts';

/** What one run of ffmpeg makes and how far it is. */
export interface Head {
  from: number;
  /** Next segment that each rendition will get. */
  next: ReadonlyMap<string, number>;
}

export interface Wanted {
  rendition: string;
  /** -1 is the init segment. */
  segment: number;
}

const keyOf = ({ rendition, segment }: Wanted): string => `${rendition}/${segment}`;

/** What is wanted of a session, and by whom it still is. */
export class Wants {
  readonly #waited = new Map<string, Wanted>();
  #last: Wanted;
  #read: Wanted;

  constructor(first: Wanted) {
    this.#last = first;
    this.#read = first;
  }

  /** The segment wanted last by somebody who did not go away since. */
  get last(): Wanted {
    return this.#last;
  }

  /** `stored`: it is read, nobody waits for it. */
  hear(wanted: Wanted, { stored }: { stored: boolean }): void {
    if (wanted.segment < 0) return;
    this.#last = wanted;
    if (stored) this.#read = wanted;
    else this.#waited.set(keyOf(wanted), wanted);
  }

  /** Who waited for it reads it now. */
  made(one: Wanted): void {
    if (this.#waited.delete(keyOf(one))) this.#read = one;
  }

  /** All who waited for it went away: what was wanted before counts again. */
  withdraw(wanted: Wanted): void {
    this.#waited.delete(keyOf(wanted));
    if (keyOf(wanted) === keyOf(this.#last)) this.#last = [...this.#waited.values()].at(-1) ?? this.#read;
  }
}

/** A want so many segments beyond the encoder is waited for; one further on is reached sooner by a new start. */
const REACH = 3;
/** The encoder rests when it is so far ahead of the last want, and goes on when it is nearer than that. */
const REST_MS = 90_000;
const RESUME_MS = 75_000;

/** Whether the running encoder will come to `want`, or a new one must begin there. */
export function mustRestart(head: Head | undefined, want: Wanted): boolean {
  if (!head) return true;
  const next = head.next.get(want.rendition);
  if (next === undefined) return true;
  if (want.segment < 0) return false;
  return want.segment < head.from || want.segment > next + REACH;
}

/** Whether the encoder should be still, given whether it is now. */
export function shouldRest(plan: StreamPlan, head: Head, now: { want: number; resting: boolean }): boolean {
  const slowest = Math.min(...head.next.values());
  const aheadMs = segmentStartMs(plan, slowest) - segmentStartMs(plan, Math.max(now.want, 0));
  return aheadMs > (now.resting ? RESUME_MS : REST_MS);
}

/** So long, ms, the processors are left to those who send the segment that was just made. */
const BREATH_MS = 100;

/** A copied picture comes many times faster than it is seen: a breath between its segments, which the next want ends. */
export class Breath {
  #end: (() => void) | undefined;

  async take(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    const timer = setTimeout(resolve, BREATH_MS);
    await promise;
    clearTimeout(timer);
  }

  end(): void {
    this.#end?.();
  }
}

const invalidGraph = (words: string): boolean =>
  words
    .toLowerCase()
    .split('\n')
    .some((line) => line.includes('invalid') && line.indexOf('graph', line.indexOf('invalid')) > 0);

/** Why ffmpeg gave up, in the contract's words. */
export function faultOf(words: string): 'decode' | 'encode' | 'source-read' | 'filter' {
  if (/filter|Impossible to convert/i.test(words) || invalidGraph(words)) return 'filter';
  if (/No such file|Input\/output error|Permission denied|Stale file|error reading/i.test(words)) return 'source-read';
  if (/encod|nvenc|vaapi|qsv|x264|muxer|Could not write header/i.test(words)) return 'encode';
  return 'decode';
}
