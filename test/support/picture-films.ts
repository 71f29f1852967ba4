// Films with picture subtitles: a real Blu-ray track that is repeated, and a DVD track made by spumux.
import { execFile, spawn } from 'node:child_process';
import { createReadStream, createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { tool } from './hls-validator.ts';

export interface Packet {
  timeMs: number;
  bytes: Buffer;
}

/** The display sets of a .sup file: each begins with a composition, and its segments lose their `PG` heads. */
export function displaySetsOf(sup: Buffer): Packet[] {
  const sets: { timeMs: number; parts: Buffer[] }[] = [];
  for (let at = 0; at + 13 <= sup.length; ) {
    const end = at + 13 + sup.readUInt16BE(at + 11);
    if (sup[at + 10] === 0x16) sets.push({ timeMs: Math.round(sup.readUInt32BE(at + 2) / 90), parts: [] });
    sets.at(-1)?.parts.push(sup.subarray(at + 10, end));
    at = end;
  }
  return sets.map(({ timeMs, parts }) => ({ timeMs, bytes: Buffer.concat(parts) }));
}

/** A .sup file that repeats another at these times. */
export function repeatedSup(sup: Buffer, startsMs: readonly number[]): Buffer {
  const copies = startsMs.map((startMs) => {
    const copy = Buffer.from(sup);
    for (let at = 0; at + 13 <= copy.length; at += 13 + copy.readUInt16BE(at + 11))
      copy.writeUInt32BE(copy.readUInt32BE(at + 2) + startMs * 90, at + 2);
    return copy;
  });
  return Buffer.concat(copies);
}

/** A DVD stream with a subtitle of 3 seconds every 15, every fourth of them forced, or every one. */
export async function dvdFilm(folder: string, seconds: number, { allForced = false } = {}): Promise<string> {
  const [base, film, list] = ['base.mpg', 'film.mpg', 'spu.xml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const [name, width] of [
    ['a', 300],
    ['b', 500],
  ] as const) {
    const box = { create: { width, height: 40, channels: 4 as const, background: '#ffffff' } };
    const clear = { create: { width: 720, height: 576, channels: 4 as const, background: '#00000000' } };
    const over = [{ input: await sharp(box).png().toBuffer(), left: 100, top: 480 }];
    await sharp(clear)
      .composite(over)
      .png({ palette: true, colours: 4 })
      .toFile(join(folder, `${name}.png`));
  }
  const clock = (at: number): string => new Date(at * 1000).toISOString().slice(11, 22);
  const spus = Array.from({ length: Math.floor(seconds / 15) }, (_, n) => {
    const image = join(folder, `${'ab'[n % 2]}.png`);
    const forced = allForced || n % 4 === 0 ? 'yes' : 'no';
    return `<spu start="${clock(n * 15 + 2)}" end="${clock(n * 15 + 5)}" image="${image}" force="${forced}"/>`;
  });
  writeFileSync(list, `<subpictures format="PAL"><stream>${spus.join('\n')}</stream></subpictures>`);
  const picture = `color=s=720x576:r=25:d=${seconds}`;
  await tool('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', picture, '-b:v', '200k', '-f', 'dvd', base]);
  const spumux = spawn('spumux', ['-m', 'dvd', list], { stdio: ['pipe', 'pipe', 'ignore'] });
  await Promise.all([pipeline(createReadStream(base), spumux.stdin), pipeline(spumux.stdout, createWriteStream(film))]);
  return film;
}

/** Packets of a track as ffprobe finds them, with digests for their bytes. */
export async function probedPackets(file: string, stream: string): Promise<{ timeMs: number; md5: string }[]> {
  const shown = ['-show_packets', '-show_data_hash', 'md5', '-show_entries', 'packet=pts_time,data_hash'];
  const args = ['-v', 'error', '-select_streams', stream, ...shown, '-of', 'json', file];
  const { stdout } = await promisify(execFile)('ffprobe', args, { maxBuffer: 64 << 20 });
  const { packets } = JSON.parse(stdout) as { packets: { pts_time: string; data_hash: string }[] };
  return packets.map((one) => ({ timeMs: Math.round(Number(one.pts_time) * 1000), md5: one.data_hash.slice(4) }));
}

export interface Cis1 {
  header: { codec: string; palette?: string[]; width?: number; height?: number };
  packets: (Packet & { durationMs: number })[];
  end: { cut: boolean; untilMs?: number };
}

/** Reads a CIS1 stream as the specification describes it. */
export function readCis1(bytes: Buffer): Cis1 {
  if (bytes.toString('latin1', 0, 4) !== 'CIS1') throw new Error('no CIS1');
  const begin = 8 + bytes.readUInt32LE(4);
  const header = JSON.parse(bytes.toString('utf8', 8, begin)) as Cis1['header'];
  const packets: Cis1['packets'] = [];
  for (let at = begin; ; ) {
    const end = at + 20 + bytes.readUInt32LE(at + 16);
    const [timeMs, durationMs] = [bytes.readDoubleLE(at), bytes.readDoubleLE(at + 8)];
    const content = bytes.subarray(at + 20, end);
    if (end > bytes.length) throw new Error('a record beyond the end');
    if (Number.isNaN(timeMs)) {
      if (end !== bytes.length) throw new Error('more after the end');
      return { header, packets, end: JSON.parse(content.toString('utf8')) as Cis1['end'] };
    }
    packets.push({ timeMs, durationMs, bytes: content });
    at = end;
  }
}

/** The pictures of the real track are shown nowhere: this places each, at the top left corner by default, and may force them. */
export function drawnSup(sup: Buffer, { x = 0, y = 0, forced = false } = {}): Buffer {
  const place = Buffer.alloc(8);
  if (forced) place[3] = 0x40;
  place.writeUInt16BE(x, 4);
  place.writeUInt16BE(y, 6);
  const parts: Buffer[] = [];
  for (let at = 0; at + 13 <= sup.length; ) {
    const end = at + 13 + sup.readUInt16BE(at + 11);
    const segment = Buffer.from(sup.subarray(at, end));
    at = end;
    const starts = segment[10] === 0x16 && segment[20] === 0x80;
    if (starts) {
      segment.writeUInt16BE(19, 11);
      segment[23] = 1;
    }
    parts.push(segment, starts ? place : Buffer.alloc(0));
  }
  return Buffer.concat(parts);
}

/** The real Blu-ray track of the fixtures, 6 display sets in 9 seconds. */
export const realSup = (real: string): Buffer => readFileSync(join(real, 'subs', 'pgs_en.sup'));
