import { execFileSync } from 'node:child_process';
import { createCipheriv, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { atEnd, freePort, temporaryFolder } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { StreamCopy } from '#workers/tuner/streams/copying.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';
import { readDatagrams } from '#workers/tuner/streams/datagrams.ts';
import { factsOf } from '#workers/tuner/streams/facts.ts';
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
  for await (const chunk of bytes) chunks.push(Buffer.from(chunk));
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
      '/map.m3u8': list(`#EXT-X-MAP:URI="${canary.url}/secret.ts"\n#EXTINF:4,\n1.ts\n`),
      '/sound.m3u8': `#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="${canary.url}/secret.ts"\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"\nsegment.m3u8\n`,
      '/file.m3u8': list('#EXTINF:4,\nfile:///etc/passwd\n'),
      '/1.ts': 'one',
    });
    for (const name of ['segment', 'key', 'variant', 'map', 'sound', 'file'])
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

  it('are copied where a program announces sound that it does not send, and where its sound begins late', async () => {
    const path = join(temporaryFolder('sounds'), 'all.ts');
    const sines = [440, 550, 660].flatMap((hertz) => ['-f', 'lavfi', '-i', `sine=${hertz}:duration=4`]);
    const video = [
      '-f',
      'lavfi',
      '-i',
      'testsrc2=size=320x180:rate=25:duration=4',
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
    ];
    const maps = [0, 1, 2, 3].flatMap((input) => ['-map', String(input)]);
    const inputs = [...video.slice(0, 4), ...sines, ...maps, ...video.slice(4), '-g', '25', '-c:a', 'mp2'];
    execFileSync('ffmpeg', ['-v', 'error', ...inputs, '-f', 'mpegts', path]);
    const film = readFileSync(path);
    const packets = Array.from({ length: film.length / 188 }, (_, at) => film.subarray(at * 188, (at + 1) * 188));
    /** Streams of the copy where those with a PID are sent from a packet on. */
    const copied = async (since: Record<number, number>): Promise<string[]> => {
      const copy = new StreamCopy((bytes, limits) =>
        factsOf({ path: `${path}.probe`, bytes, limits, signal: AbortSignal.timeout(20_000) }),
      );
      await copy.start();
      const sent = packets.filter((one, at) => at >= (since[one.readUInt16BE(1) & 0x1fff] ?? 0));
      const whole = Buffer.concat(sent);
      const written = (async () => {
        for (let at = 0; at < whole.length; at += 5000)
          await copy.write(whole.subarray(at, at + 5000), AbortSignal.timeout(20_000));
        copy.end();
      })();
      const chunks: Buffer[] = [];
      for await (const chunk of copy.read()) chunks.push(Buffer.from(chunk));
      await written;
      writeFileSync(path, Buffer.concat(chunks));
      const shown = ['-count_packets', '-show_entries', 'stream=codec_name,nb_read_packets', '-of', 'csv=p=0', path];
      const [streams = ''] = execFileSync('ffprobe', ['-v', 'error', ...shown])
        .toString()
        .split('\n\n');
      return streams.trim().split('\n');
    };
    const none = packets.length;
    const all = await copied({});
    expect(all.map((line) => line.split(',')[0])).to.deep.equal(['h264', 'mp2', 'mp2', 'mp2']);
    expect(await copied({ 257: none })).to.deep.equal([all[0], all[2], all[3]]);
    expect(await copied({ 258: none, 259: none })).to.deep.equal([all[0], all[1]]);
    expect((await copied({ 258: Math.floor(none / 7) })).map((line) => line.split(',')[0])).to.have.lengthOf(4);
  });

  it('go on where the clock of the broadcast starts over, after 26.5 hours', async () => {
    const folder = temporaryFolder('wrap');
    writeFileSync(join(folder, 'plain.ts'), broadcast('h264'));
    const late = [
      '-copyts',
      '-i',
      join(folder, 'plain.ts'),
      '-c',
      'copy',
      '-output_ts_offset',
      String(2 ** 33 / 90_000 - 5),
    ];
    execFileSync('ffmpeg', ['-v', 'error', ...late, '-f', 'mpegts', join(folder, 'late.ts')]);
    const cut = async (bytes: Buffer): Promise<[at: number, length: number][]> => {
      const copy = new StreamCopy(async () => []);
      await copy.start();
      const pieces: Piece[] = [];
      const cutter = new LiveCutter((piece) => pieces.push(piece));
      const written = copy.write(bytes, AbortSignal.timeout(20_000)).then(() => copy.end());
      for await (const chunk of copy.read()) cutter.push(chunk);
      cutter.end();
      await written;
      return pieces.map(({ atMs, durationMs }) => [atMs, durationMs]);
    };
    const plain = await cut(broadcast('h264'));
    expect(plain).to.have.lengthOf(5);
    expect(await cut(readFileSync(join(folder, 'late.ts')))).to.deep.equal(plain);
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
