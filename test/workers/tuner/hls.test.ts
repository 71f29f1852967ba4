// Lists of HLS with fragmented MP4, ranges and sound of its own, on a socket; ffmpeg made their segments.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { FMP4, id3, make, masterOf, type Provider, provider, RATE, SECONDS } from '#support/hls-provider.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { StreamCopy } from '#workers/tuner/streams/copying.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';
import type { Received } from '#workers/tuner/streams/hls/follow.ts';
import { remuxed } from '#workers/tuner/streams/hls/remux.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';

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

/** Reads segments of pictures and of sound to their end. */
async function joined(lists: readonly Readable[]): Promise<void> {
  const all = lists.map((list) => list[Symbol.asyncIterator]() as AsyncGenerator<Received>);
  for await (const _ of remuxed(all, AbortSignal.timeout(10_000)));
}

/** Why a list is not read. */
const reasonOf = (url: string): Promise<string> =>
  read(url).then(
    (bytes) => `read ${bytes.length}`,
    (error: { reason: string }) => error.reason,
  );

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
      const [[id, words] = [0, []]] = running();
      expect(words.filter((word) => word === '-protocol_whitelist')).to.have.lengthOf(name === 'two' ? 2 : 1);
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

  it('bring their sound as packed AAC, at its time, or not at all where its time is not known', async () => {
    make([place.folder, 'shown.m3u8'], ['-hls_segment_filename', join(place.folder, 'shown-%d.ts')]);
    const path = (name: string): string => join(place.folder, name);
    const list = readFileSync(path('shown.m3u8'), 'utf8');
    for (let number = 0; number < SECONDS; number += 1) {
      const probe = [
        '-select_streams',
        'a',
        '-show_entries',
        'packet=pts',
        '-of',
        'csv=p=0',
        path(`shown-${number}.ts`),
      ];
      const pts = Number.parseInt(execFileSync('ffprobe', ['-v', 'error', ...probe]).toString(), 10);
      const copy = ['-map', '0:a', '-c', 'copy', '-f', 'adts', '-'];
      const frames = execFileSync('ffmpeg', ['-v', 'error', '-i', path(`shown-${number}.ts`), ...copy]);
      writeFileSync(path(`packed-${number}.aac`), Buffer.concat([id3(pts), frames]));
      writeFileSync(path(`timeless-${number}.aac`), frames);
      const mute = ['-map', '0:v', '-c', 'copy', '-copyts', '-muxdelay', '0', '-muxpreload', '0', '-f', 'mpegts'];
      execFileSync('ffmpeg', ['-v', 'error', '-i', path(`shown-${number}.ts`), ...mute, path(`mute-${number}.ts`)]);
    }
    const names = { packed: '.aac', timeless: '.aac', mute: '.ts' };
    for (const [name, end] of Object.entries(names))
      writeFileSync(path(`${name}.m3u8`), list.replaceAll(/shown-(\d)\.ts/g, `${name}-$1${end}`));
    writeFileSync(path('with.m3u8'), masterOf('mute.m3u8', 'packed.m3u8'));
    writeFileSync(path('without.m3u8'), masterOf('shown.m3u8', 'timeless.m3u8'));
    const grow = (): void => {
      for (const name of ['mute', 'packed', 'shown', 'timeless']) place.growing.set(`${name}.m3u8`, 2);
    };
    grow();
    expectWhole(await read(`${place.url}/with.m3u8`), SECONDS);
    grow();
    expectWhole(await read(`${place.url}/without.m3u8`), SECONDS);
    place.growing.clear();
    const segments = (kind: string, end: string, numbers: readonly number[]) =>
      Readable.from(numbers).map((sequence: number) => {
        return { sequence, head: undefined, bytes: readFileSync(path(`${kind}-${sequence}.${end}`)), isBreak: false };
      });
    const fault = await joined([segments('mute', 'ts', [0, 1, 2, 3]), segments('packed', 'aac', [0, 1, 3])]).then(
      () => 'read',
      (error: { reason: string }) => error.reason,
    );
    expect(fault).to.equal('ended');
  });

  it('have their own sound where no other is the default one', async () => {
    const other = '\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="own"';
    writeFileSync(join(place.folder, 'own.m3u8'), masterOf('plain.m3u8', 'none.m3u8', other));
    expectWhole(await read(`${place.url}/own.m3u8`), 2);
    expect(place.requests).to.not.include('none.m3u8');
  });

  it('fail where they hold no MP4, and leave sound out that is of no kind that is read', async () => {
    writeFileSync(join(place.folder, 'noise.m4s'), Buffer.alloc(100_000, 7));
    const lines = '#EXTINF:1,\nnoise.m4s\n#EXTINF:1,\nnoise.m4s\n#EXT-X-ENDLIST\n';
    writeFileSync(join(place.folder, 'frames.m3u8'), `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${lines}`);
    const noise = `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI="noise.m4s"\n${lines}`;
    writeFileSync(join(place.folder, 'noise.m3u8'), noise);
    writeFileSync(join(place.folder, 'bare.m3u8'), masterOf('plain.m3u8', 'frames.m3u8'));
    expect(await reasonOf(`${place.url}/noise.m3u8`)).to.equal('not-media');
    expectWhole(await read(`${place.url}/bare.m3u8`), 2);
  });

  it('fail where a head is large, in a file of its own or in parts of one', async () => {
    const head = readFileSync(join(place.folder, 'plain-init.mp4'));
    const free = Buffer.alloc(2 << 20);
    free.writeUInt32BE(free.length);
    free.write('free', 4);
    writeFileSync(join(place.folder, 'large.mp4'), Buffer.concat([head, free]));
    const list = readFileSync(join(place.folder, 'plain.m3u8'), 'utf8');
    writeFileSync(join(place.folder, 'large.m3u8'), list.replace('plain-init.mp4', 'large.mp4'));
    const part = `"large.mp4",BYTERANGE="${head.length + free.length}@0"`;
    writeFileSync(join(place.folder, 'part.m3u8'), list.replace('"plain-init.mp4"', part));
    for (const takes of [true, false]) {
      place.takesRanges = takes;
      for (const name of ['large', 'part']) expect(await reasonOf(`${place.url}/${name}.m3u8`)).to.equal('not-media');
    }
    place.takesRanges = true;
  });
});
