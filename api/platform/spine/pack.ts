// Reads a pack by ranges: its head, then one block after another.
import { promisify } from 'node:util';
import { constants, zstdDecompress } from 'node:zlib';
import { type Head, headBytes, PackRefused, PREFIX_BYTES, readHead, sha256Of, type TrustedKey } from './manifest.ts';
import { BadRow, type Row, readRow } from './work.ts';

const unpack = promisify(zstdDecompress);
/** 8 MiB: a block cannot take more memory. */
const WINDOW = { [constants.ZSTD_d_windowLogMax]: 23 };

/** The bytes `start` to `end` of a file, without `end`; fewer where the file ends. */
export type Ranges = (start: number, end: number) => Promise<Buffer>;

/** Throws `PackRefused`. */
export async function openPack(read: Ranges, trusted: readonly TrustedKey[]): Promise<Head> {
  return readHead(await read(0, headBytes(await read(0, PREFIX_BYTES))), trusted);
}

/** The lines of a block, whose hash the head names. Throws `PackRefused`. */
export async function blockLines(read: Ranges, head: Head, number: number): Promise<string[]> {
  const block = head.manifest.blocks[number];
  if (!block) throw new RangeError(`the pack has no block ${number}`);
  const before = head.manifest.blocks.slice(0, number).reduce((sum, { bytes }) => sum + bytes, head.length);
  const packed = await read(before, before + block.bytes);
  const altered = new PackRefused('altered', `block ${number} is not the one that was signed`);
  if (packed.length !== block.bytes || sha256Of(packed) !== block.sha256) throw altered;
  const bytes = await unpack(packed, { maxOutputLength: block.unpackedBytes, params: WINDOW }).catch(() => undefined);
  if (bytes?.length !== block.unpackedBytes) throw altered;
  const lines = bytes.toString('utf8').split('\n');
  if (lines.pop() !== '' || lines.length !== block.rows) throw altered;
  return lines;
}

/** The row of a line. Throws `PackRefused` with the reason `invalid-row`. */
export function packRow(line: string): Row {
  try {
    return readRow(line);
  } catch (error) {
    throw error instanceof BadRow ? new PackRefused('invalid-row', error.message) : error;
  }
}
