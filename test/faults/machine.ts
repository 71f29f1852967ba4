import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { identityOf } from '#operator/local/process-identity.ts';
import { redisUrl } from '#operator/local/redis.ts';
import type { Stored } from '#operator/local/status-file.ts';
import { clientFor, type TestClient } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { type ClientOptions, createClient, type FoyerClient, session } from '../../api/client/index.ts';

const OPERATOR = 'operator/main.ts';
const HEALING_MS = 60_000;

interface StoredState {
  ports: { redis: number };
  redisPassword: string;
}

/** Differences between the suites. */
export interface Wanted {
  /** API processes on the one port. */
  apis?: number;
  /** Proxies whose X-Forwarded headers count. */
  trustedProxies?: readonly string[];
  /** Transcode workers that wait ready: 1 by default. */
  warm?: number;
  /** Its data lies on a file system of its own, of so many megabytes. */
  diskMegabytes?: number;
  /** More entries of spec.media. */
  media?: readonly object[];
  /** Documents that they refer to, as YAML. */
  documents?: string;
  /** Private networks that webhooks may call. */
  webhooks?: readonly string[];
  /** Networks in which tuners may be. */
  live?: readonly string[];
  /** spec.objects. */
  objects?: object;
}

const serverOf = ({
  apis = 2,
  trustedProxies = [],
  webhooks = [],
  live = [],
  objects = { managed: {} },
  warm = 1,
  media = [],
  documents = '',
}: Wanted): string => `${documents}---
apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  api: { replicas: ${apis} }
  network: ${JSON.stringify({ trustedProxies, allow: { webhooks, live } })}
  workers: { replicas: 1 }
  postgres: { managed: {} }
  redis: { managed: {} }
  objects: ${JSON.stringify(objects)}
  media: ${JSON.stringify([{ name: 'media', hostPath: { path: 'media' }, readOnly: true }, ...media])}
  transcode: { warm: ${warm}, max: 1 }
`;
const library = `---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: films }
spec: { serverRef: { name: home }, type: movies, folders: [{ media: media, path: /films }] }
`;

/** `operator local` with two API processes, or a given number, over a temporary folder, claimed and signed in. */
export class Machine {
  readonly apis: number;
  readonly #server: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'foyer-faults-'));
  readonly media = join(this.folder, 'media');
  readonly films = join(this.media, 'films');
  readonly data = join(this.folder, 'data');
  readonly #diskMegabytes: number | undefined;
  readonly #file = join(this.folder, 'home.yaml');
  #operator: ChildProcess | undefined;
  #printed = '';
  url = '';
  headers: Record<string, string> = {};
  owner: TestClient = clientFor('', {});

  constructor(wanted: Wanted = {}) {
    this.apis = wanted.apis ?? 2;
    this.#server = serverOf(wanted);
    this.#diskMegabytes = wanted.diskMegabytes;
    chmodSync(this.folder, 0o711);
    mkdirSync(this.films, { recursive: true });
  }

  async start(): Promise<void> {
    writeFileSync(this.#file, this.#server);
    if (this.#diskMegabytes) {
      mkdirSync(this.data);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${this.#diskMegabytes}m,mode=711`, 'tmpfs', this.data]);
    }
    const args = [OPERATOR, 'local', '-f', this.#file, '--data', this.data, '--port', '0'];
    const operator = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#operator = operator;
    for (const stream of [operator.stdout, operator.stderr])
      stream.on('data', (chunk) => {
        this.#printed += String(chunk);
      });
    const printed = () => /^ready (\S+)$[\s\S]*#claim=(\S+)$/m.exec(this.#printed) ?? undefined;
    const [, url = '', code = ''] = await eventually(printed, 120_000).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.#printed}`);
    });
    this.url = url;
    await this.#setUp(code);
    await this.ready();
  }

  async #setUp(code: string): Promise<void> {
    const person = { username: 'ana', password: 'a good long one' };
    const claimed = await clientFor(this.url, {}).claimServer({ body: { code } });
    const headers = { authorization: `Bearer ${claimed.body.ticket}` };
    await clientFor(this.url, headers).completeSetup({ body: person });
    const signedIn = await clientFor(this.url, { 'x-client-id': 'faults' }).login({ body: person });
    this.headers = { authorization: `Bearer ${signedIn.body.accessToken}`, 'x-client-id': 'faults' };
    this.owner = clientFor(this.url, this.headers);
  }

