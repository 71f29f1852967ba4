// Addresses and paths that reach what no storage may reach, in every input of storages and drives.
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { insideOf, LOOPBACK, type RemotePlace, remotePlaces } from '#support/remote-places.ts';
import { OWN_NAMES, spellingsOf, traversals } from '#support/spellings.ts';
import { atEnd } from '#support/stores.ts';
import { parsedSettings } from '../../../api/areas/storage/places.ts';
import { openReader } from '../../../api/areas/storage/readers/open.ts';

const CLOSED = ['127.0.0.1', '127.0.0.2', '127.255.255.254', '0.0.0.0', '169.254.169.254', '10.96.0.1'];
const HOSTS = [...CLOSED.flatMap(spellingsOf), ...OWN_NAMES];
/** Addresses that storages of admins may have, and drives of members may not. */
const PRIVATE = ['10.1.2.3', '192.168.1.2', '172.16.5.4', '100.64.0.1'].flatMap(spellingsOf);
const TOGETHER = 8;

async function each<T>(all: readonly T[], look: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += TOGETHER) await Promise.all(all.slice(at, at + TOGETHER).map(look));
}

/** A server on this machine that counts its connections. */
async function canary(host: string): Promise<{ port: number; reached: () => number }> {
  let reached = 0;
  const server: Server = createServer((socket) => {
    reached += 1;
    socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ncanary');
  }).listen(0, host);
  await new Promise((done) => server.once('listening', done));
  atEnd(() => server.close());
  return { port: (server.address() as { port: number }).port, reached: () => reached };
}

/** Names without an address are judged when they have one; a storage that is tried first is not made. */
const isUnknown = (host: string, status: number): boolean =>
  (/^[\d.]+\.$/.test(host) || host === 'ip6-localhost') && [201, 200, 409].includes(status);

/** A test of a storage is answered with its steps. */
const isRefusedTest = (name: string, body: unknown): boolean =>
  name === 'test' && (body as { ok?: boolean }).ok === false;

const settingsFor = (host: string, port: number): [kind: string, settings: object, secrets: object][] => {
  const secrets = { password: 'canary-pass' };
  return [
    [
      's3',
      { endpoint: `http://${host}:${port}`, bucket: 'films', accessKeyId: 'a' },
      { secretAccessKey: 'canary-pass' },
    ],
    ['webdav', { url: `http://${host}:${port}/dav`, username: 'a' }, secrets],
    ['sftp', { host, port, username: 'a' }, secrets],
    ['sftp', { host: host.replace(/^\[|\]$/g, ''), port, username: 'a' }, secrets],
  ];
};

