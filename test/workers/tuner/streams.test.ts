import { createCipheriv, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { atEnd, freePort } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';
import { readDatagrams } from '#workers/tuner/streams/datagrams.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';

type Pages = Record<string, Buffer | string>;

/** A provider with these pages; requests are counted by path. */
async function provider(pages: Pages, host = '127.0.0.1'): Promise<{ url: string; hits: string[] }> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    const page = pages[request.url ?? ''];
    const type = request.url?.endsWith('.m3u8') ? 'application/vnd.apple.mpegurl' : 'video/mp2t';
    response.writeHead(page === undefined ? 404 : 200, { 'Content-Type': type }).end(page);
  }).listen(0, host);
  await once(server, 'listening');
  atEnd(() => server.close());
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, hits };
}

async function read(url: string): Promise<Buffer> {
  const networks = { always: ['127.0.0.1/32'] };
  const ways = { send: createOutboundStream(), connect: createOutboundSocket() };
  const deps = { ...ways, networks, signal: AbortSignal.timeout(10_000) };
  const { bytes } = await openSource({ url, headers: {} }, deps);
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const refusal = (url: string): Promise<string> =>
  read(url).then(
    () => 'read',
    (error: { reason: string }) => error.reason,
  );

describe('sources of a tuner', () => {
  it('follow HLS: the best variant, its newest segments, decrypted', async () => {
    const key = randomBytes(16);
    const sealed = (text: string, sequence: number): Buffer => {
      const iv = Buffer.alloc(16);
      iv.writeUInt32BE(sequence, 12);
      const cipher = createCipheriv('aes-128-cbc', key, iv);
      return Buffer.concat([cipher.update(text), cipher.final()]);
    };
    const media = (n: number): string => `#EXTINF:4,\n${n}.ts\n`;
    const { url } = await provider({
      '/live.m3u8':
        '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=900,CODECS="a,b"\nhigh/list.m3u8\n',
      '/high/list.m3u8': `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n${media(7)}#EXT-X-KEY:METHOD=AES-128,URI="../key"\n${media(8)}${media(9)}#EXT-X-ENDLIST\n`,
      '/key': key,
      '/high/7.ts': 'seven',
      '/high/8.ts': sealed('eight ', 8),
      '/high/9.ts': sealed('nine', 9),
    });
    expect((await read(`${url}/live.m3u8`)).toString()).to.equal('eight nine');
  });

  it('end when a list names an address that is not allowed, without a request to it', async () => {
    const canary = await provider({ '/secret.ts': 'secret', '/key': randomBytes(16) }, '127.0.0.2');
    const list = (lines: string): string => `#EXTM3U\n#EXT-X-TARGETDURATION:4\n${lines}#EXT-X-ENDLIST\n`;
    const { url } = await provider({
      '/segment.m3u8': list(`#EXTINF:4,\n${canary.url}/secret.ts\n`),
      '/key.m3u8': list(`#EXT-X-KEY:METHOD=AES-128,URI="${canary.url}/key"\n#EXTINF:4,\n1.ts\n`),
      '/variant.m3u8': `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${canary.url}/secret.ts\n`,
      '/file.m3u8': list('#EXTINF:4,\nfile:///etc/passwd\n'),
      '/1.ts': 'one',
    });
    for (const name of ['segment', 'key', 'variant', 'file'])
      expect(await refusal(`${url}/${name}.m3u8`), name).to.equal('refused');
    expect(canary.hits).to.deep.equal([]);
    expect(await refusal('file:///etc/passwd')).to.equal('refused');
  });

  it('are heard from a multicast group, plain and in RTP, and from no other address', async () => {
    const sender = createSocket('udp4');
    atEnd(() => sender.close());
    const port = await freePort();
    const head = Buffer.from([0x90, 33, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xbe, 0xde, 0, 1, 0, 0, 0, 0]); // with an extension
    for (const [protocol, packet] of [
      ['udp', Buffer.from('plain')],
      ['rtp', Buffer.concat([head, Buffer.from('plain')])],
    ] as const) {
      const stop = new AbortController();
      const timer = setInterval(() => sender.send(packet, port, '239.255.1.2'), 50);
      const heard = readDatagrams(new URL(`${protocol}://@239.255.1.2:${port}`), stop.signal);
      const { value } = await heard.next();
      clearInterval(timer);
      stop.abort();
      expect(String(value).slice(0, 5)).to.equal('plain');
      await heard.return(undefined);
    }
    for (const address of ['udp://127.0.0.1:5000', 'udp://224.0.0.1:5000', 'rtp://host:5000', 'udp://@239.1.1.1'])
      expect(await refusal(address), address).to.equal('refused');
  });

  it('are cut at keyframes, the first pieces at each of them', () => {
    const pieces: Piece[] = [];
    const cutter = new LiveCutter((piece) => pieces.push(piece));
    const bytes = broadcast('h264');
    for (let at = 0; at < bytes.length; at += 1000) cutter.push(bytes.subarray(at, at + 1000));
    cutter.end();
    expect(pieces.map(({ durationMs }) => durationMs)).to.deep.equal([1000, 1000, 1000, 1000, 4000]);
    for (const { bytes: piece } of pieces) {
      expect(piece.length % 188).to.equal(0);
      expect(piece.readUInt16BE(1) & 0x1fff).to.equal(0); // its tables come first
    }
  });
});
