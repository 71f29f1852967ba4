import { execFile } from 'node:child_process';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** Frames of ID3v2.4 by their names; `TXXX:<description>` is a user's own one. Several values are several texts. */
export type Id3 = Record<string, string | readonly string[]>;

let sound: Promise<Buffer> | undefined;

/** Two seconds of MP3 without tags. */
function mp3(): Promise<Buffer> {
  const args = [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    'sine=440:d=2',
    '-map_metadata',
    '-1',
    '-id3v2_version',
    '0',
    '-f',
    'mp3',
    '-',
  ];
  sound ??= promisify(execFile)('ffmpeg', args, { encoding: 'buffer' }).then(({ stdout }) => stdout);
  return sound;
}

function frame(name: string, value: string | readonly string[]): Buffer {
  const [id = '', own] = name.split(':');
  const texts = [...(own === undefined ? [] : [own]), ...(typeof value === 'string' ? [value] : value)];
  const body = Buffer.from(`\u0003${texts.join('\0')}`, 'utf8');
  return Buffer.concat([Buffer.from(id, 'latin1'), synchsafe(body.length), Buffer.from([0, 0]), body]);
}

function pictureFrame(jpeg: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from('\u0003image/jpeg\0\u0003\0', 'latin1'), jpeg]);
  return Buffer.concat([Buffer.from('APIC'), synchsafe(body.length), Buffer.from([0, 0]), body]);
}

const synchsafe = (n: number): Buffer => Buffer.from([(n >> 21) & 127, (n >> 14) & 127, (n >> 7) & 127, n & 127]);

/** An MP3 with these tags and perhaps a JPEG as its cover. */
export async function trackBytes(tags: Id3, cover?: Buffer): Promise<Buffer> {
  const frames = Buffer.concat([
    ...Object.entries(tags).map(([name, value]) => frame(name, value)),
    ...(cover ? [pictureFrame(cover)] : []),
  ]);
  const head = Buffer.concat([Buffer.from('ID3\u0004\u0000\u0000', 'latin1'), synchsafe(frames.length), frames]);
  return Buffer.concat([frames.length > 0 ? head : Buffer.alloc(0), await mp3()]);
}

/** `trackBytes` in a file, last changed an hour ago. */
export async function writeTrack(path: string, tags: Id3, cover?: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // The name at the end makes every file's content its own, as real tracks are.
  await writeFile(path, Buffer.concat([await trackBytes(tags, cover), Buffer.from(path)]));
  const old = new Date(Date.now() - 3_600_000);
  await utimes(path, old, old);
}
