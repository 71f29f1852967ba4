import { type ChildProcess, fork } from 'node:child_process';
import { StorageFault } from '../readers/reader.ts';
import type { Request, Response } from './protocol.ts';

const IDLE_MS = 60_000;
/** Concurrent calls of one mount in a process; further calls wait. */
const MOST_CALLS = 8;
const MOST_WAITING = 200;

/** The file system refused: `code` is that of the operating system. */
export class MountError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`the file system answers ${code}`);
    this.code = code;
  }
}

interface Pending {
  done: (value: unknown) => void;
  fail: (error: Error) => void;
}

/** The child that reads one media root. */
class Mount {
  #child: ChildProcess | undefined;
  #hung = false;
  #next = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #pending = new Map<number, Pending>();
  readonly #waiting: (() => void)[] = [];

  /** The process id, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async call(request: Omit<Request, 'id'>, limitMs: number): Promise<unknown> {
    if (this.#hung) throw late();
    await this.#turn();
    try {
      return await this.#send(request, limitMs);
    } finally {
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#pending.size < MOST_CALLS && this.#waiting.length === 0) return;
    if (this.#waiting.length >= MOST_WAITING) throw new StorageFault('slow', 'too many calls wait for the mount');
    await new Promise<void>((go) => this.#waiting.push(go));
    if (this.#hung) throw late();
  }

  #send(request: Omit<Request, 'id'>, limitMs: number): Promise<unknown> {
    this.#child ??= this.#start();
    const child = this.#child;
    clearTimeout(this.#idle);
    this.#next += 1;
    const id = this.#next;
    return new Promise((done, fail) => {
      const timer = setTimeout(() => this.#giveUp(child), limitMs);
      const end = (): void => {
        clearTimeout(timer);
        this.#pending.delete(id);
        if (this.#pending.size === 0) this.#rest();
      };
      this.#pending.set(id, {
        done: (value) => {
          end();
          done(value);
        },
        fail: (error) => {
          end();
          fail(error);
        },
      });
      child.send({ id, ...request } satisfies Request, (error) => {
        if (error) this.#pending.get(id)?.fail(new StorageFault('timeout', 'the reader of the mount ended'));
      });
    });
  }

  #start(): ChildProcess {
    const child = fork(new URL('./child.ts', import.meta.url), {
      serialization: 'advanced',
      execArgv: [],
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    child.on('message', (response: Response) => this.#take(response));
    child.once('exit', () => this.#ended(child));
    child.once('error', () => this.#ended(child));
    return child;
  }

  #take(response: Response): void {
    const pending = this.#pending.get(response.id);
    if ('code' in response) pending?.fail(new MountError(response.code));
    else pending?.done(response.value);
  }

  /** The kernel may not end a hanging process. Until it does, no other is started. */
  #giveUp(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#hung = true;
    child.kill('SIGKILL');
    this.#failAll(late());
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#hung = false;
    this.#failAll(new StorageFault('timeout', 'the reader of the mount ended'));
  }

  #failAll(error: Error): void {
    for (const { fail } of this.#pending.values()) fail(error);
    for (const go of this.#waiting.splice(0)) go();
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#pending.size === 0) this.#child?.disconnect();
    }, IDLE_MS).unref();
  }
}

const late = (): StorageFault => new StorageFault('timeout', 'the mount does not answer');

const mounts = new Map<string, Mount>();

/** Runs a call in the child of its storage. Throws `StorageFault` after `limitMs`, and `MountError` for an error of the file system. */
export function callMount(request: Omit<Request, 'id'>, limitMs: number): Promise<unknown> {
  // Files are read by a child of their own: a list that comes too late ends no film.
  const key = `${request.root}\0${request.folder}\0${request.op === 'read' ? 'read' : ''}`;
  const mount = mounts.get(key) ?? new Mount();
  mounts.set(key, mount);
  return mount.call(request, limitMs);
}

/** The process that lists a storage, for tests. */
export const readerPid = (root: string, folder: string): number | undefined => mounts.get(`${root}\0${folder}\0`)?.pid;
