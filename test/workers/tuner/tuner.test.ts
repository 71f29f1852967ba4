import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { createLog } from '#platform/log.ts';
import { createOutbound, type OutboundSetting } from '#platform/outbound.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { readTunerConfig } from '#workers/tuner/config.ts';
import { TunerDevice } from '#workers/tuner/device.ts';
import { findDevice, packet, readReply } from '#workers/tuner/discovery.ts';
import { globMatcher } from '#workers/tuner/glob.ts';
import { chosen } from '#workers/tuner/lineup.ts';
import { LONGEST_LINE, NotAPlaylist, readPlaylist } from '#workers/tuner/m3u.ts';
import { sourceOf } from '#workers/tuner/source.ts';

const root = join(import.meta.dirname, '../../..');

/** A box in the home with HTTP on a port of its own. */
async function box(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const LINEUP = [
  { GuideNumber: '1.1', GuideName: 'Erstes', URL: 'http://127.0.0.1/auto/v1.1', HD: 1 },
  { GuideNumber: '2', GuideName: 'Zweites/HD', URL: 'http://127.0.0.1/auto/v2' },
  { GuideNumber: '3', GuideName: 'Locked', URL: 'http://127.0.0.1/auto/v3', DRM: 1 },
];

const hdhomerun = (): Promise<string> =>
  box((request, response) => {
    const pages: Record<string, unknown> = {
      '/discover.json': { DeviceID: '10AA5474', ModelNumber: 'HDHR5', FirmwareVersion: '2025', TunerCount: 2 },
      '/lineup.json': LINEUP,
      '/status.json': [{ Resource: 'tuner0', VctNumber: '2', TargetIP: '192.168.1.4' }, { Resource: 'tuner1' }],
    };
    const page = pages[request.url ?? ''];
    response.writeHead(page ? 200 : 404).end(JSON.stringify(page ?? {}));
  });

interface Running {
  process: ChildProcess;
  get: (path: string) => Promise<Record<string, unknown>>;
}

/** The tuner's process, as a pod runs it. */
async function tuner(spec: object, env: Record<string, string> = {}): Promise<Running> {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  const child = spawn(process.execPath, ['workers/tuner/main.ts'], {
    cwd: root,
    env: {
      FOYER_TUNER_SPEC: JSON.stringify(spec),
      FOYER_TUNER_NETWORKS: '["127.0.0.0/8"]',
      FOYER_PORT: String(port),
      FOYER_LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  atEnd(() => child.kill('SIGKILL'));
  const get = async (path: string) =>
    (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as Record<string, unknown>;
  await eventually(async () => (await get('/ready').catch(() => undefined)) !== undefined);
  return { process: child, get };
}

describe('tuner', function () {
  this.timeout(60_000);

  it('reports tuners, channels and reachability of an HDHomeRun', async () => {
    const { get } = await tuner({ source: { hdhomerun: { address: await hdhomerun() } } });
    await eventually(async () => (await get('/status')).reachable === true);
    const status = await get('/status');
    expect(status).to.deep.include({ tuners: { total: 2, inUse: 1 }, channels: 2, encrypted: 1 });
    expect(status.device).to.include({ id: '10AA5474', model: 'HDHR5' });
    const { items } = await get('/channels');
    expect(items).to.deep.equal([
      { number: '1.1', name: 'Erstes', hd: true, radio: false },
      { number: '2', name: 'Zweites/HD', hd: false, radio: false },
    ]);
  });

  it('reads a playlist by the address in its environment, and never reveals it', async () => {
    const seen: (string | undefined)[] = [];
    const host = await box((request, response) => {
      seen.push(request.headers['user-agent']);
      response.end('#EXTM3U url-tvg="http://g/x.xml"\n#EXTINF:-1 tvg-id="a" tvg-chno="7",A, the first\nhttp://s/a\n');
    });
    const source = { m3u: { maxStreams: 3, userAgent: 'TV/1' } };
    const { get } = await tuner({ source }, { FOYER_TUNER_URL: `http://${host}/list?token=canary` });
    await eventually(async () => (await get('/status')).reachable === true);
    expect(await get('/status')).to.deep.include({ channels: 1, tuners: { total: 3, inUse: 0 } });
    expect(seen[0]).to.equal('TV/1');
    expect(JSON.stringify([await get('/status'), await get('/channels')])).not.to.include('canary');
  });

  it('reports its faults, keeps the last known state, and heals', async () => {
    let mood: 'well' | 'ill' = 'ill';
    const host = await box((request, response) => {
      if (mood === 'ill') response.writeHead(503).end();
      else response.end(request.url === '/discover.json' ? '{"TunerCount":4}' : '[]');
    });
    const { get } = await tuner({ source: { hdhomerun: { address: host } } });
    await eventually(async () => (await get('/status')).reachable === false);
    expect((await get('/status')).message).to.equal('the device answered 503');
    mood = 'well';
    await eventually(async () => (await get('/status')).reachable === true, 20_000);
    expect(await get('/status')).to.deep.include({ tuners: { total: 4, inUse: 0 } });
  });

  it('sends no request to an address outside the networks that are opened', async () => {
    let requests = 0;
    const host = await box((_request, response) => {
      requests += 1;
      response.end('{}');
    });
    const { get } = await tuner({ source: { hdhomerun: { address: host } } }, { FOYER_TUNER_NETWORKS: '[]' });
    await eventually(async () => (await get('/status')).reachable === false);
    expect((await get('/status')).message).to.include('not reached from here');
    expect(requests).to.equal(0);
  });

  it('ends at SIGTERM with code 0', async () => {
    const { process: child } = await tuner({ source: { hdhomerun: { address: '127.0.0.1:9' } } });
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).to.equal(0);
  });
});

describe('a device that is looked at again and again', () => {
  const open = { FOYER_TUNER_NETWORKS: '["127.0.0.0/8"]', FOYER_TUNER_PROBE_SECONDS: '0' };
  function deviceOf(spec: object, env: Record<string, string> = {}, setting?: OutboundSetting): TunerDevice {
    const config = readTunerConfig({ FOYER_TUNER_SPEC: JSON.stringify(spec), ...open, ...env });
    return new TunerDevice(sourceOf(config, createOutbound(setting)), config, createLog('silent', 'test'));
  }
  const seen = async (device: TunerDevice) => {
    await device.look();
    const { reachable, message } = device.status;
    return { reachable, message };
  };
  const pages =
    (there: Record<string, string>): RequestListener =>
    (request, response) => {
      const page = there[request.url ?? ''];
      response.writeHead(page === undefined ? 404 : 200).end(page ?? '');
    };

  it('is reported as unreachable when it is lost after its lineup was read, with or without a status.json', async () => {
    for (const status of [{ '/status.json': '[]' }, {}]) {
      const there: Record<string, string> = { '/discover.json': '{"TunerCount":2}', '/lineup.json': '[]', ...status };
      const device = deviceOf({ source: { hdhomerun: { address: await box(pages(there)) } } });
      expect(await seen(device)).to.include({ reachable: true });
      expect(await seen(device)).to.include({ reachable: true });
      for (const path of Object.keys(there)) delete there[path];
      expect(await seen(device)).to.deep.equal({ reachable: false, message: 'the device answered 404' });
      expect(device.status.tuners, 'the last known state stays').to.include({ total: 2 });
    }
  });

  it('is reported as unreachable when its playlist is gone, or is none any more, and heals', async () => {
    let [status, text] = [200, '#EXTM3U\n#EXTINF:-1,A\nhttp://s/a\n'];
    const host = await box((_request, response) => response.writeHead(status).end(text));
    const device = deviceOf({ source: { m3u: { url: `http://${host}/list` } } });
    expect(await seen(device)).to.include({ reachable: true });
    expect(await seen(device)).to.include({ reachable: true });
    status = 404;
    expect(await seen(device)).to.include({ reachable: false, message: 'the address of the playlist answered 404' });
    [status, text] = [200, '<html>'];
    expect(await seen(device)).to.include({ reachable: false });
    text = '#EXTM3U\n';
    expect(await seen(device)).to.include({ reachable: true, message: '0 channels' });
  });

  it('takes a name and a password from the address, and sends them to that host alone', async () => {
    const credentials: (string | undefined)[] = [];
    const other = await box((request, response) => {
      credentials.push(request.headers.authorization);
      response.end('#EXTM3U\n');
    });
    const host = await box((request, response) => {
      credentials.push(request.headers.authorization);
      response.writeHead(302, { location: `http://${other}/list` }).end();
    });
    const device = deviceOf({ source: { m3u: {} } }, { FOYER_TUNER_URL: `http://me:p%40ss@${host}/list` });
    expect(await seen(device)).to.include({ reachable: true });
    expect(credentials.slice(0, 2)).to.deep.equal([`Basic ${Buffer.from('me:p@ss').toString('base64')}`, undefined]);
  });

  it('reaches a name inside the cluster where its network is named, and no home network then', async () => {
    const host = await box((_request, response) => response.end('#EXTM3U\n'));
    const spec = { source: { m3u: { url: `http://tv.media.svc:${host.split(':')[1]}/list` } } };
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(await seen(deviceOf(spec, {}, { lookup }))).to.include({ reachable: true });
    const closed = deviceOf(spec, { FOYER_TUNER_NETWORKS: '[]' }, { lookup });
    expect(await seen(closed)).to.deep.equal({ reachable: false, message: 'this name is not reached from here' });
    const home = deviceOf(spec, {}, { lookup: async () => [{ address: '192.168.0.9', family: 4 }] });
    expect(await seen(home)).to.deep.equal({ reachable: false, message: 'this address is not reached from here' });
  });

  it('ends endless redirects', async () => {
    const host = await box((_request, response) => response.writeHead(302, { location: '/again' }).end());
    const { reachable, message } = await seen(deviceOf({ source: { m3u: { url: `http://${host}/` } } }));
    expect({ reachable, message }).to.deep.equal({ reachable: false, message: 'more than 5 redirects' });
  });
});

describe('findDevice', () => {
  it('sends a broadcast and takes the address that the device gives', async () => {
    const device = createSocket('udp4');
    device.bind(0, '127.0.0.1');
    await once(device, 'listening');
    atEnd(() => device.close());
    const requests: Buffer[] = [];
    device.on('message', (bytes, from) => {
      requests.push(bytes);
      const id = Buffer.from([0x02, 4, 0x10, 0xaa, 0x54, 0x74]);
      const url = Buffer.from('http://127.0.0.1:5004');
      const body = Buffer.concat([Buffer.from([0x01, 4, 0, 0, 0, 1]), id, Buffer.from([0x2a, url.length]), url]);
      device.send(packet(3, body), from.port, from.address);
    });
    const { port } = device.address();
    const found = await findDevice({ deviceId: '10aa5474', address: '127.0.0.1', port });
    expect(found).to.equal('http://127.0.0.1:5004');
    expect(requests[0]?.toString('hex')).to.match(/^0002000c0104000000010204[0-9a-f]{8}[0-9a-f]{8}$/);
    expect(await findDevice({ deviceId: 'ffffffff', address: '127.0.0.1', port, timeoutMs: 200 })).to.equal(undefined);
  });

  it('takes no reply that is cut or changed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(readReply(Buffer.from(bytes))).to.equal(undefined);
      }),
    );
  });
});

