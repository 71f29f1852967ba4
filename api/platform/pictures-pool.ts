// The sandboxed processes that open pictures: at most two, one of them kept warm for a while.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Frame, frameParts, frameReader } from './pictures-frames.ts';
import {
  type ChildAnswer,
  MOST_FRAME_BYTES,
  type OpenPicture,
  ParserUnavailable,
  Refused,
} from './pictures-protocol.ts';

const TIMEOUT_MS = 10_000;
/** For the drawing of an icon. */
const DRAWING_MS = 2000;
/** Until a new process accepts its first picture. */
const START_MS = 30_000;
/** Private memory; reserved address space does not count. */
const MEMORY_BYTES = 1 << 30;
const CPU_SECONDS = 600;
const IDLE_MS = 60_000;
const MOST_CHILDREN = 2;
const MOST_WAITING = 50;
const PICTURES_A_CHILD = 200;

const CHILD = fileURLToPath(new URL('./pictures-child.ts', import.meta.url));
const NODE_OPTIONS = ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning'];

let cut: Promise<string[]> | undefined;

/** Cuts the network off if the machine permits it; elsewhere a network policy does. */
function networkCut(): Promise<string[]> {
  cut ??= promisify(execFile)('unshare', ['-rn', 'true']).then(
    () => ['unshare', '-rn'],
    () => [],
  );
  return cut;
}

interface Child {
  process: ChildProcess;
  done: number;
  idle: NodeJS.Timeout | undefined;
  /** Receives the response for the current picture. */
  answer: ((frame: Frame) => void) | undefined;
  fail: ((error: Error) => void) | undefined;
}

async function startChild(): Promise<Child> {
  const limits = [`--data=${MEMORY_BYTES}`, `--cpu=${CPU_SECONDS}`, '--core=0', '--fsize=0', '--nofile=64'];
  const dying = ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL'];
  const words = [...limits, 'nice', '-n', '5', ...(await networkCut()), ...dying];
  const process_ = spawn('prlimit', [...words, process.execPath, ...NODE_OPTIONS, CHILD], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LANG: 'C.UTF-8', VIPS_CONCURRENCY: '1', MALLOC_ARENA_MAX: '2' },
  });
  const child: Child = { process: process_, done: 0, idle: undefined, answer: undefined, fail: undefined };
  const gone = (error: Error): void => {
    free.delete(child);
    all.delete(child);
    child.fail?.(error);
  };
  process_.once('error', (error) => gone(new ParserUnavailable(error.message)));
  process_.once('close', (code) =>
    gone(code === null ? new Refused('not_an_image') : new ParserUnavailable(`ended with ${code}`)),
  );
  process_.stdin?.on('error', () => undefined); // reported by its exit
  const read = frameReader(MOST_FRAME_BYTES, (frame) => child.answer?.(frame));
  process_.stdout?.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      process_.kill('SIGKILL');
    }
  });
  unref(process_);
  return child;
}

/** A warm child must not keep its parent running. */
function unref(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?: () => void } | null)?.unref?.();
}

function ref(child: ChildProcess): void {
  child.ref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { ref?: () => void } | null)?.ref?.();
}

const free = new Set<Child>();
const all = new Set<Child>();
const waiting: (() => void)[] = [];
let starting = 0;

async function take(): Promise<Child> {
  for (;;) {
    const [child] = free;
    if (child) {
      free.delete(child);
      clearTimeout(child.idle);
      return child;
    }
    if (all.size + starting < MOST_CHILDREN) return started();
    if (waiting.length >= MOST_WAITING) throw new ParserUnavailable('too many pictures wait');
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
}

async function started(): Promise<Child> {
  starting += 1;
  const child = await startChild().finally(() => {
    starting -= 1;
  });
  all.add(child);
  await firstWord(child);
  return child;
}

/** The start of the process does not count towards the picture's time limit. */
async function firstWord(child: Child): Promise<void> {
  ref(child.process);
  const tooLong = new ParserUnavailable("the pictures' process does not start");
  const frame = await answered(child, START_MS, tooLong).catch((error: unknown) => {
    end(child);
    waiting.shift()?.();
    throw error instanceof ParserUnavailable ? error : new ParserUnavailable(String(error));
  });
  if (!(frame.head as { ready?: boolean }).ready) throw tooLong;
}

/** The next frame from the process. After `limitMs` it kills the process and throws `late`. */
function answered(child: Child, limitMs: number, late: Error): Promise<Frame> {
  return new Promise<Frame>((resolve, reject) => {
    const timer = setTimeout(() => {
      end(child);
      reject(late);
    }, limitMs);
    child.answer = (frame) => {
      clearTimeout(timer);
      resolve(frame);
    };
    child.fail = (error) => {
      clearTimeout(timer);
      reject(error);
    };
  });
}

function giveBack(child: Child): void {
  child.answer = undefined;
  child.fail = undefined;
  unref(child.process);
  if (all.has(child) && child.done < PICTURES_A_CHILD) {
    free.add(child);
    child.idle = setTimeout(() => end(child), IDLE_MS);
    child.idle.unref();
  } else end(child);
  waiting.shift()?.();
}

function end(child: Child): void {
  free.delete(child);
  all.delete(child);
  child.process.kill('SIGKILL');
}

function send({ stdin }: ChildProcess, task: unknown, bytes: Buffer): void {
  stdin?.cork();
  for (const part of frameParts(task, bytes)) stdin?.write(part);
  stdin?.uncork();
}

/** Opens a picture in a sandboxed process of this machine. */
export const openInChild: OpenPicture = async (task, bytes) => {
  const child = await take();
  ref(child.process);
  child.done += 1;
  try {
    const coming = answered(child, task.icon?.kind === 'draw' ? DRAWING_MS : TIMEOUT_MS, new Refused('not_an_image'));
    send(child.process, task, bytes);
    const frame = await coming;
    const answer = frame.head as ChildAnswer;
    if (!answer.ok) throw new Refused(answer.reason);
    return { facts: answer.facts, bytes: frame.bytes, ...(answer.icon && { icon: answer.icon }) };
  } finally {
    giveBack(child);
  }
};
