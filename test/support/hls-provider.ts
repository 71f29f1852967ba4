// A provider of HLS on a socket; ffmpeg makes its segments.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { atEnd, temporaryFolder } from './stores.ts';

export const SECONDS = 8;
export const RATE = 25;

export interface Provider {
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

/** A server of the files of a folder of its own. */
export async function provider(): Promise<Provider> {
  const made: Provider = {
    ...{ url: '', folder: temporaryFolder('hls'), requests: [], growing: new Map(), takesRanges: true },
  };
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    made.requests.push(name);
    if (!existsSync(join(made.folder, name))) return void response.writeHead(404).end();
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
export function make(
  [folder, name]: [folder: string, name: string],
  options: readonly string[],
  size = '320x180',
): void {
  const inputs = [
    ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${RATE}:duration=${SECONDS}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${SECONDS}`],
  ];
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(RATE), '-c:a', 'aac'];
  const hls = ['-f', 'hls', '-hls_time', '1', '-hls_list_size', '0', ...options];
  execFileSync('ffmpeg', ['-v', 'error', ...inputs, '-map', '0', '-map', '1', ...codecs, ...hls, join(folder, name)]);
}

/** A master list of pictures and of their sound. */
export const masterOf = (pictures: string, sound: string, more = ',DEFAULT=YES'): string =>
  `#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="${sound}"${more}\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"\n${pictures}\n`;

export const FMP4 = ['-hls_segment_type', 'fmp4'];

/** The tag with the time of packed sound. */
export function id3(pts: number): Buffer {
  const value = Buffer.alloc(8);
  value.writeBigUInt64BE(BigInt(pts));
  const priv = Buffer.concat([Buffer.from('com.apple.streaming.transportStreamTimestamp\0'), value]);
  const frame = Buffer.concat([Buffer.from('PRIV'), Buffer.from([0, 0, 0, priv.length, 0, 0]), priv]);
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0, 0, 0, 0, frame.length]), frame]);
}
