// Who reaches whom under the policies of a server: pods that carry the labels of every part listen on every port that
// any part has, and each calls all of them. The cluster enforces (hack/kube/policies.ts); the permitted connections are
// listed here, by hand.
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { TunerDeviceSpec } from '#operator/schemas/tuner-device.ts';
import { tunerObjects } from '#operator/tuner-device/desired.ts';
import { managed, running } from '../operator/media-server/specs.ts';
import { images as defaults } from '../operator/media-server/support.ts';
import { images, node, UP_MS } from './support/cluster.ts';
import type { Kubectl } from './support/kubectl.ts';
import { pod } from './support/pods.ts';
import { until } from './support/until.ts';

const PORTS = {
  ...{ api: 8080, metrics: 9090, postgres: 5432, redis: 6379, objects: 9000, tuner: 8081, parser: 8082 },
  other: 9999,
};
/** Pods that run the product's code, and so connect to the stores. */
const CLIENTS = ['api', 'workers', 'transcode', 'subtitles', 'migrate', 'recovery', 'tuner'];
const STORES = ['postgres', 'redis', 'objects'];
const PARTS = [...CLIENTS, ...STORES, 'parser'];
/**
 * In addition: the operator, a pod of another server, and two foreign pods, one in the namespace and one in the local
 * network.
 */
const OTHERS = ['operator', 'neighbour', 'stranger', 'house'];
const EVERYBODY = [...PARTS, ...OTHERS];
/** As hack/kube/net-up.sh has it: of no private range. */
const INTERNET = '203.0.113.1:6443';

const partOf = (name: string, server = 'home'): Record<string, string> => ({
  'app.kubernetes.io/name': 'foyer',
  'app.kubernetes.io/instance': server,
  'app.kubernetes.io/component': name,
});

const LABELS: Record<string, Record<string, string>> = {
  ...Object.fromEntries(PARTS.map((name) => [name, partOf(name)])),
  tuner: { ...partOf('tuner'), 'foyer.media/tuner': 'aerial' },
  operator: { 'app.kubernetes.io/name': 'foyer-operator' },
  neighbour: partOf('workers', 'other'),
  stranger: {},
  house: {},
};

/** `FROM > TO:PORT` of all that is to get through, for the pods of {@link EVERYBODY}; every one reaches itself. */
function wanted(): string[] {
  const lines: string[] = [];
  const open = (from: readonly string[], to: readonly string[], port: keyof typeof PORTS): void => {
    for (const one of from) for (const other of to) if (one !== other) lines.push(`${one} > ${other}:${port}`);
  };
  const everyPort = Object.keys(PORTS) as (keyof typeof PORTS)[];
  const free = OTHERS; // no policy of the server selects them
  open(free, ['api'], 'api');
  open(['operator'], [...CLIENTS, 'parser'], 'metrics');
  open(['api', 'workers'], ['parser'], 'parser');
  open(['operator'], ['tuner', 'subtitles'], 'tuner'); // their status pages
  for (const store of STORES) open(CLIENTS, [store], store as keyof typeof PORTS);
  for (const port of everyPort) {
    open(free, free, port);
    open(['api', 'workers', 'tuner'], ['house'], port); // spec.network.allow
  }
  return lines.sort();
}

const LISTEN = `for (const port of [${Object.values(PORTS).join(', ')}])
  require('node:net').createServer((socket) => socket.on('error', () => undefined).end()).listen(port)`;
/** Of addresses with ports on standard input those that a connection is made to within four seconds. */
const CALL = `const net = require('node:net');
let text = '';
process.stdin.on('data', (part) => { text += part; }).on('end', () => {
  let left = text.trim().split(' ').length;
  for (const address of text.trim().split(' ')) {
    const [host, port] = address.split(':');
    const socket = net.connect({ host, port });
    socket.on('connect', () => { console.log(address); socket.destroy(); }).on('error', () => undefined);
    socket.on('close', () => { left -= 1; if (left === 0) process.exit(); });
  }
  setTimeout(() => process.exit(), 4000);
});`;

