// The operator as a process of its own, as its image has it, with the rights of its manifests and no others.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { atEndOfRun, temporaryFolder } from '#support/stores.ts';
import { FLAGS } from '../../../hack/manifests/operator.ts';
import { leaseRules, rules } from '../../../hack/manifests/rules.ts';
import type { Cluster } from './cluster.ts';

const ACCOUNT = 'foyer-operator';
const RBAC = 'rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';

/** Its ServiceAccount, bound to the permissions of the manifests in its own namespace. */
export function accountFor(namespace: string): object[] {
  const metadata = { name: ACCOUNT, namespace };
  const subjects = [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: RBAC, kind: 'Role', metadata, rules: [...rules, ...leaseRules] },
    { apiVersion: RBAC, kind: 'RoleBinding', metadata, roleRef: { apiGroup, kind: 'Role', name: ACCOUNT }, subjects },
  ];
}

/** As the audit log names the operator of a namespace. */
export const operatorOf = (namespace: string): RegExp => new RegExp(`^system:serviceaccount:${namespace}:${ACCOUNT}$`);

export interface Started {
  leaderElect?: boolean;
  /** FOYER_CRASH_AFTER_WRITES. */
  crashAfterWrites?: number;
  /** The administrator instead, where the audit log must distinguish two operators of one namespace. */
  asAdmin?: boolean;
  /** Of another way to the API server. */
  kubeconfig?: string;
}

export interface Addresses {
  api: string;
  metrics: string;
  tuner: string;
}

export interface LogLine {
  level: string;
  msg: string;
  message?: string;
  stack?: string;
  controller?: string;
  key?: string;
  time: string;
  /** Its port, in the line that reports that it runs. */
  metrics?: number;
}

const kubeconfigs = new Map<string, Promise<string>>();

/** A kubeconfig with a token of that account, good for two hours. */
export async function kubeconfigFor({ kubectl, kubeconfig }: Cluster, namespace: string): Promise<string> {
  const token = (await kubectl.run(['create', 'token', ACCOUNT, '-n', namespace, '--duration=2h'])).trim();
  const admin = parse(readFileSync(kubeconfig, 'utf8')) as { users: object[]; contexts: object[] };
  const users = [{ name: ACCOUNT, user: { token } }];
  const [first] = admin.contexts as { name: string; context: object }[];
  const contexts = [{ ...first, context: { ...first?.context, user: ACCOUNT, namespace } }];
  const file = join(temporaryFolder('operator', atEndOfRun), 'kubeconfig');
  writeFileSync(file, stringify({ ...admin, users, contexts }), { mode: 0o600 });
  return file;
}

let bundling: Promise<string> | undefined;

/** Its program, bundled once a run: it starts in a third of the time. */
function bundled(): Promise<string> {
  bundling ??= (async () => {
    const into = temporaryFolder('bundle', atEndOfRun);
    await promisify(execFile)(process.execPath, ['hack/bundle.ts', into, 'operator']);
    return join(into, 'operator/bundle/main.js');
  })();
  return bundling;
}

/** None outlives the tests, however they end. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly lines: LogLine[] = [];
  readonly #exited: Promise<unknown>;
  #errors = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    running.add(child);
    this.#exited = once(child, 'close').finally(() => running.delete(child));
    if (child.stdout) createInterface(child.stdout).on('line', (line) => this.#take(line));
    child.stderr?.on('data', (part: Buffer) => {
      this.#errors += part.toString();
    });
  }

  static async start(
    cluster: Cluster,
    namespace: string,
    { addresses, ...how }: Started & { addresses: Addresses },
  ): Promise<OperatorProcess> {
    const made = kubeconfigs.get(namespace) ?? kubeconfigFor(cluster, namespace);
    kubeconfigs.set(namespace, made);
    const kubeconfig = how.kubeconfig ?? (how.asAdmin ? cluster.kubeconfig : await made);
    const { api, metrics, tuner } = addresses;
    const where = ['--namespace', namespace, '--lease-namespace', namespace, '--kubeconfig', kubeconfig];
    const talks = ['--api-url', api, '--server-metrics-url', metrics, '--tuner-url', tuner];
    const ports = ['--host', '127.0.0.1', '--health-port', '0', '--metrics-port', '0'];
    const elects = how.leaderElect ? ['--leader-elect'] : [];
    const crash = how.crashAfterWrites ? { FOYER_CRASH_AFTER_WRITES: String(how.crashAfterWrites) } : {};
    const images = { FOYER_IMAGE: 'foyer:1.0.0', FOYER_LOG_LEVEL: 'info' };
    const program = [...FLAGS, await bundled(), 'cluster'];
    const child = spawn(process.execPath, [...program, ...where, ...talks, ...ports, ...elects], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...images, ...crash },
    });
    return new OperatorProcess(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Lines worse than a warning, and warnings of faults of our own. */
  get alarms(): string[] {
    const bad = this.lines.filter(({ level, stack }) => ['error', 'fatal'].includes(level) || stack !== undefined);
    const texts = bad.map((line) => JSON.stringify(line));
    return this.#errors ? [...texts, this.#errors] : texts;
  }

  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  /** Exit status, or the signal that ended it. */
  async exited(): Promise<number | string> {
    if (this.alive) await this.#exited;
    return this.#child.signalCode ?? this.#child.exitCode ?? -1;
  }

  async stop(): Promise<number | string> {
    if (this.alive) this.signal('SIGTERM');
    return this.exited();
  }

  async kill(): Promise<void> {
    if (!this.alive) return;
    this.signal('SIGKILL');
    await this.exited();
  }

  #take(line: string): void {
    try {
      this.lines.push(JSON.parse(line) as LogLine);
    } catch {
      this.#errors += `${line}\n`;
    }
  }
}
