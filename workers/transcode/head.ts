import { type StreamPlan, segmentStartMs } from '#areas/streaming/public.ts';

/** The output of one run of ffmpeg, and its progress. */
export interface Head {
  from: number;
  /** Next segment of each rendition. */
  next: ReadonlyMap<string, number>;
}

export interface Wanted {
  rendition: string;
  /** -1 is the init segment. */
  segment: number;
}

const keyOf = ({ rendition, segment }: Wanted): string => `${rendition}/${segment}`;

/** The requested segments of a session, and the viewers that still wait for them. */
export class Wants {
  readonly #waited = new Map<string, Wanted>();
  #last: Wanted;
  #read: Wanted;

  constructor(first: Wanted) {
    this.#last = first;
    this.#read = first;
  }

  /** The segment requested last by a viewer that still waits. */
  get last(): Wanted {
    return this.#last;
  }

  /** `stored`: it is read at once, and no one waits for it. */
  hear(wanted: Wanted, { stored }: { stored: boolean }): void {
    if (wanted.segment < 0) return;
    this.#last = wanted;
    if (stored) this.#read = wanted;
    else this.#waited.set(keyOf(wanted), wanted);
  }

  /** The viewers that waited for it read it now. */
  made(one: Wanted): void {
    if (this.#waited.delete(keyOf(one))) this.#read = one;
  }

  /** No one waits for it any more: the previous request counts again. */
  withdraw(wanted: Wanted): void {
    this.#waited.delete(keyOf(wanted));
    if (keyOf(wanted) === keyOf(this.#last)) this.#last = [...this.#waited.values()].at(-1) ?? this.#read;
  }
}

/** A segment this close ahead of the encoder is waited for; a restart reaches a later one sooner. */
const REACH = 3;
/** The encoder pauses this far ahead of the last request, and resumes when it is nearer. */
const REST_MS = 90_000;
const RESUME_MS = 75_000;

/** Whether the running encoder will reach `want`, or a new one must start there. */
export function mustRestart(head: Head | undefined, want: Wanted): boolean {
  if (!head) return true;
  const next = head.next.get(want.rendition);
  if (next === undefined) return true;
  if (want.segment < 0) return false;
  return want.segment < head.from || want.segment > next + REACH;
}

/** Whether the encoder should pause, given whether it pauses now. */
export function shouldRest(plan: StreamPlan, head: Head, now: { want: number; resting: boolean }): boolean {
  const slowest = Math.min(...head.next.values());
  const aheadMs = segmentStartMs(plan, slowest) - segmentStartMs(plan, Math.max(now.want, 0));
  return aheadMs > (now.resting ? RESUME_MS : REST_MS);
}

/** Time in ms that leaves the processors to sending the new segment. */
const BREATH_MS = 100;

/**
 * Copied video is produced much faster than it is watched: a pause between its segments, which the next request ends.
 */
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

/** Why ffmpeg failed, as a fault of the API. */
export function faultOf(words: string): 'decode' | 'encode' | 'source-read' | 'filter' {
  if (/filter|Impossible to convert/i.test(words) || invalidGraph(words)) return 'filter';
  if (/No such file|Input\/output error|Permission denied|Stale file|error reading/i.test(words)) return 'source-read';
  if (/encod|nvenc|vaapi|qsv|x264|muxer|Could not write header/i.test(words)) return 'encode';
  return 'decode';
}