describe('network policies', function () {
  this.timeout(180_000);
  let kubectl: Kubectl;
  let namespace = '';
  let outside = '';
  let image = '';
  /** Of pods by name. */
  const addresses = new Map<string, string>();

  const homeOf = (name: string): string => (name === 'operator' || name === 'house' ? outside : namespace);

  before(async function () {
    this.timeout(UP_MS);
    ({ kubectl } = await node());
    [image = ''] = await images('product');
    namespace = await kubectl.namespace('policies');
    outside = await kubectl.namespace('policies-outside');
    const listening = EVERYBODY.map((name) => {
      const made = pod({ name, namespace: homeOf(name), image, args: ['-e', LISTEN] }) as KubeObject;
      return { ...made, metadata: { ...made.metadata, labels: { ...LABELS[name], 'policy-test': 'listens' } } };
    });
    await kubectl.apply(...listening);
    for (const place of [namespace, outside])
      await kubectl.run(['wait', 'pod', '-l', 'policy-test', '-n', place, '--for=condition=Ready', '--timeout=120s']);
    for (const place of [namespace, outside])
      for (const { metadata, status } of await kubectl.list<KubeObject>('pods', place))
        addresses.set(metadata.name, (status as { podIP: string }).podIP);
  });
  after(async () => {
    for (const place of [namespace, outside]) await kubectl.deleteNamespace(place);
  });

  /** The addresses of these that a pod gets through to. */
  async function reached(from: string, to: readonly string[]): Promise<string[]> {
    const words = ['exec', '-i', from, '-n', homeOf(from), '--', 'node', '-e', CALL];
    return (await kubectl.run(words, to.join(' '))).trim().split('\n').filter(Boolean);
  }

  async function connections(): Promise<string[]> {
    const names = new Map([...addresses].map(([name, address]) => [address, name]));
    const ports = new Map(Object.entries(PORTS).map(([name, port]) => [String(port), name]));
    const of = async (from: string): Promise<string[]> => {
      const others = EVERYBODY.filter((name) => name !== from).map((name) => addresses.get(name) ?? '');
      const lines = await reached(
        from,
        others.flatMap((address) => Object.values(PORTS).map((port) => `${address}:${port}`)),
      );
      return lines.map((line) => {
        const [address = '', port = ''] = line.split(':');
        return `${from} > ${names.get(address)}:${ports.get(port)}`;
      });
    };
    return (await Promise.all(EVERYBODY.map(of))).flat().sort();
  }

  const addressOf = async (name: string, of: string): Promise<string> =>
    kubectl.run(['get', 'service', name, '-n', of, '-o', 'jsonpath={.spec.clusterIP}']);

  /** As the controllers make them, with the house opened. */
  async function policies(): Promise<KubeObject[]> {
    const range = `${addresses.get('house')}/32`;
    const spec = { ...managed, subtitles: {}, network: { allow: { webhooks: [range], live: [range] } } };
    const made = await running(spec);
    const tuner = tunerObjects({
      name: 'aerial',
      namespace,
      spec: TunerDeviceSpec.parse({ serverRef: { name: 'home' }, source: { hdhomerun: { address: 'hdhr.lan' } } }),
      server: { name: 'home', spec: MediaServerSpec.parse(spec) },
      images: defaults,
      secrets: new Map(),
      oneNode: new Set(),
    });
    const all = [...made.kube.list('NetworkPolicy', 'media'), ...tuner.filter(({ kind }) => kind === 'NetworkPolicy')];
    return all.map(({ apiVersion, kind, metadata: { name }, spec: its }) => {
      return { apiVersion, kind, metadata: { name, namespace }, spec: its };
    });
  }

  it('block connections: without them everything reaches everything', async () => {
    const all = EVERYBODY.length * (EVERYBODY.length - 1) * Object.keys(PORTS).length;
    expect((await connections()).length).to.equal(all);
  });

  it('permit the connections that the parts of a server need, and no others', async () => {
    await kubectl.apply(...(await policies()));
    const forbidden = `${addresses.get('stranger')}:${PORTS.other}`;
    await until('the policies in force', async () => (await reached('redis', [forbidden])).length === 0);
    expect(await connections()).to.deep.equal(wanted());
  });

  it('lead to name servers from all but the parser, to the internet from those that have business there, and never to the API server', async () => {
    const dns = await addressOf('kube-dns', 'kube-system');
    const server = await addressOf('kubernetes', 'default');
    const to = { dns: `${dns}:53`, internet: INTERNET, 'API server': `${server}:443` };
    const found = await Promise.all(
      PARTS.map(async (from) => {
        const through = await reached(from, Object.values(to));
        return [from, ...Object.keys(to).filter((name) => through.includes(to[name as keyof typeof to]))];
      }),
    );
    const business = ['api', 'workers', 'tuner'];
    const expected = PARTS.map((name) => [
      name,
      ...(name === 'parser' ? [] : ['dns']),
      ...(business.includes(name) ? ['internet'] : []),
    ]);
    expect(found).to.deep.equal(expected);
    expect(await reached('stranger', Object.values(to))).to.have.members(Object.values(to));
  });
});
