import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Api } from './api.ts';
import { storesOf } from './processes.ts';
import { atEnd, eventually, temporaryFolder } from './stores.ts';

const entry = new URL('./delivery-worker.ts', import.meta.url).pathname;

/** Worker processes for an API's database, under one clock that moves ahead on command. */
export class DeliveryWorkers {
  readonly #clockFile = join(temporaryFolder('clock'), 'ahead');
  readonly #living = new Set<ChildProcess>();
  readonly #api: Api;
  #aheadMs = 0;

  constructor(api: Api) {
    this.#api = api;
    writeFileSync(this.#clockFile, '0');
    atEnd(() => this.endAll());
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#living].map((child) => this.kill(child)));
  }

  async start(more: Record<string, string> = {}): Promise<ChildProcess> {
    const { config } = this.#api;
    const env = {
      ...process.env,
      ...storesOf(config),
      FOYER_SCRATCH_DIR: config.scratchDir,
      FOYER_LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
      FOYER_WEBHOOK_NETWORKS: JSON.stringify(config.webhookNetworks),
      FOYER_SETTINGS: JSON.stringify(config.declaredSettings),
      TEST_CLOCK_FILE: this.#clockFile,
      ...more,
    };
    const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#living.add(child);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error('the worker ended');
    return child;
  }

  async kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#living.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Moves the clock ahead by so much; delayed jobs are checked against it. */
  async goOn(ms: number): Promise<void> {
    this.#aheadMs += ms;
    writeFileSync(this.#clockFile, String(this.#aheadMs));
    await this.#api.deps.db.raw('update graphile_worker._private_jobs set run_at = now() where run_at > now()');
  }
}

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  atMs: number;
}

/** A real receiver on a socket; it answers 200 unless `answer` does otherwise. */
export class Receiver {
  readonly got: Received[] = [];
  answer: (response: ServerResponse, request: Received) => void = (response) => response.end('ok');
  url = '';

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const received = { method, path, headers, body: Buffer.concat(chunks), atMs: Date.now() };
        receiver.got.push(received);
        receiver.answer(response, received);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    receiver.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    return receiver;
  }

  /** The request of that number, from 1. */
  async request(number: number): Promise<Received> {
    return eventually(() => this.got[number - 1], 25_000);
  }
}
