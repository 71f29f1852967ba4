import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { expect } from 'chai';
import { DiskFull, judgeSpace, requireSpace, saysFull } from '#platform/disk.ts';
import { temporaryFolder } from '#support/stores.ts';

const GIB = 2 ** 30;

describe('space on a disk', () => {
  it('is low before it is full, on large and small file systems', () => {
    const states = (total: number, ...free: number[]) => free.map((one) => judgeSpace(one, total).state);
    expect(states(4000 * GIB, 6 * GIB, 4 * GIB, GIB + 1, GIB - 1)).to.deep.equal(['ok', 'low', 'low', 'full']);
    expect(states(10 * GIB, 1.1 * GIB, 0.9 * GIB, 0.4 * GIB, 0)).to.deep.equal(['ok', 'low', 'full', 'full']);
  });

  it('is refused to a write that would reach into the reserve', async () => {
    const folder = temporaryFolder('disk');
    await requireSpace(folder, 1000);
    const refused = await requireSpace(folder, Number.MAX_SAFE_INTEGER).catch((error: unknown) => error);
    expect(refused).to.be.an.instanceOf(DiskFull);
  });

  it('is the value of Postgres, the file system and an S3 store', () => {
    const coded = (code: string) => Object.assign(new Error('x'), { code });
    for (const code of ['ENOSPC', 'EDQUOT', '53100', 'XMinioStorageFull'])
      expect(saysFull(coded(code)), code).to.equal(true);
    for (const code of ['EIO', '23505']) expect(saysFull(coded(code)), code).to.equal(false);
  });
});

describe('a log that cannot be written', () => {
  it('ends no process, and holds no more than a megabyte of waiting lines', async () => {
    const script = `import { createLog } from '#platform/log.ts';
      const log = createLog('info', 'test');
      const line = 'x'.repeat(1000);
      for (let i = 0; i < 50_000; i += 1) { log.info(line); if (i % 1000 === 0) await new Promise(setImmediate); }
      process.exit(process.memoryUsage().rss < 200e6 ? 0 : 3);`;
    const args = ['--input-type=module', '-e', script];
    const child = spawn(process.execPath, args, { stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'] });
    let logged = '';
    child.stderr?.on('data', (chunk) => {
      logged += String(chunk);
    });
    const [code] = await once(child, 'exit');
    expect(code, logged).to.equal(0);
  });
});
