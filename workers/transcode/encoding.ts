import { type StreamPlan, segmentStartMs } from '#areas/streaming/public.ts';
import { commandOf, type Run } from './command.ts';
import { type Cutter, cutterFor } from './cutter.ts';
import { type FfmpegProcess, ffmpegArguments, startFfmpeg } from './ffmpeg.ts';
import type { Head } from './head.ts';

export interface EncodingEvents {
  /** A complete piece: `init.mp4`, `12.m4s`, `12.ts`. Awaited, so that a slow store slows ffmpeg down. */
  onPiece(rendition: string, name: string, bytes: Buffer): Promise<void>;
}

/** One run of ffmpeg: from a segment to the end of the film or its kill. */
export class Encoding implements Head {
  readonly from: number;
  readonly renditions: readonly string[];
  /** Next segment of each rendition. */
  readonly next = new Map<string, number>();
  /** Resolves when the process has exited and its last pieces are stored. */
  readonly ended: Promise<{ code: number | null; words: string; fault: boolean }>;
  resting = false;
  /** When bytes last arrived, or it resumed after a pause; ms of the process clock. */
  lastBytesAt = performance.now();
  /** When it began, without pauses; ms of the process clock. */
  #beganAt = performance.now();
  #restsSince = 0;
  readonly #plan: StreamPlan;
  readonly #child: Promise<FfmpegProcess>;
  readonly #events: EncodingEvents;
  #killed = false;
  #hung = false;
  #running: FfmpegProcess | undefined;

  constructor(run: Run, events: EncodingEvents) {
    const command = commandOf(run);
    this.from = run.from;
    this.#plan = run.plan;
    this.#events = events;
    this.renditions = command.outputs.map((output) => output.rendition);
    for (const rendition of this.renditions) this.next.set(rendition, run.from);
    this.#child = startFfmpeg(ffmpegArguments(command, run.encoder.device), {
      outputs: command.outputs.length,
      gpu: run.encoder.gpu,
    });
    this.ended = this.#pump();
  }

  get pid(): number {
    return this.#running?.pid ?? 0;
  }

  /** Seconds of film encoded in one second; unknown while paused. */
  get speed(): number | undefined {
    if (this.resting) return undefined;
    const madeMs = segmentStartMs(this.#plan, Math.min(...this.next.values())) - segmentStartMs(this.#plan, this.from);
    return Math.round((madeMs / (performance.now() - this.#beganAt)) * 100) / 100;
  }

  kill(): void {
    this.#killed = true;
    this.#running?.kill();
  }

  /** Kills a process that stopped responding: a fault of its own. */
  giveUp(): void {
    this.#hung = true;
    this.#running?.kill();
  }

  rest(): void {
    if (this.resting) return;
    this.resting = true;
    this.#restsSince = performance.now();
    this.#running?.rest();
  }

  resume(): void {
    if (!this.resting) return;
    this.resting = false;
    this.lastBytesAt = performance.now();
    this.#beganAt += this.lastBytesAt - this.#restsSince;
    this.#running?.resume();
  }

  async #pump(): Promise<{ code: number | null; words: string; fault: boolean }> {
    const child = await this.#child;
    this.#running = child;
    if (this.#killed) child.kill();
    const cutters = await Promise.all(this.renditions.map((rendition, i) => this.#read(rendition, child.outputs[i])));
    const end = await child.ended;
    const silent = cutters.some((cutter, i) => cutter.count === 0 && this.renditions[i]?.startsWith('v'));
    const fault = !this.#killed && (this.#hung || end.code !== 0 || silent);
    if (!fault && !this.#killed) {
      for (const cutter of cutters) cutter.end();
      await Promise.all(cutters.map((cutter) => cutter.drain()));
    }
    return { ...end, fault };
  }

  async #read(rendition: string, output: AsyncIterable<Buffer> | undefined) {
    const waiting: Promise<void>[] = [];
    const give = (name: string, bytes: Buffer): void => {
      if (!this.#killed) waiting.push(this.#events.onPiece(rendition, name, bytes));
    };
    const cutter: Cutter = cutterFor(
      { plan: this.#plan, rendition, from: this.from },
      {
        onInit: (bytes) => give('init.mp4', bytes),
        onSegment: (n, bytes) => {
          this.next.set(rendition, n + 1);
          give(`${n}.${this.#plan.container === 'ts' ? 'ts' : 'm4s'}`, bytes);
        },
      },
    );
    const drain = async (): Promise<void> => void (await Promise.all(waiting.splice(0)));
    try {
      for await (const chunk of output ?? []) {
        this.lastBytesAt = performance.now();
        cutter.push(chunk);
        if (waiting.length > 0) await drain();
      }
    } catch {
      this.#running?.kill(); // an unavailable store, or a damaged stream: the run ends as a fault with code null
    }
    return {
      get count() {
        return cutter.count;
      },
      end: () => cutter.end(),
      drain,
    };
  }
}