describe('hostile addresses', function () {
  this.timeout(600_000);
  let api: Api;
  let admin: TestClient;

  before(async () => {
    const networks = { FOYER_CLUSTER_NETWORKS: '["10.96.0.0/12"]', KUBERNETES_SERVICE_HOST: '10.96.0.1' };
    api = await startApi(networks);
    admin = api.as(await api.given.owner());
  });

  it(`of ${HOSTS.length} spellings reach no canary by any kind of storage or drive`, async () => {
    expect(HOSTS.length).to.be.at.least(220);
    const { port, reached } = await canary('::'); // all addresses of this machine
    const wrong: string[] = [];
    for (const host of HOSTS) {
      for (const [kind, settings, secrets] of settingsFor(host, port)) {
        await api.deps.redis.flushdb(); // more than three drives a minute
        const body = { kind, settings, secrets } as never as { kind: 's3'; settings: object; secrets: object };
        const answers = {
          create: await admin.createStorage({ body: { ...body, name: newId() } }),
          unchecked: await admin.createStorage({ body: { ...body, name: newId(), check: false } }),
          test: await admin.testStorage({ body }),
          connect: await admin.connectDrive({ body: { ...body, name: newId() } }),
        };
        const others = Object.entries(answers).filter(
          ([name, { status, body: text }]) => status !== 400 && !isRefusedTest(name, text) && !isUnknown(host, status),
        );
        for (const [name, { status, body: text }] of others)
          wrong.push(`${name} ${kind} ${host}: ${status} ${JSON.stringify(text).slice(0, 150)}`);
      }
    }
    expect(reached()).to.equal(0);
    expect(wrong.join('\n')).to.equal('');
  });

  it('of private networks are for no drive of a member', async () => {
    const member = api.as(await api.given.member());
    const wrong: string[] = [];
    for (const host of PRIVATE)
      for (const [kind, settings, secrets] of settingsFor(host, 9)) {
        await api.deps.redis.flushdb();
        const body = { kind, settings, secrets, name: newId() } as never;
        const { status } = await member.connectDrive({ body });
        if (status !== 400 && status !== 403) wrong.push(`${kind} ${host}: ${status}`);
      }
    expect(wrong.join('\n')).to.equal('');
  });

  it('are not reached by redirects, nor by names that change their address', async () => {
    const { port, reached } = await canary('127.0.0.2');
    const targets = [...spellingsOf('127.0.0.2'), 'changing.example'];
    let at = 0;
    const server = createHttpServer((_request, response) => {
      response
        .writeHead([301, 302, 307, 308][at % 4] ?? 307, {
          location: Buffer.from(`http://${targets[at]}:${port}/dav`).toString('latin1'),
        })
        .end();
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    atEnd(() => server.close());
    const own = (server.address() as { port: number }).port;
    let looked = 0;
    const lookup = async () => {
      looked += 1;
      return [{ address: looked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 as const }];
    };
    const networks = { mediaRoots: [], clusterNetworks: [], apiServerNetworks: [], storageNetworks: ['127.0.0.1/32'] };
    const list = async (url: string): Promise<string> => {
      const settings = parsedSettings('webdav', { url, insecureTls: true });
      const reader = openReader({ config: networks, lookup }, { kind: 'webdav', settings, secrets: {} });
      const outcome = await reader.list('', { most: 1 }).then(
        () => 'listed',
        (error: Error) => error.message,
      );
      await reader.close();
      return outcome;
    };
    for (at = 0; at < targets.length; at += 1)
      expect(await list(`http://127.0.0.1:${own}/dav`), targets[at]).to.not.equal('listed');
    looked = 0;
    for (let time = 0; time < 3; time += 1)
      expect(await list(`http://changing.example:${own}/dav`)).to.not.equal('listed');
    expect(looked).to.be.at.least(3);
    expect(reached()).to.equal(0);
  });
});

for (const [kind, start] of Object.entries(remotePlaces))
  describe(`hostile paths on ${kind}`, function () {
    this.timeout(600_000);

    it(`of ${traversals.length} spellings show nothing outside of the folder`, async () => {
      expect(traversals.length).to.be.at.least(160);
      const there: RemotePlace = await start();
      for (const name of ['canary.txt', 'secret/canary.txt', 'inside/films/a.mkv'])
        await there.put(name, Buffer.from('canary'));
      const api = await startApi(LOOPBACK);
      const admin = api.as(await api.given.owner());
      const inside = insideOf(there, 'inside');
      const body = { kind, name: kind, settings: inside, secrets: there.secrets } as never;
      const { status, body: made } = await admin.createStorage({ body });
      expect(status, JSON.stringify(made)).to.equal(201);
      const wrong: string[] = [];
      await each(traversals, async (path) => {
        const listed = await admin.listStorageEntries({ params: { id: made.id }, query: { path, kind: 'any' } });
        const text = JSON.stringify(listed.body);
        const isRoot = path === '' || /^\/+$/.test(path);
        if (![400, 404].includes(listed.status) || (!isRoot && text.includes('"canary')))
          wrong.push(`list ${JSON.stringify(path)}: ${listed.status} ${text.slice(0, 200)}`);
        const folders = [{ storageId: made.id, path }];
        const library = await admin.createLibrary({ body: { name: newId(), type: 'movies', folders } });
        if (library.status < 400) wrong.push(`library ${JSON.stringify(path)}: ${library.status}`);
        const moved = await admin.createStorage({
          body: { kind, name: newId(), settings: insideOf(there, `inside/${path}`), secrets: there.secrets } as never,
        });
        if (moved.status < 400) wrong.push(`storage at ${JSON.stringify(path)}: ${moved.status}`);
      });
      expect(wrong.join('\n')).to.equal('');
    });
  });
