import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./guard.sh', import.meta.url));
const word = (signal: NodeJS.Signals): string => signal.replace(/^SIG/, '');

export interface Guarded {
  group: number;
  /** Requests the process to end. */
  signal: NodeJS.Signals;
  /** Ends the process when the first signal had no effect. */
  last: NodeJS.Signals;
}

/** A small shell that outlives a killed operator and ends its children. */
export class Guard {
  #shell: ChildProcess | undefined;
  readonly #guarded = new Map<number, Guarded>();
  #closed = false;

  constructor() {
    this.#start();
  }

  add(entry: Guarded): void {
    this.#guarded.set(entry.group, entry);
    this.#write(`+ ${entry.group} ${word(entry.signal)} ${word(entry.last)}`);
  }

  remove(group: number): void {
    if (this.#guarded.delete(group)) this.#write(`- ${group}`);
  }

  close(): void {
    this.#closed = true;
    this.#shell?.stdin?.end();
  }

  #start(): void {
    const shell = spawn('/bin/sh', [SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: {} });
    this.#shell = shell;
    shell.stdin.on('error', () => undefined); // exit reports it
    shell.on('error', () => undefined);
    shell.on('exit', () => {
      if (!this.#closed) setTimeout(() => this.#start(), 200).unref();
    });
    shell.unref();
    for (const entry of this.#guarded.values()) this.add(entry);
  }

  #write(line: string): void {
    this.#shell?.stdin?.write(`${line}\n`);
  }
}
