// Television whose pictures have numbers: a recording shows which of them it has, so its gaps are counted and not believed.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atEndOfRun, temporaryFolder } from './stores.ts';

export const PICTURES_PER_SEC = 25;
export const PICTURE_MS = 1000 / PICTURES_PER_SEC;
const PACKET = 188;
export const BITS_A_MS = 500;
const NUMBER_BITS = 13;
const WIDTH = NUMBER_BITS + 3;
const SIZE = `${WIDTH * 10}x96`;

/** Two bits of the channel, the number, and a bit that makes the sum even, each as one bar of the picture. */
function barsOf(channel: number, number: number): Buffer {
  const value = (channel << NUMBER_BITS) | number;
  const whole = (value << 1) | (value.toString(2).replaceAll('0', '').length & 1);
  return Buffer.from(Array.from({ length: WIDTH }, (_, at) => ((whole >> (WIDTH - 1 - at)) & 1 ? 255 : 0)));
}

/** Channel and number of a picture; undefined for one that is broken. */
function readBars(bars: Buffer): { channel: number; number: number } | undefined {
  const bits = [...bars].map((grey) => (grey > 127 ? 1 : 0));
  const whole = bits.reduce((sum: number, bit) => sum * 2 + bit, 0);
  if (bits.filter(Boolean).length % 2 === 1) return undefined;
  return { channel: whole >> (NUMBER_BITS + 1), number: (whole >> 1) & ((1 << NUMBER_BITS) - 1) };
}

/** At most 327 seconds of a channel, from 0 on, with a constant rate of bytes. */
export async function numbered(channel: number, seconds: number): Promise<Buffer> {
  const path = join(temporaryFolder('station', atEndOfRun), `${channel}.ts`);
  const child = spawn(
    'ffmpeg',
    [
      ...['-v', 'error', '-y', '-f', 'rawvideo', '-pix_fmt', 'gray', '-s', `${WIDTH}x1`, '-r', `${PICTURES_PER_SEC}`],
      ...['-i', '-', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-shortest'],
      ...['-vf', `scale=${SIZE.replace('x', ':')}:flags=neighbor,format=yuv420p`, '-c:v', 'libx264', '-preset'],
      ...['ultrafast', '-profile:v', 'main', '-g', `${PICTURES_PER_SEC}`, '-bf', '0', '-crf', '30', '-c:a', 'aac'],
      ...['-b:a', '64k', '-muxrate', `${BITS_A_MS}k`, '-f', 'mpegts', path],
    ],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  const exit = once(child, 'exit');
  const pictures = Array.from({ length: seconds * PICTURES_PER_SEC }, (_, number) => barsOf(channel, number));
  child.stdin.end(Buffer.concat(pictures));
  const [code] = await exit;
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
  return readFileSync(path);
}

/** Numbers of the pictures of a file, in order. Throws for pictures of another channel, and broken ones. */
export async function picturesOf(path: string, channel: number): Promise<number[]> {
  const filters = `scale=${WIDTH}:1:flags=area,format=gray`;
  const args = ['-v', 'error', '-i', path, '-map', '0:v:0', '-vf', filters, '-fps_mode', 'passthrough'];
  const { stdout, stderr } = await promisify(execFile)('ffmpeg', [...args, '-f', 'rawvideo', '-'], {
    encoding: 'buffer',
    maxBuffer: 1 << 24,
  });
  if (stderr.length > 0) throw new Error(`${path}: ${stderr.toString().slice(0, 500)}`);
  return Array.from({ length: stdout.length / WIDTH }, (_, at) => {
    const read = readBars(stdout.subarray(at * WIDTH, (at + 1) * WIDTH));
    if (read?.channel !== channel) throw new Error(`picture ${at} of ${path} is ${JSON.stringify(read)}`);
    return read.number;
  });
}

/** Sends its channels on the air: who tunes in receives what all others receive at that time. */
export class Station {
  readonly #streams: readonly Buffer[];
  #beganAt = performance.now();
  /** Unix ms of the first picture. */
  since = Date.now();

  private constructor(streams: readonly Buffer[]) {
    this.#streams = streams;
  }

  static async build(channels: number, seconds: number): Promise<Station> {
    const streams: Buffer[] = [];
    for (let channel = 0; channel < channels; channel += 1) streams.push(await numbered(channel, seconds));
    return new Station(streams);
  }

  /** From the first picture on. */
  begin(): void {
    this.#beganAt = performance.now();
    this.since = Date.now();
  }

  /** A transmission that begins now; silent after the last picture. */
  send(channel: number, response: ServerResponse): void {
    const bytes = this.#streams[channel];
    if (!bytes) return void response.writeHead(404).end();
    const due = (): number => Math.floor(((performance.now() - this.#beganAt) * BITS_A_MS) / 8 / PACKET) * PACKET;
    let sent = due();
    const timer = setInterval(() => {
      const until = Math.min(due(), bytes.length);
      if (until <= sent) return;
      response.write(bytes.subarray(sent, until));
      sent = until;
    }, 40);
    response.once('close', () => clearInterval(timer));
  }
}

/** The slots of a device that receives the station. */
export class StationSlots {
  readonly #station: Station;
  readonly #slots: number;
  readonly open = new Map<ServerResponse, string>();
  /** Highest number of streams at once, and how often a channel was received twice at one time. */
  most = 0;
  twice = 0;
  #isOff = false;

  constructor(station: Station, slots: number) {
    this.#station = station;
    this.#slots = slots;
  }

  /** The device loses its power: all streams end, and no request is answered. */
  leave(): void {
    this.#isOff = true;
    for (const response of this.open.keys()) response.destroy();
  }

  comeBack(): void {
    this.#isOff = false;
  }

  /** Answers a request for a channel; they have numbers from 1 on. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isOff) return void response.destroy();
    const [, number = ''] = /^\/auto\/v(\d+)$/.exec(request.url ?? '') ?? [];
    if (this.open.size >= this.#slots)
      return void response.writeHead(503, { 'X-HDHomeRun-Error': '805 All Tuners In Use' }).end();
    if ([...this.open.values()].includes(number)) this.twice += 1;
    this.open.set(response, number);
    this.most = Math.max(this.most, this.open.size);
    response.once('close', () => this.open.delete(response));
    response.writeHead(200, { 'Content-Type': 'video/mpeg' });
    this.#station.send(Number(number) - 1, response);
  }
}
