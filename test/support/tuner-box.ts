// An HDHomeRun on loopback: real transport streams, sent at the speed of a broadcast, with slots and the device's errors.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { atEnd, atEndOfRun, temporaryFolder } from './stores.ts';

/** `h264-mp2` has the sound of European HD channels. */
export type Broadcast = 'h264' | 'h264-mp2' | 'mpeg2' | 'hevc';

const PACKET = 188;
const LOOP_SEC = 8;

const ENCODERS: Record<Broadcast, string[]> = {
  h264: [
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-profile:v', 'main', '-pix_fmt', 'yuv420p', '-g', '25', '-bf', '0'],
    ...['-b:v', '400k', '-c:a', 'aac', '-b:a', '64k', '-ac', '2'],
  ],
  'h264-mp2': [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'main', '-pix_fmt', 'yuv420p', '-g', '25', '-bf', '2'],
    ...['-b:v', '400k', '-c:a', 'mp2', '-b:a', '128k', '-ac', '2'],
  ],
  hevc: [
    ...['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-x265-params', 'keyint=25:log-level=none'],
    ...['-b:v', '400k', '-c:a', 'mp2', '-b:a', '128k', '-ac', '2'],
  ],
  mpeg2: [
    ...[
      '-vf',
      'scale=720:576,setsar=16/15',
      '-c:v',
      'mpeg2video',
      '-g',
      '12',
      '-bf',
      '2',
      '-flags',
      '+ilme+ildct',
      '-top',
      '1',
    ],
    ...['-b:v', '1500k', '-c:a', 'mp2', '-b:a', '128k', '-ac', '2'],
  ],
};

const made = new Map<Broadcast, Buffer>();

/** Eight seconds of a broadcast, made once a run. */
export function broadcast(kind: Broadcast): Buffer {
  const known = made.get(kind);
  if (known) return known;
  const path = join(temporaryFolder('broadcast', atEndOfRun), `${kind}.ts`);
  const size = kind === 'mpeg2' ? '720x576' : '320x180';
  const input = [
    ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=25:duration=${LOOP_SEC}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${LOOP_SEC}`],
  ];
  const args = ['-hide_banner', '-loglevel', 'error', '-y', ...input, ...ENCODERS[kind], '-f', 'mpegts', path];
  const { status, stderr } = spawnSync('ffmpeg', args);
  if (status !== 0 || !existsSync(path)) throw new Error(String(stderr));
  const bytes = readFileSync(path);
  made.set(kind, bytes);
  return bytes;
}

export interface TunerBox {
  url: string;
  /** Address of a channel. */
  channel(number: string): string;
  /** Streams that are sent now. */
  open: Map<string, ServerResponse>;
  /** Highest number of streams at once. */
  most: number;
  /** Answers with an error of the device, by channel number. */
  errors: Map<string, string>;
  /** Channels whose streams stay open without bytes. */
  silent: Set<string>;
  /** Ends the running stream of a channel. */
  cut(number: string): void;
}

/** Starts a device with so many slots; channels are numbers, each with the same broadcast. */
export async function tunerBox(kind: Broadcast | Buffer, slots: number): Promise<TunerBox> {
  const bytes = typeof kind === 'string' ? broadcast(kind) : kind;
  const box: TunerBox = {
    url: '',
    channel: (number) => `${box.url}/auto/v${number}`,
    open: new Map(),
    most: 0,
    errors: new Map(),
    silent: new Set(),
    cut: (number) => void box.open.get(number)?.destroy(),
  };
  const server = createServer((request, response) => {
    const [, number] = /^\/auto\/v([\w.]+)$/.exec(request.url ?? '') ?? [];
    if (number === undefined) return void response.writeHead(404).end();
    const error = box.errors.get(number) ?? (box.open.size >= slots ? '805 All Tuners In Use' : undefined);
    if (error) return void response.writeHead(503, { 'X-HDHomeRun-Error': error }).end();
    box.open.set(number, response);
    box.most = Math.max(box.most, box.open.size);
    response.once('close', () => box.open.delete(number));
    response.writeHead(200, { 'Content-Type': 'video/mpeg' });
    send(response, bytes, () => box.silent.has(number));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  box.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return box;
}

/** In real time, again and again. The clock starts over with each round, as it does at a station now and then. */
function send(response: ServerResponse, bytes: Buffer, silent: () => boolean): void {
  const perMs = bytes.length / (LOOP_SEC * 1000);
  const began = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    if (silent()) return;
    const due = Math.floor(((performance.now() - began) * perMs) / PACKET) * PACKET;
    while (sent < due) {
      const at = sent % bytes.length;
      const end = Math.min(bytes.length, at + due - sent);
      response.write(bytes.subarray(at, end));
      sent += end - at;
    }
  }, 40);
  response.once('close', () => clearInterval(timer));
}