  /** Declares the library of `films`; its first scan begins by itself. Its id. */
  async addLibrary(): Promise<string> {
    writeFileSync(this.#file, this.#server + library);
    const found = await eventually(async () => (await this.owner.listLibraries()).body[0], 2 * HEALING_MS);
    return found.id;
  }

  /** More lines of the server's spec, and more documents, from now on. */
  declare(spec: string, documents: string): void {
    writeFileSync(this.#file, this.#server + spec + documents);
  }

  get redisUrl(): string {
    const { ports, redisPassword } = JSON.parse(readFileSync(join(this.data, 'state.json'), 'utf8')) as StoredState;
    return redisUrl(ports.redis, redisPassword);
  }

  /** The owner's typed client. */
  client(more: Partial<ClientOptions> = {}): FoyerClient {
    const accessToken = this.headers['authorization']?.slice('Bearer '.length) ?? '';
    return createClient({ server: this.url, credential: session({ accessToken }), ...more });
  }

  pidOf(name: string): number {
    const text = readFileSync(join(this.data, 'run', 'children.json'), 'utf8');
    const children = JSON.parse(text) as { name: string; pid: number }[];
    return children.findLast((child) => child.name === name)?.pid ?? 0;
  }

  /** Ends one process and resolves, in ms, when another runs in its place and the operator reports that all is well. */
  async strike(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<number> {
    const began = Date.now();
    const before = this.pidOf(name);
    if (before === 0) throw new Error(`no ${name} runs`);
    process.kill(before, signal);
    const another = (): boolean => {
      const pid = this.pidOf(name);
      return pid !== 0 && pid !== before && identityOf(pid) !== undefined && identityOf(before) === undefined;
    };
    await this.#timed(`another ${name}`, eventually(another, HEALING_MS));
    await this.ready();
    return Date.now() - began;
  }

  /** Kills processes and keeps them from being started again until `work` has ended; resolves when all is well again. */
  async without<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    this.#operator?.kill('SIGSTOP');
    try {
      for (const name of names) process.kill(this.pidOf(name), 'SIGKILL');
      return await work();
    } finally {
      this.#operator?.kill('SIGCONT');
      await this.ready();
    }
  }

  /** Until `operator local status` reports so for the server. */
  async ready(): Promise<void> {
    const well = async (): Promise<boolean> => {
      const { status } = (await this.status()).find(({ kind }) => kind === 'MediaServer') ?? {};
      const conditions = (status?.conditions ?? []) as { type?: string; status?: string }[];
      const is = (type: string) => conditions.find((one) => one.type === type)?.status;
      return is('Ready') === 'True' && is('Degraded') === 'False' && status?.apiReady === `${this.apis}/${this.apis}`;
    };
    const looking = async () => (await well()) || (await sleep(300));
    await this.#timed('Ready', eventually(looking, HEALING_MS));
  }

  async #timed<T>(what: string, waiting: Promise<T>): Promise<T> {
    return waiting.catch(async (error: unknown) => {
      const status = JSON.stringify(await this.status(), null, 1);
      throw new Error(`${what}: ${String(error)}\n${this.#printed}\n${status}`);
    });
  }

  /** The resources as `operator local status` prints them. */
  async status(): Promise<Stored[]> {
    const args = [OPERATOR, 'local', 'status', '--data', this.data, '-o', 'json'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return (JSON.parse(stdout) as { items: Stored[] }).items;
  }

  /** The output of a process, for a failing test to show. */
  log(name: string): string {
    return readFileSync(join(this.data, 'logs', `${name}.log`), 'utf8');
  }

  async stop(): Promise<void> {
    const operator = this.#operator;
    if (operator && operator.exitCode === null && operator.signalCode === null) {
      operator.kill('SIGCONT');
      operator.kill('SIGTERM');
      await once(operator, 'exit');
    }
    if (this.#diskMegabytes) execFileSync('umount', ['--lazy', this.data]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A test's measurement, on the terminal that runs the slow tier. */
export function print(words: string): void {
  process.stdout.write(`    ${words}\n`);
}
