import {
  FRAME_SAMPLES,
  firstAudioFrame,
  firstFrame,
  SAMPLE_RATE,
  type StreamPlan,
  segmentAt,
  segmentCount,
  segmentStartMs,
} from '#areas/streaming/public.ts';
import { cleanInit, timescaleOf } from './mp4/boxes.ts';
import { FragmentReader, type Sample, type SampleHead } from './mp4/fragments.ts';
import { segmentBytes } from './mp4/segment.ts';
import { TransportCutter } from './transport.ts';

export interface CutterEvents {
  onInit(bytes: Buffer): void;
  onSegment(n: number, bytes: Buffer): void;
}

/** Turns ffmpeg's fragments of one rendition into segments of the plan. */
export interface Cutter {
  push(chunk: Buffer): void;
  /** Number of samples so far. */
  readonly count: number;
  /** The end of ffmpeg's output without a fault: returns the rest, up to the plan's last segment. */
  end(): void;
}

/** The differences between video and audio, copied and encoded. */
interface Sort {
  /** Ticks between decoding and presentation, the same for all segments. */
  delay: number;
  /** Sample times on the film's clock. */
  settle<S extends SampleHead>(sample: S): S;
  /** The segment a sample belongs to by its time alone. */
  segmentOf(sample: SampleHead, timescale: number): number;
  /** Only such a sample may begin a segment. */
  begins(sample: SampleHead): boolean;
  /** Whether segment `n` is complete. */
  full(n: number, samples: readonly Sample[]): boolean;
  /** Where the last sample ends, if its own duration is unknown. */
  endOf(samples: readonly Sample[]): number | undefined;
}

/** Covers the rounding of the keyframe index and of Matroska's clock, both to milliseconds. */
const COPY_SLACK_MS = 1.5;

function copiedVideo(plan: StreamPlan): Sort {
  return {
    delay: 0,
    settle: (sample) => sample,
    segmentOf: (sample, timescale) => segmentAt(plan, (sample.pts / timescale) * 1000 + COPY_SLACK_MS),
    begins: (sample) => sample.key,
    full: () => false,
    endOf: () => undefined,
  };
}

/** Frames that x264 holds back with its B-pyramid. */
const REORDERED = 2;

/** Frames are counted, so a segment is complete with its last one, before the next keyframe. */
function encodedVideo(plan: StreamPlan): Sort {
  const { num, den } = plan.rate ?? { num: 1, den: 1 };
  const number = (sample: Sample): number => Math.round((sample.pts - plan.phase) / den);
  return {
    delay: REORDERED * den,
    settle: (sample) => ({ ...sample, pts: sample.pts + plan.phase }),
    segmentOf: (sample) => segmentAt(plan, (sample.pts / num) * 1000 + 0.005),
    begins: (sample) => sample.key,
    full: (n, samples) => samples.length >= firstFrame(plan, n + 1) - firstFrame(plan, n),
    endOf: (samples) => (Math.max(...samples.map(number)) + 1) * den + plan.phase,
  };
}

/** Copied frames keep their times. */
function copiedAudio(plan: StreamPlan): Sort {
  return {
    delay: 0,
    settle: (sample) => sample,
    segmentOf: (sample, timescale) => segmentAt(plan, (sample.pts / timescale) * 1000 + 0.5),
    begins: () => true,
    full: () => false,
    endOf: () => undefined,
  };
}

function encodedAudio(plan: StreamPlan): Sort {
  return {
    delay: 0,
    settle: (sample) => sample,
    segmentOf: (sample) => segmentAt(plan, (sample.pts / SAMPLE_RATE) * 1000 + 0.001),
    begins: () => true,
    full: (n, samples) => samples.length >= firstAudioFrame(plan, n + 1) - firstAudioFrame(plan, n),
    endOf: (samples) => (samples.at(-1)?.pts ?? 0) + FRAME_SAMPLES,
  };
}

function sortOf(plan: StreamPlan, rendition: string): Sort {
  const video = plan.video.find((one) => one.id === rendition);
  if (video) return video.action === 'copy' ? copiedVideo(plan) : encodedVideo(plan);
  const audio = plan.audio.find((one) => one.id === rendition);
  return audio?.action === 'copy' ? copiedAudio(plan) : encodedAudio(plan);
}

export interface CutterOptions {
  plan: StreamPlan;
  rendition: string;
  /** Earlier segments are dropped: ffmpeg starts earlier so that everything is complete here. */
  from: number;
}

/** Cuts fragmented MP4 of one track. */
class FragmentCutter implements Cutter {
  readonly #plan: StreamPlan;
  readonly #sort: Sort;
  readonly #events: CutterEvents;
  readonly #reader: FragmentReader;
  #timescale = 1;
  #current = -1;
  #held: Sample[] = [];
  #next: number;
  count = 0;

  constructor({ plan, rendition, from }: CutterOptions, events: CutterEvents) {
    this.#plan = plan;
    this.#sort = sortOf(plan, rendition);
    this.#events = events;
    this.#next = from;
    this.#reader = new FragmentReader({
      onInit: (bytes) => {
        this.#timescale = timescaleOf(bytes);
        events.onInit(cleanInit(bytes));
      },
      onAhead: (first) => this.#turn(this.#sort.settle(first)),
      onSamples: (samples) => {
        for (const sample of samples) this.#take(sample);
      },
    });
  }

  push(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  end(): void {
    this.#finish();
    this.#fillTo(segmentCount(this.#plan));
  }

  #take(raw: Sample): void {
    const sample = this.#sort.settle(raw);
    this.count += 1;
    if (sample.pts < 0) return; // audio priming before the film begins
    this.#turn(sample);
    if (this.#current < this.#next) return;
    this.#held.push(sample);
    if (this.#sort.full(this.#current, this.#held)) this.#finish();
  }

  /** The first sample of another segment completes the previous one. */
  #turn(sample: SampleHead): void {
    if (sample.pts < 0 || !this.#sort.begins(sample)) return;
    const n = this.#sort.segmentOf(sample, this.#timescale);
    if (n <= this.#current) return;
    this.#finish();
    this.#current = n;
  }

  #finish(): void {
    const n = this.#current;
    if (n >= this.#next && this.#held.length > 0) {
      this.#fillTo(n);
      this.#events.onSegment(n, this.#bytes(n));
      this.#next = n + 1;
    }
    this.#held = [];
  }

  #bytes(n: number): Buffer {
    const { delay } = this.#sort;
    return segmentBytes(this.#held, { sequence: n + 1, end: this.#sort.endOf(this.#held), delay });
  }

  /** A source without video or audio where the plan has a segment: an empty segment keeps the player going. */
  #fillTo(n: number): void {
    for (; this.#next < n; this.#next++) {
      const end = Math.round((segmentStartMs(this.#plan, this.#next) / 1000) * this.#timescale);
      this.#events.onSegment(this.#next, segmentBytes([], { sequence: this.#next + 1, end }));
    }
  }
}

/** The cutter for the plan's container. */
export function cutterFor(options: CutterOptions, events: CutterEvents): Cutter {
  const { plan, rendition } = options;
  const transport = plan.container === 'ts' && plan.video.some((one) => one.id === rendition);
  return transport ? new TransportCutter(options, events) : new FragmentCutter(options, events);
}
