import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { ffmpegInput, ffmpegProtocols } from '#platform/media-bytes.ts';
import { DECODERS } from './decoders.ts';
import { ProbeError } from './fault.ts';
import type { Sniffed } from './sniff.ts';

const TIMEOUT_MS = 30_000;
/** Address space: Debian's ffprobe maps 300 MB of libraries before it reads a byte. */
const MEMORY_BYTES = 768 * 1024 * 1024;
const CPU_SECONDS = 30;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const ERROR_BYTES = 8 * 1024;

export interface ProbeRequest {
  /** As in the file system; a name that is not UTF-8 is not passed to ffprobe, see `inputOf`. */
  path: string;
  sniffed: Sniffed;
  /** Output options, such as `-show_streams`. */
  show: readonly string[];
  signal?: AbortSignal | undefined;
  /** Longer than for a probe when all packets are read. */
  timeoutMs?: number | undefined;
}

/**
 * Runs ffprobe in a sandbox: one demuxer, allowed decoders, that file only, limits on memory, CPU and time, no
 * environment. Returns its output.
 */
export async function ffprobe(request: ProbeRequest): Promise<string> {
  request.signal?.throwIfAborted();
  const { demuxer } = request.sniffed;
  const args = [
    ...[
      '-v',
      'error',
      '-protocol_whitelist',
      ffmpegProtocols(request.path),
      '-f',
      demuxer.split(',')[0] ?? demuxer,
      '-format_whitelist',
      demuxer,
    ],
    ...['-codec_whitelist', DECODERS, '-threads', '1', '-of', 'json', ...request.show, '-i', ffmpegInput(request.path)],
  ];
  const cpu = Math.ceil((request.timeoutMs ?? CPU_SECONDS * 1000) / 1000);
  const limits = [`--as=${MEMORY_BYTES}`, `--cpu=${cpu}`, '--core=0', '--fsize=0', '--nofile=64'];
  const child = spawn('prlimit', [...limits, '--', 'ffprobe', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    detached: true,
  });
  return answerOf(child, request);
}

interface Output {
  out: Buffer[];
  outBytes: number;
  error: string;
  why: ProbeError | Error | undefined;
}

function answerOf(child: ChildProcess, request: ProbeRequest): Promise<string> {
  const output: Output = { out: [], outBytes: 0, error: '', why: undefined };
  const stop = (why: Error): void => {
    output.why ??= why;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(
    () => stop(new ProbeError('probe-timeout', 'ffprobe took too long')),
    request.timeoutMs ?? TIMEOUT_MS,
  );
  const abort = (): void =>
    stop(request.signal?.reason instanceof Error ? request.signal.reason : new Error('aborted'));
  request.signal?.addEventListener('abort', abort, { once: true });
  child.stdout?.on('data', (chunk: Buffer) => {
    output.outBytes += chunk.length;
    if (output.outBytes > OUTPUT_BYTES) stop(new ProbeError('corrupt', 'the output of ffprobe is too long'));
    else output.out.push(chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    if (output.error.length < ERROR_BYTES) output.error += chunk.toString('utf8');
  });
  return new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killed) => {
      const fault = output.why ?? faultOf(output.error, code, killed);
      if (fault) reject(fault);
      else resolve(Buffer.concat(output.out).toString('utf8'));
    });
  }).finally(() => {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', abort);
  });
}

function faultOf(error: string, code: number | null, killed: NodeJS.Signals | null): Error | undefined {
  // 127 comes from the loader or prlimit: a fault of this machine, not of the file.
  if (code === 127) return new Error(`ffprobe cannot be run: ${error.trim().slice(0, 200)}`);
  const refused = /Codec \(([\w.-]+)\) not on whitelist/.exec(error);
  if (refused) return new ProbeError('codec-refused', `codec ${refused[1] ?? ''} is not allowed`);
  if (/not on whitelist/.test(error)) return new ProbeError('playlist-refused', 'names another file or address');
  if (killed === 'SIGXCPU' || killed === 'SIGKILL') return new ProbeError('probe-timeout', 'ffprobe used its time up');
  if (killed !== null) return new ProbeError('corrupt', `ffprobe died of ${killed}`);
  return code === 0 ? undefined : new ProbeError('corrupt', lastLine(error));
}

/** The last line of ffprobe's errors, without the path. */
function lastLine(error: string): string {
  const line = error.trim().split('\n').at(-1) ?? '';
  return (
    line
      .slice(line.lastIndexOf(': ') + 1)
      .trim()
      .slice(0, 200) || 'ffprobe failed'
  );
}
