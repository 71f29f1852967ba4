import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { WrongUse } from '../../hack/gate/files.ts';
import { optionsOf } from '../../hack/gate/options.ts';

describe('the words after hack/test', () => {
  const usual = { full: false, keepSeconds: false, lanes: availableParallelism() + 1 };
  const RIGHT: [words: string, options: object][] = [
    ['', {}],
    ['subtitles', { pattern: 'subtitles' }],
    ['--full --without a|b', { full: true, without: 'a|b' }],
    ['--changed', { changedSince: 'main' }],
    ['--changed --full', { changedSince: 'main', full: true }],
    ['--changed HEAD~3 subtitles', { changedSince: 'HEAD~3', pattern: 'subtitles' }],
    ['--changed=HEAD --lanes 1 --keep-seconds', { changedSince: 'HEAD', lanes: 1, keepSeconds: true }],
  ];
  for (const [words, options] of RIGHT)
    it(`are understood: ${words || 'none'}`, () =>
      expect(optionsOf(words.split(' ').filter(Boolean))).to.deep.equal({ ...usual, ...options }));

  for (const words of ['--ful', 'one two', '--lanes none', '--lanes 0', '--without'])
    it(`are refused: ${words}`, () => expect(() => optionsOf(words.split(' '))).to.throw(WrongUse));

  const gate = (...words: string[]): Promise<{ code: unknown; out: string; errors: string }> =>
    new Promise((done) => {
      execFile(process.execPath, ['hack/gate/main.ts', ...words], (error, out, errors) =>
        done({ code: error?.code ?? 0, out, errors }),
      );
    });

  it('end a run at once that has none of them right', async () => {
    const errors = 'hack/test: git knows no commit no-such-commit that this one grew from\n';
    expect(await gate('--changed', 'no-such-commit')).to.deep.equal({ code: 2, out: '', errors });
  });

  it('fail a run that has no test file', async () => {
    const { code, out } = await gate('no such test file');
    expect(code).to.equal(1);
    expect(out).to.match(/^0 files in 0 s\n0 unsteady\n0 passed, 0 failed\n$/);
  });

  it('run the files that they pick, and end with the counts', async function () {
    this.timeout(120_000);
    const { code, out } = await gate('test/hack/lock');
    expect(code).to.equal(0);
    expect(out).to.match(/test\/hack\/lock\.test\.ts \(\d.*\n1 files in \d+ s\n0 unsteady\n\d passed, 0 failed\n$/);
  });
});
