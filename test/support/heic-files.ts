import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const u16 = (n: number): Buffer => Buffer.from([n >> 8, n & 255]);
const u32 = (n: number): Buffer => Buffer.concat([u16(n >>> 16), u16(n & 0xffff)]);

function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

const full = (type: string, version: number, ...content: readonly (Buffer | string)[]): Buffer =>
  box(type, u32(version << 24), ...content);

/** A HEIC picture of one HEVC frame, as phones write it but without tiles. */
export async function heic(width: number, height: number): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-heic-'));
  try {
    const video = join(folder, 'one.mp4');
    const source = ['-f', 'lavfi', '-i', `testsrc=s=${width}x${height}:d=0.1`, '-frames:v', '1', '-pix_fmt', 'yuv420p'];
    const coding = ['-c:v', 'libx265', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'];
    await promisify(execFile)('ffmpeg', ['-v', 'error', ...source, ...coding, video]);
    const mp4 = await readFile(video);
    return picture({ width, height, config: boxIn(mp4, 'hvcC'), frame: boxIn(mp4, 'mdat').subarray(8) });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function boxIn(bytes: Buffer, type: string): Buffer {
  const at = bytes.indexOf(type, 'latin1') - 4;
  return bytes.subarray(at, at + bytes.readUInt32BE(at));
}

function picture({
  width,
  height,
  config,
  frame,
}: {
  width: number;
  height: number;
  config: Buffer;
  frame: Buffer;
}): Buffer {
  const head = box('ftyp', 'heic', u32(0), 'mif1heic');
  const metaAt = (offset: number): Buffer =>
    full(
      'meta',
      0,
      full('hdlr', 0, u32(0), 'pict', Buffer.alloc(13)),
      full('pitm', 0, u16(1)),
      full('iloc', 0, Buffer.from([0x44, 0x00]), u16(1), u16(1), u16(0), u16(1), u32(offset), u32(frame.length)),
      full('iinf', 0, u16(1), full('infe', 2, u16(1), u16(0), 'hvc1\0')),
      box(
        'iprp',
        box('ipco', config, full('ispe', 0, u32(width), u32(height))),
        full('ipma', 0, u32(1), u16(1), Buffer.from([2, 0x81, 0x02])),
      ),
    );
  const offset = head.length + metaAt(0).length + 8;
  return Buffer.concat([head, metaAt(offset), box('mdat', frame)]);
}
