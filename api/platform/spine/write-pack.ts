// Makes a pack of works, equal input giving equal bytes.
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { type Manifest, sha256Of, writeHead } from './manifest.ts';
import { type Row, rowKey } from './work.ts';

const pack = promisify(zstdCompress);
const BLOCK_BYTES = 2 ** 20;
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 12 };

/** What the manifest says besides what follows from the rows. */
export type Described = Omit<Manifest, 'blocks' | 'works' | 'signedBy' | 'kinds'>;

export interface Written {
  sha256: string;
  sizeBytes: number;
  works: Manifest['works'];
}

const KIND_OF: Record<string, Manifest['kinds'][number]> = {
  ...{ movie: 'film', show: 'show', season: 'show', episode: 'show' },
  ...{ artist: 'music', album: 'music', track: 'music', book: 'book' },
};

/** Writes rows that are sorted by their keys. */
export async function writePack(
  target: string,
  rows: AsyncIterable<Row>,
  { described, signer }: { described: Described; signer: { privateKey: string; name: string } },
): Promise<Written> {
  const body = `${target}.blocks`;
  const file = await open(body, 'w');
  const blocks: Manifest['blocks'] = [];
  const works: Manifest['works'] = {};
  try {
    for await (const lines of blocksOf(rows, works)) {
      const plain = Buffer.from(lines.join(''));
      const bytes = await pack(plain, { params: LEVEL });
      await file.write(bytes);
      const { length } = bytes;
      blocks.push({ bytes: length, unpackedBytes: plain.length, rows: lines.length, sha256: sha256Of(bytes) });
    }
    await file.close();
    const kinds = [...new Set(Object.keys(works).flatMap((kind) => KIND_OF[kind] ?? []))].sort();
    const head = writeHead({ ...described, kinds, works, blocks }, signer);
    await pipeline(async function* () {
      yield head;
      yield* createReadStream(body) as AsyncIterable<Buffer>;
    }, createWriteStream(target));
    const sizeBytes = blocks.reduce((sum, { bytes }) => sum + bytes, head.length);
    return { sha256: sha256Of(head), sizeBytes, works };
  } finally {
    await file.close().catch(() => undefined); // closed before the pack is put together
    await rm(body, { force: true });
  }
}

/** Lines of a block each; counts the rows by their kinds. */
async function* blocksOf(rows: AsyncIterable<Row>, works: Manifest['works']): AsyncGenerator<string[]> {
  let lines: string[] = [];
  let size = 0;
  let last = '';
  for await (const row of rows) {
    const key = rowKey(row);
    if (key <= last) throw new Error(`${key} does not stand behind ${last}`);
    last = key;
    if (!('gone' in row)) works[row.kind] = (works[row.kind] ?? 0) + 1;
    const line = `${JSON.stringify(row)}\n`;
    const bytes = Buffer.byteLength(line);
    if (size > 0 && size + bytes > BLOCK_BYTES) {
      yield lines;
      lines = [];
      size = 0;
    }
    lines.push(line);
    size += bytes;
  }
  if (lines.length > 0) yield lines;
}
