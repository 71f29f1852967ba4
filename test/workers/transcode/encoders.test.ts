import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLog } from '#platform/log.ts';
import { temporaryFolder } from '#support/stores.ts';
import { chooseEncoder } from '#workers/transcode/encoders.ts';

describe('chooseEncoder', () => {
  const log = createLog('silent', 'test');

  it('is software where there is no card', async () => {
    expect(await chooseEncoder('nvenc', log)).to.include({ name: 'libx264', gpu: false });
  });

  it('refuses to work where nothing encodes', async () => {
    const { PATH } = process.env;
    const folder = temporaryFolder('path');
    symlinkSync('/usr/bin/prlimit', join(folder, 'prlimit')); // and no ffmpeg
    process.env.PATH = folder;
    try {
      const message = await chooseEncoder('auto', log).catch((error: Error) => error.message);
      expect(message).to.match(/^nothing encodes here: prlimit: failed to execute/);
    } finally {
      process.env.PATH = PATH;
    }
  });
});
