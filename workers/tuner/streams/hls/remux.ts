// Fragmented MP4, and sound in segments of its own, as one transport stream. ffmpeg gets bytes by pipes, and no address.
import { PassThrough, type Writable } from 'node:stream';
import { type FfmpegProcess, startFfmpeg } from '#workers/transcode/ffmpeg.ts';
import { SourceFault } from '../fault.ts';
import { roomIn } from '../pipes.ts';
import type { Received } from './follow.ts';
import { type Input, inputOf } from './kinds.ts';

type Segments = AsyncGenerator<Received>;

const BUFFERED = 1 << 20;

/** Times are kept: pictures and sound have one clock. */
function argumentsOf(inputs: readonly Input[]): string[] {
  const read = inputs.flatMap(({ demuxer, startSec }, at) => [
    ...['-protocol_whitelist', 'pipe', '-probesize', '1000000', '-analyzeduration', '500000'],
    ...(startSec === undefined ? [] : ['-itsoffset', startSec.toFixed(6)]),
    ...['-f', demuxer, '-i', `pipe:${at === 0 ? 0 : at + 2}`],
  ]);
  const sound = inputs.length > 1 ? '1:a:0' : '0:a?';
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-copyts', ...read],
    ...['-map', '0:v:0?', '-map', sound, '-dn', '-c', 'copy', '-muxdelay', '0', '-muxpreload', '0'],
    ...['-flush_packets', '1', '-f', 'mpegts', '-mpegts_copyts', '1', 'pipe:1'],
  ];
}

/**
 * One transport stream of the lists of a source: of its pictures, and of its sound where that has a list. A list alone goes on after a
 * break with an ffmpeg of its own. Two lists end there, as their breaks need not come at the same time. The signal ends an ffmpeg that
 * gives no output too.
 */
export async function* remuxed(lists: readonly Segments[], signal: AbortSignal): AsyncGenerator<Buffer> {
  signal.throwIfAborted();
  const remux = new Remux(signal);
  const stop = (): void => remux.stop();
  signal.addEventListener('abort', stop, { once: true });
  const fed = lists.length > 1 ? remux.join(lists) : remux.follow(lists[0] as Segments);
  let fault: unknown;
  void fed
    .catch((error: unknown) => {
      fault = error;
    })
    .finally(() => remux.output.end());
  try {
    yield* remux.output as AsyncIterable<Buffer>;
    if (fault) throw fault;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

class Remux {
  readonly output = new PassThrough({ highWaterMark: BUFFERED });
  readonly #signal: AbortSignal;
  #ffmpeg: FfmpegProcess | undefined;
  #isStopped = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  stop(): void {
    this.#isStopped = true;
    this.output.destroy();
    if (this.#ffmpeg) discard(this.#ffmpeg);
  }

  /** Each run of segments with one head. */
  follow(segments: Segments): Promise<void> {
    return this.#ended(async () => {
      for await (const one of segments) {
        if (one.head || one.isBreak || !this.#ffmpeg) {
          await this.#end();
          await this.#start([one]);
        }
        await this.#write(this.#ffmpeg?.input, one);
      }
    });
  }

  /** Pictures and sound at once, until one of them breaks or ends. */
  join(lists: readonly Segments[]): Promise<void> {
    return this.#ended(async () => {
      const firsts = await Promise.all(lists.map((list) => list.next()));
      const begun = firsts.flatMap(({ value, done }) => (done ? [] : [value as Received]));
      if (begun.length < lists.length) throw new SourceFault('ended', 'a list has no segments');
      await this.#start(begun);
      const { input = null, moreInputs = [] } = this.#ffmpeg ?? {};
      const inputs = [input, ...moreInputs];
      await Promise.all(lists.map((list, at) => this.#feed(inputs[at], begun[at] as Received, list)));
    });
  }

  /** The bytes that were received come before the fault. */
  async #ended(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.#end().catch(() => undefined);
      throw error;
    }
    await this.#end();
  }

  async #feed(input: Writable | null | undefined, first: Received, rest: Segments): Promise<void> {
    let before = first;
    await this.#write(input, first);
    for await (const one of rest) {
      if (!goesOn(one, before)) throw new SourceFault('ended', 'the clock of the source starts over');
      before = one;
      await this.#write(input, one);
    }
    input?.end();
  }

  async #start(firsts: readonly Received[]): Promise<void> {
    const options = { outputs: 1, gpu: false, input: true, moreInputs: firsts.length - 1 };
    const ffmpeg = await startFfmpeg(argumentsOf(firsts.map(requireInput)), options);
    for (const input of [ffmpeg.input, ...ffmpeg.moreInputs]) input?.on('error', () => undefined); // its exit shows why
    ffmpeg.outputs[0]?.pipe(this.output, { end: false });
    this.#ffmpeg = ffmpeg;
    if (this.#isStopped) discard(ffmpeg);
  }

  async #write(input: Writable | null | undefined, { head, bytes }: Received): Promise<void> {
    for (const part of head ? [head, bytes] : [bytes]) {
      if (!input?.writable) throw new SourceFault('not-media', 'ffmpeg ended');
      if (!input.write(part)) await roomIn(input, this.#signal);
    }
  }

  /** The bytes that ffmpeg still holds are in the output then. */
  async #end(): Promise<void> {
    const ffmpeg = this.#ffmpeg;
    if (!ffmpeg) return;
    for (const input of [ffmpeg.input, ...ffmpeg.moreInputs]) input?.end();
    if (this.#isStopped) discard(ffmpeg);
    const { code, words } = await ffmpeg.ended;
    this.#ffmpeg = undefined;
    if (code && !this.#isStopped) throw new SourceFault('not-media', words.slice(-300) || 'ffmpeg failed');
  }
}

/** A process has ended once its output was read. */
function discard(ffmpeg: FfmpegProcess): void {
  ffmpeg.kill();
  ffmpeg.outputs[0]?.resume();
}

function requireInput(first: Received): Input {
  const input = inputOf(first);
  if (!input) throw new SourceFault('not-media', 'segments of this kind are not read');
  return input;
}

/** Whether a segment goes on with the clock of the one before. The times of bare frames go on only where no segment is left out. */
function goesOn(one: Received, before: Received): boolean {
  if (one.isBreak || one.head) return false;
  return one.sequence === before.sequence + 1 || inputOf(one)?.demuxer !== 'aac';
}