describe('readPlaylist', () => {
  it('reads names with commas and quotes, groups, radio, and leaves files out', () => {
    const text = [
      '\uFEFF#EXTM3U x-tvg-url="http://a/g.xml,http://b/g.xml"',
      '#EXTINF:-1 tvg-id="one.de" tvg-logo="http://l/1.png" group-title="News, local",One, and only',
      '#EXTVLCOPT:http-user-agent=x',
      'https://s/1.m3u8',
      '#EXTINF:0 radio="true",Radio',
      '#EXTGRP:Music',
      'udp://239.0.0.1:1234',
      '#EXTINF:0,Secret',
      'file:///etc/passwd',
    ].join('\r\n');
    const { entries, guides, skipped } = readPlaylist(text);
    expect(guides).to.deep.equal(['http://a/g.xml', 'http://b/g.xml']);
    expect(skipped).to.equal(1);
    expect(entries).to.deep.equal([
      {
        name: 'One, and only',
        url: 'https://s/1.m3u8',
        radio: false,
        guideId: 'one.de',
        group: 'News, local',
        logo: 'http://l/1.png',
      },
      { name: 'Radio', url: 'udp://239.0.0.1:1234', radio: true, group: 'Music' },
    ]);
  });

  it('refuses an invalid playlist', () => {
    expect(() => readPlaylist('<html>')).to.throw(NotAPlaylist);
  });

  it('reads the answers of a hostile provider as any other, and leaves out lines without a channel', () => {
    const long = 'a'.repeat(LONGEST_LINE - 100);
    const text = [
      '#EXTM3U',
      `#EXTINF:-1 ${long},${'"x'.repeat(20)}`,
      'http://s/1',
      `#EXTINF:-1 tvg-id="${long}${long}",Too long`,
      'http://s/2',
      '#EXTINF:-1,Three',
      `http://s/${long}${long}`,
      '#EXTINF:-1,Four',
      'http://s/4',
    ].join('\n');
    const { entries, skipped } = readPlaylist(`${'\n'.repeat(1_000_000)}${text}${`\n#EXTINF:-1 ${long}`.repeat(100)}`);
    expect(entries.map(({ url }) => url)).to.deep.equal(['http://s/1', 'http://s/4']);
    expect(skipped).to.equal(2);
  });

  it('never throws otherwise, for any lines', () => {
    fc.assert(fc.property(fc.string(), (text) => readPlaylist(`#EXTM3U ${text}`).entries.length >= 0));
  });
});

describe('chosen', () => {
  const channel = (number: string, name: string) => ({ number, name, url: '', hd: false, radio: false });
  const all = [channel('1', 'ARD'), channel('2.1', 'ZDF/neo'), channel('9', '(shop)')];

  it('takes by name or number, leaves out, and numbers again', () => {
    const choice = { include: ['*ard*', '2.*', '(shop)'], exclude: ['9'], numbering: 'sequential' } as const;
    expect(chosen(all, choice).map(({ number, name }) => [number, name])).to.deep.equal([
      ['1', 'ARD'],
      ['2', 'ZDF/neo'],
    ]);
  });

  it('matches a glob, and takes other letters literally', () => {
    const meant: [string, string, boolean][] = [
      ['!ard', '!ARD', true],
      ['!ard', 'zdf', false],
      ['{a,b}', 'a', false],
      ['{a,b}', '{A,B}', true],
      ['a?c', 'a/c', true],
      ['[1-3]*', '25', true],
      ['[!1-3]*', '25', false],
      ['[hd] ard', '[HD] ARD', true],
      ['*.*', '2.1', true],
      ['a*c*', 'abcab', true],
      ['a*c', 'abcab', false],
      ['*', '', true],
      ['[', '[', true],
      ['a+(b)', 'A+(B)', true],
    ];
    expect(meant.filter(([glob, name, is]) => globMatcher(glob)(name) !== is)).to.deep.equal([]);
    // With an expression that goes back for every star this would not end.
    expect(globMatcher(`${'*a'.repeat(49)}b`)('a'.repeat(20_000))).to.equal(false);
  });

  it('takes all when nothing is named', () => {
    expect(chosen(all, { include: [], exclude: [], numbering: 'source' })).to.have.length(3);
  });
});
