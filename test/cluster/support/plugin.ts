// kubectl-mediaserver as a person runs it, with a kubeconfig.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Ran } from './kubectl.ts';

const MAIN = 'operator/plugin/main.ts';

export class Plugin {
  readonly #global: readonly string[];

  constructor(kubeconfig: string, namespace: string) {
    this.#global = ['--kubeconfig', kubeconfig, '-n', namespace];
  }

  /** A fault is an answer too. */
  async attempt(...words: readonly string[]): Promise<Ran> {
    const child = spawn(process.execPath, [MAIN, ...this.#global, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (part: Buffer) => {
      out += part.toString();
    });
    child.stderr.on('data', (part: Buffer) => {
      err += part.toString();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: code ?? -1, out, err };
  }

  /** `open` on a free port, for as long as `use` takes: it receives the address. */
  async opened<T>(use: (url: string) => Promise<T>): Promise<T> {
    const words = [MAIN, ...this.#global, 'open', '--port', '0'];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'close');
    try {
      for await (const line of createInterface({ input: child.stdout })) return await use(line);
      throw new Error('it ended and printed no address');
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  }
}
