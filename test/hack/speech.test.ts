// What hack/start installs for speech to text, and when.
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findProgram } from '#operator/local/programs.ts';
import { temporaryFolder } from '#support/stores.ts';

const run = promisify(execFile);

describe('hack/start', () => {
  it('installs speech to text for resources that declare spec.subtitles, and for no others', async () => {
    const wanted = async (file: string): Promise<string> =>
      (await run(process.execPath, ['hack/speech.ts', '-f', `manifests/samples/${file}`])).stdout;
    expect(await wanted('speech-local.yaml')).to.equal('yes');
    expect(await wanted('home.yaml')).to.equal('');
  });

  it('names what to install where there is no Python, and goes on', async () => {
    const dir = temporaryFolder('no-python');
    mkdirSync(join(dir, 'bin'));
    for (const name of ['bash', 'cat']) symlinkSync(findProgram([name]) ?? '', join(dir, 'bin', name));
    const script =
      'root=$PWD; . hack/install.sh; . hack/speech.sh; if install_speech; then echo installed; else echo without; fi';
    const env = { PATH: join(dir, 'bin'), XDG_CACHE_HOME: dir };
    const { stdout, stderr } = await run('bash', ['-c', script], { env });
    expect(stdout).to.equal('without\n');
    expect(stderr).to.contain('apt-get install python3-venv').and.contain('The server starts without it');
  });
});
