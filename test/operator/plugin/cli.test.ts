// kubectl-mediaserver as a person runs it: a process, a kubeconfig, and the side of an API server that it sees.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { bareEnvironment } from '#support/processes.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';

const KINDS = [
  ['/api/v1', 'Pod', 'pods'],
  ['/api/v1', 'Secret', 'secrets'],
  ['/api/v1', 'Event', 'events'],
  ['/api/v1', 'Service', 'services'],
  ['/api/v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'],
  ['/api/v1', 'Node', 'nodes'],
  ['/apis/apps/v1', 'Deployment', 'deployments'],
  ['/apis/apps/v1', 'StatefulSet', 'statefulsets'],
  ['/apis/batch/v1', 'Job', 'jobs'],
  ['/apis/networking.k8s.io/v1', 'Ingress', 'ingresses'],
  ['/apis/networking.k8s.io/v1', 'IngressClass', 'ingressclasses'],
  ['/apis/networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'],
  ['/apis/storage.k8s.io/v1', 'StorageClass', 'storageclasses'],
  ['/apis/apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions'],
  ['/apis/foyer.media/v1alpha1', 'MediaServer', 'mediaservers'],
  ['/apis/foyer.media/v1alpha1', 'Library', 'libraries'],
  ['/apis/foyer.media/v1alpha1', 'TunerDevice', 'tunerdevices'],
] as const;
const WIDE = ['Node', 'StorageClass', 'IngressClass', 'CustomResourceDefinition'];
const ADDRESS = 'http://provider/list?u=someone&p=canary-in-address';
const conditions = [{ type: 'Ready', status: 'True', reason: 'AllReady', message: '' }];
const THERE: Record<string, object[]> = {
  mediaservers: [
    { metadata: { name: 'home', generation: 1 }, spec: {}, status: { observedGeneration: 1, conditions } },
  ],
  tunerdevices: [
    {
      metadata: {
        name: 'tv',
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ url: ADDRESS }).replace('&', '\\u0026'),
        },
      },
      spec: { serverRef: { name: 'home' }, source: { m3u: { url: ADDRESS } } },
      status: { conditions },
    },
  ],
  customresourcedefinitions: ['mediaservers', 'libraries', 'tunerdevices'].map((plural) => ({
    metadata: { name: `${plural}.foyer.media` },
  })),
  pods: [{ metadata: { name: 'home-api-1' }, spec: { containers: [{ name: 'api' }] }, status: {} }],
};

interface Access {
  /** Plurals that may not be read. */
  denied?: readonly string[];
  token?: string;
  /** The definitions are not installed. */
  bare?: boolean;
}

async function apiServer({ denied = [], token, bare = false }: Access): Promise<string> {
  const kinds = KINDS.filter(([at]) => !(bare && at.includes('foyer')));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const send = (status: number, body: object): void =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    const refuse = (code: number, message: string): void => send(code, { kind: 'Status', code, message });
    const plural = pathname.split('/').at(pathname.endsWith('/log') ? -3 : -1) ?? '';
    if (token && request.headers.authorization !== `Bearer ${token}`) refuse(401, 'Unauthorized');
    else if (pathname === '/version') send(200, { gitVersion: 'v1.34.0' });
    else if (kinds.some(([at]) => at === pathname)) {
      const resources = kinds.filter(([at]) => at === pathname);
      send(200, { resources: resources.map(([, kind, name]) => ({ kind, name, namespaced: !WIDE.includes(kind) })) });
    } else if (denied.includes(pathname.endsWith('/log') ? 'log' : plural)) refuse(403, `${plural} is forbidden`);
    else if (pathname.endsWith('/log')) response.writeHead(200, { 'Content-Type': 'text/plain' }).end('line one\n');
    else send(THERE[plural] || kinds.some(([, , name]) => name === plural) ? 200 : 404, { items: THERE[plural] ?? [] });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As people have it: two contexts, of which one gets its token from a program. */
async function kubeconfig(access: Access): Promise<string> {
  const folder = temporaryFolder('kubeconfig');
  const program = join(folder, 'token');
  const answer = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'from-exec' },
  };
  writeFileSync(program, `#!/bin/sh\ntest -n "$KUBERNETES_EXEC_INFO" || exit 7\necho '${JSON.stringify(answer)}'\n`);
  chmodSync(program, 0o755);
  const exec = { apiVersion: answer.apiVersion, command: program, args: [], env: null, interactiveMode: 'IfAvailable' };
  const config = {
    'current-context': 'plain',
    clusters: [{ name: 'c', cluster: { server: await apiServer(access), 'insecure-skip-tls-verify': true } }],
    users: [
      { name: 'static', user: { token: 'static' } },
      { name: 'exec', user: { exec } },
      { name: 'broken', user: { exec: { ...exec, command: '/nowhere/program' } } },
    ],
    contexts: [
      { name: 'plain', context: { cluster: 'c', user: 'static', namespace: 'media' } },
      { name: 'exec', context: { cluster: 'c', user: 'exec', namespace: 'media' } },
      { name: 'broken', context: { cluster: 'c', user: 'broken', namespace: 'media' } },
    ],
  };
  const path = join(folder, 'config');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const PROGRAM = join(import.meta.dirname, '../../../operator/plugin/kubectl-mediaserver');

