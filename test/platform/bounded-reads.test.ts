import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { temporaryFolder } from '#support/stores.ts';

/** Opens a pipe without a writer, which holds a thread for ever, as often as two places may, and then reads a file of a third one. */
const PROGRAM = `
  const { boundedReads } = await import('#platform/bounded-reads.ts');
  const { createReadStream } = await import('node:fs');
  const [pipe, file] = process.argv.slice(1);
  const read = (place, path) => createReadStream(path, { fs: boundedReads(place) });
  for (let n = 0; n < 40; n += 1) for (const place of ['one', 'two']) read(place, pipe);
  read('other', file).on('data', (bytes) => {
    process.stdout.write(bytes, () => process.kill(process.pid, 'SIGKILL')); // an exit waits for the threads
  });`;

describe('reads of files', function () {
  this.timeout(30_000);

  it('of one place go on while those of two others hang', async () => {
    const folder = temporaryFolder('bounded');
    const [pipe, file] = [join(folder, 'pipe'), join(folder, 'file')];
    execFileSync('mkfifo', [pipe]);
    writeFileSync(file, 'content');
    const args = ['--input-type=module', '-e', PROGRAM, pipe, file];
    const options = {
      env: { ...process.env, UV_THREADPOOL_SIZE: '64' },
      timeout: 15_000,
      killSignal: 'SIGKILL',
    } as const;
    const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(
      (ended: { stdout: string }) => ended,
    );
    expect(stdout).to.equal('content');
  });
});
