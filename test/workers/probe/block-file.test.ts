import fs from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '#support/stores.ts';
import { BlockFile } from '#workers/probe/music/file-tokenizer.ts';

const BLOCK = 16 * 1024;

describe('a file that is read by blocks', () => {
  it('has its own bytes at each place after a read that failed halfway', async () => {
    const path = join(temporaryFolder('blocks'), 'file');
    const bytes = Buffer.concat([1, 2, 3].map((value) => Buffer.alloc(BLOCK, value)));
    await writeFile(path, bytes);
    const file = new BlockFile(path);
    const { readSync } = fs;
    const fail = (_file: number, target: Uint8Array): never => {
      target.fill(9);
      throw new Error('EIO');
    };
    try {
      for (const at of [0, BLOCK]) {
        expect(file.block(at, BLOCK).equals(bytes.subarray(at, at + BLOCK)), `${at}`).to.equal(true);
        Object.assign(fs, { readSync: fail });
        syncBuiltinESMExports();
        expect(() => file.block(2 * BLOCK, BLOCK)).to.throw('EIO');
        Object.assign(fs, { readSync });
        syncBuiltinESMExports();
        expect(file.block(at, BLOCK).equals(bytes.subarray(at, at + BLOCK)), `${at} later`).to.equal(true);
      }
    } finally {
      Object.assign(fs, { readSync });
      syncBuiltinESMExports();
      await file.close();
    }
  });
});
