import { type ChildProcess, execFile, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import fluent from 'fluent-ffmpeg';
import { isAddress } from '#platform/media-bytes.ts';

/** Arguments of ffmpeg, in groups. */
export interface Command {
  inputs: { file: string; options: string[] }[];
  outputs: { target: string; options: string[]; rendition: string }[];
}

/**
 * Arguments as fluent-ffmpeg writes them; it runs nothing. Options are passed in twos or more, because it splits a
 * single one at its space.
 */
export function ffmpegArguments(command: Command, device: readonly string[] = []): string[] {
  const builder = fluent() as fluent.FfmpegCommand & { _getArguments(): unknown[] };
  const global = ['-hide_banner', '-nostdin', '-loglevel', 'error', ...device];
  for (const [i, { file, options }] of command.inputs.entries()) {
    builder.input(file).inputOptions(...(i === 0 ? global : []), ...options);
  }
  for (const { target, options } of command.outputs) builder.output(target).outputOptions(...options);
  return builder._getArguments().map(String);
}

export interface Jail {
  /** Whether this machine can cut the child off the network. */
  network: boolean;
}

let jail: Promise<Jail> | undefined;

/** Determined once: containers without user namespaces keep the network, which their policy closes. */
export function findJail(): Promise<Jail> {
  jail ??= promisify(execFile)('unshare', ['-rn', 'true'])
    .then(() => ({ network: true }))
    .catch(() => ({ network: false }));
  return jail;
}

/**
 * Address space that software encoding of 8K needs, with a margin; graphics drivers map far more, so they have no
 * limit.
 */
const MAX_MEMORY = 16 * 2 ** 30;

export interface FfmpegEnd {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last lines that it wrote. */
  words: string;
}

export interface FfmpegProcess {
  readonly pid: number;
  /** Outputs in the order of the command: descriptor 1 where it has no outlet, then 3, 4, … */
  readonly outputs: Readable[];
  /** Descriptor 0, if it was requested. */
  readonly input: Writable | null;
  /** The descriptors after those of the outputs, as many as requested. */
  readonly moreInputs: Writable[];
  /** Resolves when the process has exited. */
  readonly ended: Promise<FfmpegEnd>;
  /** At once, because a half-written segment must not look complete. */
  kill(): void;
  rest(): void;
  resume(): void;
}

export interface FfmpegPipes {
  outputs: number;
  gpu: boolean;
  input?: boolean;
  moreInputs?: number;
  /** Its first output goes there, in place of a pipe. */
  outlet?: Socket;
}

/**
 * Starts ffmpeg with low priority, limits, no core dumps, no network and no inherited environment. One that reads a
 * remote file keeps the network: its protocols and its one demuxer let it open the address of the range reader alone.
 */
export async function startFfmpeg(
  args: string[],
  { outputs, gpu, input = false, moreInputs = 0, outlet }: FfmpegPipes,
): Promise<FfmpegProcess> {
  const { network } = await findJail();
  const words = [
    ...limits(gpu, network && !args.some(isAddress)),
    ...['setpriv', '--pdeathsig', 'KILL', 'ffmpeg', ...args], // a killed worker leaves no encoder running
  ];
  const extra = Math.max(0, outputs - 1);
  const pipes = Array.from({ length: extra + moreInputs }, () => 'pipe' as const);
  const child = spawn('prlimit', words, {
    stdio: [input ? 'pipe' : 'ignore', outlet ?? 'pipe', 'pipe', ...pipes],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LANG: 'C.UTF-8', ...(gpu ? gpuEnvironment() : {}) },
  });
  const ended = endOf(child);
  await requirePipes(child, ended);
  const first = outlet ? [] : [child.stdout];
  return {
    pid: child.pid ?? 0,
    outputs: [...first, ...child.stdio.slice(3, 3 + extra)] as Readable[],
    input: child.stdin,
    moreInputs: child.stdio.slice(3 + extra) as Writable[],
    ended,
    kill: () => void child.kill('SIGKILL'),
    rest: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

/** Node makes no pipes where no descriptors are left for them. */
async function requirePipes({ stdin }: ChildProcess, ended: Promise<FfmpegEnd>): Promise<void> {
  if (stdin === undefined) throw new Error((await ended).words);
}

const limits = (gpu: boolean, isAlone: boolean): string[] => [
  ...['--core=0', '--nofile=256', ...(gpu ? [] : [`--as=${MAX_MEMORY}`])],
  ...['nice', '-n', '5', ...(isAlone ? ['unshare', '-rn'] : [])],
];

function gpuEnvironment(): Record<string, string> {
  const names = [
    'LD_LIBRARY_PATH',
    'NVIDIA_VISIBLE_DEVICES',
    'NVIDIA_DRIVER_CAPABILITIES',
    'CUDA_VISIBLE_DEVICES',
    'LIBVA_DRIVER_NAME',
  ];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

function endOf(child: ChildProcess): Promise<FfmpegEnd> {
  let words = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(-4000);
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: -1, signal: null, words: error.message }));
    child.once('close', (code, signal) => resolve({ code, signal, words }));
  });
}
