// ffmpeg copies a broadcast into a clean transport stream.
import type { ProbedStream } from '#platform/media.ts';
import { type FfmpegProcess, startFfmpeg } from '#workers/transcode/ffmpeg.ts';
import { type Outlet, openOutlet } from './outlet.ts';
import { Pace, type Rests } from './pace.ts';
import { before } from './pipes.ts';

/** Microseconds of the broadcast by which ffmpeg learns its streams. Sound may begin later than pictures. */
const QUICK = 300_000;
const PATIENT = 800_000;
/** Bytes that are kept until ffmpeg gives some. */
const MOST_HELD = 8 << 20;
const NO_STREAM = 'Error initializing output stream';

/** How ffmpeg reads so much of a broadcast. */
const limitsOf = (analysed: number): string[] => ['-probesize', '1000000', '-analyzeduration', String(analysed)];

/** Streams of the first bytes by these limits. */
export type Probe = (bytes: Buffer, limits: readonly string[]) => Promise<readonly ProbedStream[]>;

/** The streams are only copied, by one demuxer and without a network. */
const argumentsOf = (analysed: number, silent: readonly number[]): string[] => [
  ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'pipe'],
  ...['-fflags', '+genpts+discardcorrupt', ...limitsOf(analysed)],
  ...['-f', 'mpegts', '-i', 'pipe:0', '-map', '0:v:0?', '-map', '0:a?'],
  ...silent.flatMap((number) => ['-map', `-0:a:${number}?`]),
  ...['-map', '0:s?', '-dn', '-c', 'copy', '-max_interleave_delta', '500000', '-muxdelay', '0', '-muxpreload', '0'],
  ...['-flush_packets', '1', '-f', 'mpegts', 'pipe:1'],
];

/**
 * A copy of a broadcast. It begins with little of it, for the first picture, and starts over with the same bytes where that is too
 * little, or where the program announces sound that is not sent: ffmpeg takes no stream whose parameters are unknown.
 */
export class StreamCopy {
  readonly #probe: Probe;
  readonly #rests: Rests;
  #outlet: Outlet | undefined;
  #ffmpeg: FfmpegProcess | undefined;
  #held: Buffer[] | undefined = [];
  #heldBytes = 0;
  #analysed = QUICK;
  /** Numbers of announced sounds that are not sent. */
  #silent: number[] = [];
  #isOver = false;
  #isKilled = false;
  /** The last words of ffmpeg. */
  words = '';

  /** `rests`: whether bytes of the copy may wait for a moment. */
  constructor(probe: Probe, rests?: Rests) {
    this.#probe = probe;
    this.#rests = rests;
  }

  async start(): Promise<void> {
    const outlet = await openOutlet();
    const { theirs } = outlet;
    const pipes = { outputs: 1, gpu: false, input: true, outlet: theirs };
    const started = startFfmpeg(argumentsOf(this.#analysed, this.#silent), pipes).finally(() => theirs.destroy());
    const ffmpeg = await started.catch((error: unknown) => {
      outlet.close();
      throw error;
    });
    this.#outlet = outlet;
    ffmpeg.input?.on('error', () => undefined); // its exit shows why
    this.#ffmpeg = ffmpeg;
    for (const chunk of this.#held ?? []) ffmpeg.input?.write(chunk);
    if (this.#isOver) ffmpeg.input?.end();
    if (this.#isKilled) this.kill();
  }

  /** Resolves when the chunk may change and there is room for more. */
  async write(chunk: Buffer, signal: AbortSignal): Promise<void> {
    const kept = this.#held ? Buffer.from(chunk) : chunk;
    this.#hold(kept);
    const input = this.#ffmpeg?.input;
    if (!input?.writable) return;
    const written = Promise.withResolvers<void>();
    input.write(kept, () => written.resolve());
    if (input.writableLength > 0) await before(written.promise, signal);
  }

  /** The bytes of the copy, until ffmpeg ends, in chunks that are valid until the next one is requested. */
  async *read(): AsyncGenerator<Buffer> {
    const pace = new Pace(() => !this.#isOver && this.#rests?.() === true);
    for (;;) {
      const [ffmpeg, outlet] = [this.#ffmpeg, this.#outlet];
      if (!ffmpeg || !outlet) throw new Error('it was not started');
      for await (const chunk of outlet.read((bytes) => pace.rest(bytes))) {
        this.#held = undefined;
        yield chunk;
      }
      this.words = (await ffmpeg.ended).words;
      if (!(await this.#learns())) return;
      await this.start();
    }
  }

  /** No more bytes come. */
  end(): void {
    this.#isOver = true;
    this.#ffmpeg?.input?.end();
  }

  kill(): void {
    this.#isKilled = true;
    this.#ffmpeg?.kill();
    this.#outlet?.close();
  }

  #hold(chunk: Buffer): void {
    if (!this.#held) return;
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > MOST_HELD) this.#held = undefined;
  }

  /** Whether another try has other arguments. */
  async #learns(): Promise<boolean> {
    if (!this.#held || this.#isKilled || this.#silent.length > 0 || !this.words.includes(NO_STREAM)) return false;
    if (this.#analysed === QUICK) {
      this.#analysed = PATIENT;
      return true;
    }
    const streams = await this.#probe(Buffer.concat(this.#held), limitsOf(PATIENT));
    const sounds = streams.filter(({ kind }) => kind === 'audio');
    this.#silent = sounds.flatMap(({ sampleRate }, number) => (sampleRate ? [] : [number]));
    return this.#silent.length > 0;
  }
}
