import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '#platform/db.ts';
import {
  type RenditionOptions,
  type RenditionRow,
  releaseRendition,
  renewRendition,
} from '#platform/live/renditions.store.ts';
import type { LiveSegment } from '#platform/live/segments.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';
import type { Encoder } from '../encoders.ts';
import { type FfmpegProcess, startFfmpeg } from '../ffmpeg.ts';
import { liveArguments } from './command.ts';
import { EncodedCutter, type EncodedPiece, firstTicks } from './cutter.ts';
import { toFragments } from './fragments.ts';
import { type Tracks, tracksOf } from './tracks.ts';

export interface RenditionDeps {
  db: Db;
  redis: Redis;
  objects: Objects;
  log: Log;
  encoder: Encoder;
  threads: number;
  workerId: string;
}

/** Segments behind the edge from which a new rendition begins. */
const BEHIND = 2;

/** An encoder on one timeline of the source. */
interface Run {
  ffmpeg: FfmpegProcess;
  cutter: EncodedCutter;
  /** Segments of the source that went in, by number. */
  sent: Map<number, LiveSegment>;
  read: Promise<void>;
}

/** Encodes the segments of a channel as they come, or the parts of a recording, from its claim until no one wants it. */
export class LiveRendition {
  readonly id: string;
  readonly over: Promise<void>;
  readonly #row: RenditionRow;
  readonly #tracks: Tracks;
  readonly #deps: RenditionDeps;
  readonly #stop = new AbortController();
  #run: Run | undefined;
  /** The present timeline has no stream of the subtitles that are burned in. */
  #isPlain = false;
  #made = false;
  #failure: Error | undefined;
  #writes: Promise<void> = Promise.resolve();

  constructor(row: RenditionRow, deps: RenditionDeps) {
    this.id = row.id;
    this.#row = row;
    this.#deps = deps;
    this.#tracks = tracksOf(deps, row);
    this.over = this.#work();
  }

  /** Renews the lease, and ends when another worker has it or no one wants it. */
  async renew(): Promise<void> {
    const { db, workerId: holder } = this.#deps;
    if (!(await renewRendition(db, { id: this.id, holder, isGood: this.#made }))) this.stop();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #work(): Promise<void> {
    let isFault = false;
    try {
      await this.#follow();
    } catch (error) {
      isFault = !this.#stop.signal.aborted;
      if (isFault) this.#deps.log.warn({ rendition: this.id, err: (error as Error).message }, 'live rendition failed');
    } finally {
      this.#run?.ffmpeg.kill();
      await this.#writes.catch(() => undefined);
      const { db, workerId: holder } = this.#deps;
      await releaseRendition(db, { id: this.id, holder, isFault }).catch(() => undefined);
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    let after = (await this.#tracks.made()).at(-1)?.sequence ?? -1;
    while (!signal.aborted) {
      const isOver = await this.#tracks.isOver();
      const fresh = (await this.#tracks.source()).filter((one) => one.sequence > after);
      // A worker that takes over goes on where the last one was, unless that is long ago.
      const isLate = this.#tracks.isLive && fresh.length > BEHIND * 3;
      for (const segment of isLate ? fresh.slice(-BEHIND) : fresh) {
        signal.throwIfAborted();
        await this.#encode(segment);
        after = segment.sequence;
      }
      if (isOver) await this.#finish();
      if (this.#failure) throw this.#failure;
      await sleep(this.#tracks.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #encode(segment: LiveSegment): Promise<void> {
    const bytes = await this.#tracks.read(segment);
    const last = [...(this.#run?.sent.values() ?? [])].at(-1);
    if (last && (last.discontinuity !== segment.discontinuity || last.sequence + 1 !== segment.sequence)) {
      await this.#finish();
      this.#isPlain = false;
    }
    const ticks = firstTicks(bytes);
    if (ticks === undefined) return;
    this.#run ??= await this.#start();
    const { ffmpeg, cutter, sent } = this.#run;
    sent.set(segment.sequence, segment);
    cutter.expect({ sequence: segment.sequence, ticks });
    if (ffmpeg.input && !ffmpeg.input.write(bytes)) await drained(ffmpeg, this.#stop.signal);
  }

  async #start(): Promise<Run> {
    const { encoder, threads } = this.#deps;
    const options = this.#isPlain ? withoutPictures(this.#row.options) : this.#row.options;
    const args = liveArguments(options, encoder, threads);
    const ffmpeg = await startFfmpeg(args, { outputs: 1, gpu: encoder.gpu, input: true });
    ffmpeg.input?.on('error', () => undefined); // its exit shows why
    const sent = new Map<number, LiveSegment>();
    const cutter = new EncodedCutter((piece) => this.#store(piece, sent));
    const run = { ffmpeg, cutter, sent, read: readAll(ffmpeg, cutter) };
    void ffmpeg.ended.then(({ code, words }) => {
      if (code === 0 || this.#stop.signal.aborted) return;
      if (options.video?.pictures === undefined) this.#failure = new Error(words.slice(-500));
      else this.#goPlain(run, words);
    });
    return run;
  }

  /** Goes on without the subtitles, which another source or a new tuning may lack; the next timeline is tried with them. */
  #goPlain(run: Run, words: string): void {
    this.#deps.log.warn({ rendition: this.id, err: words.slice(-300) }, 'encoded without its picture subtitles');
    this.#isPlain = true;
    if (this.#run === run) this.#run = undefined;
  }

  /** Encodes the segments that went in to their end. */
  async #finish(): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    run?.ffmpeg.input?.end();
    await run?.read;
  }

  #store(piece: EncodedPiece, sent: Map<number, LiveSegment>): void {
    const source = sent.get(piece.sequence);
    for (const number of sent.keys()) if (number < piece.sequence) sent.delete(number);
    if (!source) return;
    const segment = {
      ...source,
      startMs: source.startMs + Math.round(piece.lateTicks / 90),
      durationMs: Math.max(1, Math.round(piece.durationTicks / 90)),
    };
    this.#writes = this.#writes
      .then(async () => {
        const bytes = this.#row.options.fragments ? await toFragments(piece.bytes) : piece.bytes;
        await this.#tracks.write({ ...segment, bytes: bytes.length }, bytes);
        this.#made = true;
      })
      .catch((error: Error) => this.#deps.log.warn({ err: error.message }, 'encoded segment not stored'));
  }
}

function withoutPictures({ video, ...options }: RenditionOptions): RenditionOptions {
  if (!video) return options;
  const { pictures: _, ...plain } = video;
  return { ...options, video: plain };
}

/** Resolves at the end of the encoder's output. */
async function readAll({ outputs }: FfmpegProcess, cutter: EncodedCutter): Promise<void> {
  try {
    for await (const chunk of outputs[0] as AsyncIterable<Buffer>) cutter.push(chunk);
    cutter.end();
  } catch {
    // killed: an incomplete segment is not stored
  }
}

async function drained({ input, ended }: FfmpegProcess, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => resolve();
  input?.once('drain', done);
  signal.addEventListener('abort', done, { once: true });
  void ended.then(done);
  await promise;
  signal.removeEventListener('abort', done);
}
