// ffmpeg copies a broadcast into a clean transport stream.
import type { ProbedStream } from '#platform/media.ts';
import { type FfmpegProcess, startFfmpeg } from '#workers/transcode/ffmpeg.ts';
import { roomIn } from './pipes.ts';

/** Microseconds of the broadcast by which ffmpeg learns its streams. Sound may begin later than pictures. */
const QUICK = 300_000;
const PATIENT = 800_000;
/** Bytes that are kept until ffmpeg gives some. */
const MOST_HELD = 8 << 20;
/** Chunks that come this close to one another go to ffmpeg together: each write wakes it up. */
const TOGETHER_MS = 40;
const TOGETHER_BYTES = 1 << 16;
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
  #ffmpeg: FfmpegProcess | undefined;
  #held: Buffer[] | undefined = [];
  #heldBytes = 0;
  /** Chunks that wait to be written together, once the first bytes of the copy are there. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writtenAt = 0;
  #analysed = QUICK;
  /** Numbers of announced sounds that are not sent. */
  #silent: number[] = [];
  #isOver = false;
  #isKilled = false;
  /** The last words of ffmpeg. */
  words = '';

  constructor(probe: Probe) {
    this.#probe = probe;
  }

  async start(): Promise<void> {
    const ffmpeg = await startFfmpeg(argumentsOf(this.#analysed, this.#silent), {
      outputs: 1,
      gpu: false,
      input: true,
    });
    ffmpeg.input?.on('error', () => undefined); // its exit shows why
    this.#ffmpeg = ffmpeg;
    for (const chunk of this.#held ?? []) ffmpeg.input?.write(chunk);
    if (this.#isOver) ffmpeg.input?.end();
    if (this.#isKilled) ffmpeg.kill();
  }

  /** Resolves when there is room for more. */
  async write(chunk: Buffer, signal: AbortSignal): Promise<void> {
    this.#hold(chunk);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    const isClose = this.#held === undefined && performance.now() - this.#writtenAt < TOGETHER_MS;
    if (isClose && this.#waitingBytes < TOGETHER_BYTES) return;
    if (!this.flush() && this.#ffmpeg?.input) await roomIn(this.#ffmpeg.input, signal);
  }

  /** Writes the chunks that wait; false when there is no room for more. */
  flush(): boolean {
    const input = this.#ffmpeg?.input;
    const chunks = this.#waiting;
    if (chunks.length === 0) return true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writtenAt = performance.now();
    if (!input?.writable) return true;
    input.cork();
    const hasRoom = chunks.map((chunk) => input.write(chunk)).every(Boolean);
    input.uncork();
    return hasRoom;
  }

  /** The bytes of the copy, until ffmpeg ends. */
  async *read(): AsyncGenerator<Buffer> {
    for (;;) {
      const ffmpeg = this.#ffmpeg;
      if (!ffmpeg) throw new Error('it was not started');
      for await (const chunk of ffmpeg.outputs[0] as AsyncIterable<Buffer>) {
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
    this.flush();
    this.#isOver = true;
    this.#ffmpeg?.input?.end();
  }

  kill(): void {
    this.#isKilled = true;
    this.#ffmpeg?.kill();
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
