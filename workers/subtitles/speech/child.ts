// The process that holds the model in memory: sound by its standard input, lines of JSON by its standard output.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { findJail } from '../../transcode/ffmpeg.ts';

const SCRIPT = fileURLToPath(new URL('./hear.py', import.meta.url));
/** An answer may take so long; a stretch has at most a minute of sound. */
const PATIENCE_MS = 900_000;

const Fault = z.object({
  error: z.object({ reason: z.enum(['no-module', 'no-gpu', 'memory', 'model']), message: z.string() }),
});
const Loaded = z.object({ loaded: z.object({ languages: z.array(z.string()) }) });
const Heard = z.object({
  language: z.string(),
  segments: z.array(
    z.object({
      text: z.string(),
      compression: z.number(),
      noSpeech: z.number(),
      /** Start and end in seconds, and the word with the space before it. */
      words: z.array(z.tuple([z.number(), z.number(), z.string()])),
    }),
  ),
});
export type Heard = z.output<typeof Heard>;
const Detected = z.object({ languages: z.array(z.tuple([z.string(), z.number()])) });
export type Detected = z.output<typeof Detected>;

export type ChildFault = z.output<typeof Fault>['error']['reason'] | 'gone';

/** The child cannot do what it is for; `gone` when it ended. */
export class ChildFailed extends Error {
  readonly reason: ChildFault;
  /** A signal ended it. */
  readonly wasKilled: boolean;
  constructor(reason: ChildFault, message: string, { wasKilled = false } = {}) {
    super(message);
    this.reason = reason;
    this.wasKilled = wasKilled;
  }
}

export interface ChildOptions {
  /** The interpreter that has faster-whisper. */
  python: string;
  folder: string;
  device: 'cuda' | 'cpu';
  computeType: string;
  threads: number;
}

/** Variables that a GPU needs; everything else stays with the worker. */
const PASSED = ['PATH', 'LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'NVIDIA_VISIBLE_DEVICES'];

function environment(): NodeJS.ProcessEnv {
  const passed = PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const memory = { MALLOC_ARENA_MAX: '1' }; // the threads of a model leave much free memory in arenas of their own
  return {
    ...Object.fromEntries(passed),
    ...memory,
    HF_HUB_OFFLINE: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    LANG: 'C.UTF-8',
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export interface Order {
  language: string;
  task: string;
  /** Beginning and end of each part in seconds, at most half a minute. */
  parts: readonly (readonly [from: number, to: number])[];
}

export class Child {
  readonly device: ChildOptions['device'];
  /** Codes of the languages that its model hears. */
  languages: readonly string[] = [];
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  private constructor(
    started: ChildProcessByStdio<Writable, Readable, Readable>,
    { device }: Pick<ChildOptions, 'device'>,
  ) {
    this.device = device;
    this.#process = started;
    this.#lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
    started.stderr.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-2000);
    });
    for (const stream of [started, started.stdin, started.stdout, started.stderr]) stream.on('error', () => undefined);
  }

  /** Starts a child and loads the model. Throws ChildFailed. */
  static async start({ python, folder, device, computeType, threads }: ChildOptions): Promise<Child> {
    const { network } = await findJail();
    const jail = network ? ['unshare', '-rn'] : [];
    const args = [python, SCRIPT, folder, device, computeType, String(threads)];
    const [command = '', ...words] = [...jail, 'setpriv', '--pdeathsig', 'KILL', ...args]; // it ends with a killed worker
    const started = spawn(command, words, { env: environment(), stdio: ['pipe', 'pipe', 'pipe'] });
    const child = new Child(started, { device });
    try {
      child.languages = (await child.#answer(Loaded)).loaded.languages;
      return child;
    } catch (error) {
      child.end();
      throw error;
    }
  }

  /** True when its process is gone. */
  get ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Hears parts of at most a minute of sound: samples of 16 bits, 16,000 a second. */
  async hear(sound: Buffer, order: Order): Promise<Heard> {
    return this.#order({ op: 'hear', ...order, bytes: sound.length }, sound, Heard);
  }

  /** The likeliest languages of half a minute of sound, best first. */
  async detect(sound: Buffer): Promise<Detected['languages']> {
    return (await this.#order({ op: 'detect', bytes: sound.length }, sound, Detected)).languages;
  }

  end(): void {
    this.#process.kill('SIGKILL');
  }

  async #order<S extends z.ZodType>(order: object, sound: Buffer, schema: S): Promise<z.output<S>> {
    this.#process.stdin.write(`${JSON.stringify(order)}\n`);
    this.#process.stdin.write(sound);
    return this.#answer(schema);
  }

  async #gone(): Promise<ChildFailed> {
    if (!this.ended) await once(this.#process, 'exit');
    const message = this.#errors.trim().split('\n').at(-1) ?? 'the child ended';
    return new ChildFailed('gone', message, { wasKilled: this.#process.signalCode !== null });
  }

  async #answer<S extends z.ZodType>(schema: S): Promise<z.output<S>> {
    const late = setTimeout(() => this.end(), PATIENCE_MS);
    const { value, done } = await this.#lines.next().finally(() => clearTimeout(late));
    if (done === true) throw await this.#gone();
    const answer = parsed(value);
    const fault = Fault.safeParse(answer);
    if (fault.success) throw new ChildFailed(fault.data.error.reason, fault.data.error.message);
    const read = schema.safeParse(answer);
    if (!read.success) throw new ChildFailed('gone', `the child gave no answer: ${value.slice(0, 200)}`);
    return read.data;
  }
}
