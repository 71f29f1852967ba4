import { spawn } from 'node:child_process';
import { until } from './until.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
}
interface Named {
  kind: string;
  name: string;
  namespace?: string;
}

const inside = (namespace: string | undefined) => (namespace ? ['-n', namespace] : []);
let made = 0;

export class Kubectl {
  private readonly program: string;
  private readonly kubeconfig: string;

  constructor(program: string, kubeconfig: string) {
    this.program = program;
    this.kubeconfig = kubeconfig;
  }

  /** kubectl with these words and this standard input; a fault is an answer too. */
  attempt(words: readonly string[], input?: string | Buffer): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.program, ['--kubeconfig', this.kubeconfig, ...words]);
      const [out, err]: [Buffer[], Buffer[]] = [[], []];
      child.stdout.on('data', (part: Buffer) => out.push(part));
      child.stderr.on('data', (part: Buffer) => err.push(part));
      child.on('error', reject);
      child.on('close', (code) =>
        resolve({ code: code ?? -1, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }),
      );
      child.stdin.on('error', () => undefined); // it may end before it has read all
      child.stdin.end(input);
    });
  }

  /** Its output; throws its errors when it failed. */
  async run(words: readonly string[], input?: string | Buffer): Promise<string> {
    const { code, out, err } = await this.attempt(words, input);
    if (code !== 0) throw new Error(`kubectl ${words.join(' ')}: ${err.trim() || out.trim() || `status ${code}`}`);
    return out;
  }

  /** Server-side apply of objects as JSON, as another manager than the operator's. */
  apply(...objects: readonly object[]): Promise<string> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    return this.run(['apply', '--server-side', '--field-manager=test', '-f', '-'], list);
  }

  /** The object, or undefined. */
  async find<T = Record<string, unknown>>({ kind, name, namespace }: Named): Promise<T | undefined> {
    const text = await this.run(['get', kind, name, ...inside(namespace), '--ignore-not-found', '-o', 'json']);
    return text ? (JSON.parse(text) as T) : undefined;
  }

  /** The objects of a kind in a namespace, or in all of them. */
  async list<T = Record<string, unknown>>(kind: string, namespace?: string, selector?: string): Promise<T[]> {
    const where = namespace ? inside(namespace) : ['-A'];
    const words = ['get', kind, ...where, ...(selector ? ['-l', selector] : []), '-o', 'json'];
    return (JSON.parse(await this.run(words)) as { items: T[] }).items;
  }

  /** A merge patch of an object, or of its status. */
  patch({ kind, name, namespace }: Named, change: object, status = false): Promise<string> {
    const words = ['patch', kind, name, ...inside(namespace), '--type=merge', '-p', JSON.stringify(change)];
    return this.run(status ? [...words, '--subresource=status'] : words);
  }

  /** `kubectl wait --for=CONDITION`. */
  wait({ kind, name, namespace }: Named, condition: string, seconds = 60): Promise<string> {
    const words = ['wait', `${kind}/${name}`, ...inside(namespace), `--for=${condition}`, `--timeout=${seconds}s`];
    return this.run(words);
  }

  /** A namespace of its own, that holds pods to the Pod Security standard `restricted`. The caller deletes it, or the cluster goes. */
  async namespace(prefix: string): Promise<string> {
    made += 1;
    const name = `${prefix}-${process.pid}-${made}`;
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await this.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    return name;
  }

  /** Returns before all of it is gone. */
  async deleteNamespace(name: string): Promise<void> {
    await this.run(['delete', 'namespace', name, '--wait=false', '--ignore-not-found']);
  }

  /** The definitions of the three kinds, taken by the API server. */
  async installKinds(): Promise<void> {
    await this.run(['apply', '--server-side', '--force-conflicts', '-k', 'crds']);
    const names = ['mediaservers', 'libraries', 'tunerdevices'].map((plural) => `crd/${plural}.foyer.media`);
    // `kubectl wait` takes a definition that has no conditions yet for a fault.
    await until('the definitions', () => this.run(['wait', '--for=condition=Established', '--timeout=30s', ...names]));
  }
}