async function runPlugin(config: string | undefined, ...words: string[]) {
  const link = join(temporaryFolder('bin'), 'kubectl-mediaserver');
  symlinkSync(PROGRAM, link);
  const env = { ...bareEnvironment(), HOME: '/nonexistent', ...(config && { KUBECONFIG: config }) };
  const child = spawn(link, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (part: Buffer) => (out += part.toString()));
  child.stderr.on('data', (part: Buffer) => (err += part.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

describe('kubectl-mediaserver with a kubeconfig', function () {
  this.timeout(60_000);

  it('works with the context in use, and with one whose token a program makes', async () => {
    expect((await runPlugin(await kubeconfig({ token: 'static' }), 'status')).out).to.match(/^home +True/m);
    const config = await kubeconfig({ token: 'from-exec' });
    expect(await runPlugin(config, '--context', 'exec', 'status')).to.include({ code: 0, err: '' });
  });

  it('reports in a line the fault of the kubeconfig, or of the server that it names', async () => {
    const config = await kubeconfig({ token: 'another' });
    const refused: [string | undefined, string[], RegExp][] = [
      [undefined, ['status'], /^no cluster: set KUBECONFIG or --kubeconfig\n$/],
      [config, ['--context', 'work', 'status'], /^no context work in the kubeconfig\n$/],
      [config, ['status'], /^the cluster refuses: 401 Unauthorized\n$/],
      [config, ['--context', 'broken', 'status'], /^the cluster is not reachable: .*\/nowhere\/program.*\n$/],
      [await kubeconfig({ bare: true }), ['status'], /^the cluster does not know MediaServer: kubectl apply .*\n$/],
    ];
    for (const [given, words, expected] of refused) {
      const { code, err, out } = await runPlugin(given, ...words);
      expect(err, words.join(' ')).to.match(expected);
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    }
  });

  it('never takes unreadable objects for missing ones', async () => {
    const words = async (denied: string[], ...args: string[]) => runPlugin(await kubeconfig({ denied }), ...args);
    const inMedia = (what: string) => ({ code: 1, err: `you may not ${what} in namespace media\n` });
    expect(await words(['libraries'], 'status')).to.include(inMedia('list Library'));
    expect(await words(['mediaservers'], 'open')).to.include(inMedia('list MediaServer'));
    expect(await words(['pods'], 'logs')).to.include(inMedia('list Pod'));
    expect(await words(['pods'], 'open')).to.include(inMedia('list Pod'));
    expect(await words(['log'], 'logs')).to.include(inMedia('read logs of pods'));
    expect(await words(['log'], 'logs', '-f')).to.include(inMedia('read logs of pods'));
    const { out, code } = await words(['libraries', 'nodes'], 'doctor');
    expect(out).to.match(
      /^warning {2}rights: you may not list Library in namespace media, nor list Node of the whole/m,
    );
    expect(code, 'no fault was found').to.equal(0);
  });

  it('prints the logs of each pod', async () => {
    expect((await runPlugin(await kubeconfig({}), 'logs')).out).to.equal('home-api-1 line one\n');
  });

  it('bundles readable objects, without the secrets in addresses, and lists those it could not clean', async () => {
    const file = join(temporaryFolder('bundle'), 'b.tar.gz');
    const text = () => gunzipSync(readFileSync(file)).toString('latin1');
    expect(await runPlugin(await kubeconfig({}), 'support-bundle', '-o', file)).to.include({ code: 0, err: '' });
    expect(text()).to.include('http://provider/list[secret]').and.not.include('canary');
    const { code, err } = await runPlugin(await kubeconfig({ denied: ['secrets'] }), 'support-bundle', '-o', file);
    expect(code).to.equal(0);
    expect(err).to.include('you may not list Secret').and.include('are not redacted');
    expect(text()).to.include('are not redacted').and.not.include('canary');
  });
});
