// Addresses of the inside, in every spelling and at each place where a provider can name one.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createOutbound } from '#platform/outbound.ts';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { INSIDE_HOSTS } from '#support/spellings.ts';
import { atEnd } from '#support/stores.ts';
import { fetchGuide, fetchHead } from '#workers/live/guide/fetch-guide.ts';
import { readLineup } from '#workers/live/lineup.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';

const PROVIDER = '127.0.0.9';
const NETWORKS = { always: [`${PROVIDER}/32`] };

async function serving(host: string, answer: (path: string) => { text?: string; to?: string }) {
  let hits = 0;
  const server = createServer((request, response) => {
    hits += 1;
    const { text, to } = answer(decodeURIComponent(request.url ?? ''));
    const type = 'application/vnd.apple.mpegurl';
    if (to !== undefined) response.writeHead(302, { location: encodeURI(to) }).end();
    else response.writeHead(200, { 'Content-Type': type }).end(text);
  }).listen(0, host);
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, hits: () => hits };
}

describe('addresses of the inside that a provider names', function () {
  this.timeout(120_000);
  const canaries: Awaited<ReturnType<typeof serving>>[] = [];
  let provider = '';
  let port = 0;

  before(async () => {
    const canary = await serving('127.0.0.1', () => ({ text: '#EXTM3U\nsecret' }));
    canaries.push(canary);
    ({ port } = canary);
    const list = (lines: string): string => `#EXTM3U\n#EXT-X-TARGETDURATION:4\n${lines}\n#EXT-X-ENDLIST\n`;
    const lists: Record<string, (to: string) => { text?: string; to?: string }> = {
      segment: (to) => ({ text: list(`#EXTINF:4,\n${to}`) }),
      key: (to) => ({ text: list(`#EXT-X-KEY:METHOD=AES-128,URI="${to}"\n#EXTINF:4,\none.ts`) }),
      variant: (to) => ({ text: `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${to}` }),
      redirect: (to) => ({ to }),
    };
    const own = await serving(PROVIDER, (path) => {
      const [, kind = '', to = ''] = /^\/(\w+)\?(.*)$/.exec(path) ?? [];
      return lists[kind]?.(to) ?? { text: 'one' };
    });
    provider = `http://${PROVIDER}:${own.port}`;
  });
  afterEach(() => {
    expect(
      canaries.map(({ hits }) => hits()),
      'requests to the inside',
    ).to.deep.equal([0]);
  });

  const stream = async (url: string): Promise<string> => {
    const ways = { send: createOutboundStream(), connect: createOutboundSocket() };
    try {
      const { bytes } = await openSource(
        { url, headers: {} },
        { ...ways, networks: NETWORKS, signal: AbortSignal.timeout(10_000) },
      );
      for await (const chunk of bytes) return `read ${chunk.length} bytes`;
      return 'read nothing';
    } catch (error) {
      return (error as { reason?: string }).reason ?? String(error);
    }
  };
  const everywhere = async (work: (address: string) => Promise<string>, allowed: readonly string[]): Promise<void> => {
    expect(INSIDE_HOSTS.length).to.be.at.least(220);
    const wrong: string[] = [];
    const waiting = [...INSIDE_HOSTS];
    const one = async (): Promise<void> => {
      for (let host = waiting.shift(); host !== undefined; host = waiting.shift()) {
        const outcome = await work(`http://${host}:${port}/x`);
        if (!allowed.includes(outcome)) wrong.push(`${host}: ${outcome}`);
      }
    };
    await Promise.all(Array.from({ length: 16 }, one));
    expect(wrong).to.deep.equal([]);
  };

  for (const place of ['segment', 'key', 'variant', 'redirect'])
    it(`are not reached by the ${place} of a list`, async () => {
      await everywhere((address) => stream(`${provider}/${place}?${address}`), ['refused', 'unreachable', 'not-media']);
      await everywhere(
        (address) => stream(`${provider}/${place}?${address.replace('http:', 'rtsp:')}`),
        ['refused', 'unreachable', 'not-media'],
      );
    });

  it('are not reached by the address of a channel, a playlist, a lineup or a guide', async () => {
    await everywhere(stream, ['refused', 'unreachable']);
    await everywhere((address) => stream(address.replace('http:', 'rtsp:')), ['refused', 'unreachable']);
    const outbound = createOutbound({});
    const none = async () => undefined;
    const reach = { outbound, networks: NETWORKS, objects: { get: none } as never, find: none as never };
    const failed = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'read',
        () => 'failed',
      );
    for (const kind of ['m3u', 'hdhomerun'] as const)
      await everywhere((url) => failed(readLineup({ kind, url }, reach, 5000)), ['failed']);
    const deps = {
      config: { liveNetworks: NETWORKS.always, clusterNetworks: [] },
      settings: { get: () => [] },
    } as never;
    const guide = (url: string) => ({ deps, place: { url }, signal: AbortSignal.timeout(10_000), outbound });
    await everywhere((url) => failed(fetchHead(guide(url), 5000)), ['failed']);
    await everywhere(
      (url) =>
        failed(fetchGuide(guide(`${provider}/redirect?${url}`), '/dev/null', { etag: null, lastModified: null })),
      ['failed'],
    );
  });

  it('are not reached by a name that changes its address after it was judged', async () => {
    let looked = 0;
    const lookup = async () => {
      looked += 1;
      return [{ address: looked % 2 === 1 ? PROVIDER : '127.0.0.1', family: 4 }];
    };
    const send = createOutboundStream({ lookup } as never);
    for (let round = 0; round < 4; round += 1) {
      const answer = await send(`http://films.example:${port}/`, { ...NETWORKS, timeoutMs: 2000 }).catch(
        () => undefined,
      );
      answer?.body.destroy();
    }
    expect(looked).to.be.above(2);
  });
});
