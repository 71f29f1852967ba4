import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { atEnd } from '#support/stores.ts';

const run = promisify(execFile);
const root = new URL('../../', import.meta.url).pathname;

const HEAD = [
  `import { defined } from '#operator/media-server/desired/meta.ts';`,
  `import type { IngressRule, Manifest, PodSpec } from '#operator/runtime/manifest.ts';`,
  `const metadata = { name: 'a' };`,
  'const selector = { matchLabels: {} };',
  `const template = { spec: { containers: [{ name: 'a' }] } };`,
  'export const all: unknown[] = [];',
];

const deployment = (spec: string, head = `apiVersion: 'apps/v1', kind: 'Deployment'`): string =>
  `all.push({ ${head}, metadata, spec: ${spec} } satisfies Manifest)`;
const container = (text: string): string =>
  deployment(`{ selector, template: { spec: { containers: [{ name: 'a', ${text} }] } } }`);

/** Statements that compile. */
const accepted = {
  'a Deployment': deployment('{ replicas: 1, selector, template }'),
  'an undefined member': deployment('{ replicas: undefined, selector, template }'),
  'the same below defined': deployment('defined({ replicas: undefined, selector, template })'),
  'a quantity as a number': container('resources: { limits: { cpu: 1, memory: "1Gi" } }'),
  'a port by name or number': container('ports: [{ containerPort: 1 }], livenessProbe: { tcpSocket: { port: "a" } }'),
  'a timestamp as text': `all.push({ apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, creationTimestamp: '2026-01-01T00:00:00Z' } } satisfies Manifest)`,
  'from of an ingress rule': 'all.push({ from: [{ podSelector: {} }] } satisfies IngressRule)',
  'an HTTPRoute': `all.push({ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata, spec: { parentRefs: [], rules: [] } } satisfies Manifest)`,
};

/** Statements that do not compile, by the mistake in them. */
const refused = {
  'a kind': deployment('{ selector, template }', `apiVersion: 'apps/v1', kind: 'Deploymnt'`),
  'an apiVersion': deployment('{ selector, template }', `apiVersion: 'v1', kind: 'Deployment'`),
  'no apiVersion': deployment('{ selector, template }', `kind: 'Deployment'`),
  'a field': deployment('{ replcas: 1, selector, template }'),
  'a field below defined': deployment('defined({ replcas: 1, selector, template })'),
  'a missing field': deployment('{ template }'),
  'a value': deployment('{ replicas: "1", selector, template }'),
  'a nested field': container('imag: "a"'),
  'a nested value': container('ports: [{ containerPort: "80" }]'),
  'a deeply nested field': container('env: [{ name: "a", valueFrom: { secretKeyRef: { nam: "a", key: "b" } } }]'),
  'a field of another kind': `all.push({ apiVersion: 'v1', kind: 'Secret', metadata, spec: {} } satisfies Manifest)`,
  'a field of metadata': `all.push({ apiVersion: 'v1', kind: 'Secret', metadata: { nme: 'a' } } satisfies Manifest)`,
  'a status': `all.push({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, status: {} } satisfies Manifest)`,
  "the library's own spelling": 'all.push({ _from: [] } satisfies IngressRule)',
  'a Date': `all.push({ apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, creationTimestamp: new Date() } } satisfies Manifest)`,
  'an untyped object': 'all.push({ containers: [{} as object] } satisfies PodSpec)',
  'an untyped record': 'all.push({ containers: [{} as Record<string, unknown>] } satisfies PodSpec)',
};

/** Which of the statements the compiler refuses. */
async function refusedOf(statements: Readonly<Record<string, string>>): Promise<string[]> {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache', 'probe-')); // below the root: imports such as #operator are resolved from it
  atEnd(() => rmSync(folder, { recursive: true }));
  const lines = Object.values(statements).map((line) => `${line};`);
  writeFileSync(join(folder, 'probe.ts'), [...HEAD, ...lines, ''].join('\n'));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', include: ['probe.ts'] }),
  );
  const options = ['-p', folder, '--incremental', 'false', '--tsBuildInfoFile', 'null'];
  const { stdout } = await run('tsc', options).catch((error: { stdout: string }) => error);
  const found = new Set([...stdout.matchAll(/probe\.ts\((\d+),/g)].map(([, line]) => Number(line) - HEAD.length - 1));
  return Object.keys(statements).filter((_, index) => found.has(index));
}

describe('typed manifests', () => {
  it('refuse a kind, apiVersion or field that Kubernetes does not have', async function () {
    this.timeout(120_000);
    expect(await refusedOf({ ...accepted, ...refused })).to.deep.equal(Object.keys(refused));
  });
});
