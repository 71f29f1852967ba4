// Lists of HLS with fragmented MP4, ranges and sound of its own, on a socket; ffmpeg made their segments.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { atEnd, eventually, temporaryFolder } from '#support/stores.ts';
import { StreamCopy } from '#workers/tuner/streams/copying.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';

const SECONDS = 8;
const RATE = 25;

interface Provider {
  url: string;
  folder: string;
  requests: string[];
  /** Lists that grow: so many segments are in them at the first request, and one more at each other. */
  growing: Map<string, number>;
  takesRanges: boolean;
}

/** The first segments of a list, as long as it grows. */
function shortened(list: string, segments: number): string {
  const parts = list.split(/(?<=^[^#\n]+\n)/m);
  return parts.length <= segments + 1 ? list : parts.slice(0, segments).join('');
}

async function provider(): Promise<Provider> {
  const made: Provider = {
    ...{ url: '', folder: temporaryFolder('hls'), requests: [], growing: new Map(), takesRanges: true },
  };
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    made.requests.push(name);
    const body = readFileSync(join(made.folder, name));
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (made.takesRanges && to !== undefined)
      return void response.writeHead(206).end(body.subarray(Number(from), Number(to) + 1));
    if (!name.endsWith('.m3u8')) return void response.writeHead(200).end(body);
    const segments = made.growing.get(name);
    if (segments !== undefined) made.growing.set(name, segments + 1);
    const text = segments === undefined ? body.toString() : shortened(body.toString(), segments);
    response.writeHead(200, { 'Content-Type': 'application/vnd.apple.mpegurl' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return made;
}

/** A broadcast of eight seconds as segments of one. */
function make([folder, name]: [folder: string, name: string], options: readonly string[], size = '320x180'): void {
  const inputs = [
    ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${RATE}:duration=${SECONDS}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${SECONDS}`],
  ];
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(RATE), '-c:a', 'aac'];
  const hls = ['-f', 'hls', '-hls_time', '1', '-hls_list_size', '0', ...options];
  execFileSync('ffmpeg', ['-v', 'error', ...inputs, '-map', '0', '-map', '1', ...codecs, ...hls, join(folder, name)]);
}

/** A master list of pictures and of their sound. */
const masterOf = (pictures: string, sound: string, more = ',DEFAULT=YES'): string =>
  `#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="${sound}"${more}\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"\n${pictures}\n`;

const FMP4 = ['-hls_segment_type', 'fmp4'];

async function open(url: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
  const networks = { always: ['127.0.0.1/32'] };
  const ways = { send: createOutboundStream(), connect: createOutboundSocket() };
  return (await openSource({ url, headers: {} }, { ...ways, networks, signal })).bytes;
}

async function read(url: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await open(url, AbortSignal.timeout(30_000))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

interface Shown {
  codec: string;
  packets: number;
  startSec: number;
}

function streamsOf(bytes: Buffer): Shown[] {
  const path = join(temporaryFolder('hls-read'), 'read.ts');
  writeFileSync(path, bytes);
  const entries = ['-count_packets', '-show_entries', 'stream=codec_name,nb_read_packets,start_time', '-of', 'json'];
  const { streams } = JSON.parse(
    execFileSync('ffprobe', ['-v', 'error', '-f', 'mpegts', ...entries, path]).toString(),
  ) as { streams: { codec_name: string; nb_read_packets: string; start_time: string }[] };
  return streams.map((one) => ({
    ...{ codec: one.codec_name, packets: Number(one.nb_read_packets), startSec: Number(one.start_time) },
  }));
}

/** The arguments of each ffmpeg of this process, by its id. */
function running(): Map<number, string[]> {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const all = children.map((id): [number, string[]] => [
    Number(id),
    readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0'),
  ]);
  return new Map(all.filter(([, [command]]) => command === 'ffmpeg'));
}

/** Pictures and sound of so many seconds, at one time. */
function expectWhole(bytes: Buffer, seconds: number): void {
  const [video, audio, ...others] = streamsOf(bytes);
  expect(others).to.deep.equal([]);
  expect([video?.codec, audio?.codec]).to.deep.equal(['h264', 'aac']);
  expect(video?.packets).to.equal(seconds * RATE);
  expect(audio?.packets).to.be.within((seconds * 48_000) / 1024 - 3, (seconds * 48_000) / 1024 + 3);
  expect((audio?.startSec ?? 0) - (video?.startSec ?? 9)).to.be.within(-0.15, 0.15);
}

async function piecesOf(bytes: Buffer): Promise<number[]> {
  const copy = new StreamCopy(async () => []);
  await copy.start();
  const pieces: Piece[] = [];
  const cutter = new LiveCutter((piece) => pieces.push(piece));
  const written = copy.write(bytes, AbortSignal.timeout(20_000)).then(() => copy.end());
  for await (const chunk of copy.read()) cutter.push(chunk);
  cutter.end();
  await written;
  return pieces.map(({ durationMs }) => durationMs);
}

describe('lists of fragmented MP4', function () {
  this.timeout(60_000);
  let place: Provider;
  before(async () => {
    place = await provider();
    for (const name of ['plain', 'other'])
      make(
        [place.folder, `${name}.m3u8`],
        [
          ...FMP4,
          '-hls_fmp4_init_filename',
          `${name}-init.mp4`,
          '-hls_segment_filename',
          join(place.folder, `${name}-%d.m4s`),
        ],
        name === 'plain' ? '320x180' : '640x360',
      );
  });

  it('are followed as they grow, each picture once, and cut as any broadcast', async () => {
    place.growing.set('plain.m3u8', 2);
    const bytes = await read(`${place.url}/plain.m3u8`);
    place.growing.clear();
    expectWhole(bytes, SECONDS);
    expect(place.requests.filter((name) => name === 'plain-init.mp4')).to.have.lengthOf(1);
    expect(await piecesOf(bytes)).to.deep.equal([1000, 1000, 1000, 1000, 4000]);
  });

  it('begin with the newest segments, in parts of one file too', async () => {
    make(
      [place.folder, 'ranges.m3u8'],
      [...FMP4, '-hls_flags', 'single_file', '-hls_segment_filename', join(place.folder, 'ranges.m4s')],
    );
    expect(readFileSync(join(place.folder, 'ranges.m3u8'), 'utf8')).to.match(/#EXT-X-MAP:.*BYTERANGE/);
    for (const takes of [true, false]) {
      place.takesRanges = takes;
      expectWhole(await read(`${place.url}/ranges.m3u8`), 2);
    }
    place.takesRanges = true;
  });

  it('go on after a break with another head', async () => {
    const list = (name: string): string => readFileSync(join(place.folder, `${name}.m3u8`), 'utf8');
    const [, plain = ''] = /^(#EXTINF[\s\S]*)#EXT-X-ENDLIST/m.exec(list('plain')) ?? [];
    const [, other = ''] = /(#EXT-X-MAP[\s\S]*)/.exec(list('other')) ?? [];
    const head = '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI="plain-init.mp4"\n';
    const lines = `${head}${plain}#EXT-X-DISCONTINUITY\n${other}`;
    writeFileSync(join(place.folder, 'break.m3u8'), lines);
    place.growing.set('break.m3u8', 7);
    const bytes = await read(`${place.url}/break.m3u8`);
    place.growing.clear();
    const [video, audio] = streamsOf(bytes);
    expect(video?.packets).to.equal((3 + SECONDS) * RATE);
    expect(audio?.packets).to.be.above((2 + SECONDS) * 46);
  });

  for (const [kind, options] of [
    ['fmp4', FMP4],
    ['mpegts', []],
  ] as const)
    it(`bring their sound in a list of its own: ${kind}`, async () => {
      const names = [
        '-hls_segment_filename',
        join(place.folder, `${kind}-%v-%d.seg`),
        '-master_pl_name',
        `${kind}.m3u8`,
      ];
      const heads = kind === 'fmp4' ? ['-hls_fmp4_init_filename', `${kind}-%v-init.mp4`] : [];
      const map = ['-var_stream_map', 'a:0,agroup:sound,default:yes v:0,agroup:sound'];
      make([place.folder, `${kind}-%v.m3u8`], [...options, ...names, ...heads, ...map]);
      place.growing.set(`${kind}-0.m3u8`, 2).set(`${kind}-1.m3u8`, 2);
      const bytes = await read(`${place.url}/${kind}.m3u8`);
      place.growing.clear();
      expectWhole(bytes, SECONDS);
    });

  it('end when the reception stops, though their ffmpeg does not go on', async () => {
    const list = readFileSync(join(place.folder, 'plain.m3u8'), 'utf8').replace('#EXT-X-ENDLIST', '');
    writeFileSync(join(place.folder, 'endless.m3u8'), list);
    writeFileSync(join(place.folder, 'two.m3u8'), masterOf('endless.m3u8', 'endless.m3u8'));
    for (const name of ['endless', 'two']) {
      const stop = new AbortController();
      const bytes = (await open(`${place.url}/${name}.m3u8`, stop.signal))[Symbol.asyncIterator]();
      expect((await bytes.next()).done, name).to.equal(false);
      const [[id = 0] = []] = running();
      process.kill(id, 'SIGSTOP');
      let isOver = false;
      const rest = (async () => {
        while (!(await bytes.next()).done);
      })()
        .catch(() => undefined)
        .finally(() => {
          isOver = true;
        });
      stop.abort();
      await Promise.race([rest, sleep(5000)]);
      expect(isOver, name).to.equal(true);
      await eventually(async () => running().size === 0 || undefined);
    }
  });

  it('fail where they hold no MP4, or where their sound is of no kind that is read', async () => {
    writeFileSync(join(place.folder, 'noise.m4s'), Buffer.alloc(100_000, 7));
    writeFileSync(
      join(place.folder, 'noise.m3u8'),
      '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI="noise.m4s"\n#EXTINF:1,\nnoise.m4s\n#EXTINF:1,\nnoise.m4s\n#EXT-X-ENDLIST\n',
    );
    writeFileSync(join(place.folder, 'bare.m3u8'), masterOf('plain.m3u8', 'frames.m3u8'));
    writeFileSync(
      join(place.folder, 'frames.m3u8'),
      '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nnoise.m4s\n#EXT-X-ENDLIST\n',
    );
    for (const name of ['noise', 'bare']) {
      const reason = await read(`${place.url}/${name}.m3u8`).then(
        (bytes) => `read ${bytes.length}`,
        (error: { reason: string }) => error.reason,
      );
      expect(reason, name).to.equal('not-media');
    }
  });
});
