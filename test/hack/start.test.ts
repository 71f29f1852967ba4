// Mistakes of a newcomer are reported before anything is installed: these run where there is no npm, which the
// installation needs first.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findProgram } from '#operator/local/programs.ts';

describe('hack/start', () => {
  let dir: string;

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-start-'));
    mkdirSync(join(dir, 'bin'));
    for (const name of ['bash', 'sed', 'dirname', 'mkdir'])
      symlinkSync(findProgram([name]) ?? '', join(dir, 'bin', name));
  });
  after(() => rmSync(dir, { recursive: true }));

  const start = (args: readonly string[], env: Record<string, string> = {}): Promise<[code: unknown, errors: string]> =>
    new Promise((done) => {
      execFile('hack/start', args, { env: { PATH: join(dir, 'bin'), ...env } }, (error, out, errors) =>
        done([error?.code ?? 0, out + errors]),
      );
    });

  const wrong: [string, string[], RegExp][] = [
    ['an unknown option', ['--prot', '8081'], /^hack\/start: unknown option --prot\n/],
    ['a word of no option', ['media'], /^hack\/start: unknown option media\n/],
    ['an invalid port', ['--port', '80a'], /^hack\/start: 80a is no port\n/],
    ['a port beyond the last', ['--port=65536'], /^hack\/start: 65536 is no port\n/],
    ['an option without its value', ['--data'], /^hack\/start: --data needs a value\n/],
    [
      'a file that is not there',
      ['-f', '/nowhere/home.yaml'],
      /^hack\/start: there is no file or folder \/nowhere\/home.yaml\n/,
    ],
    [
      'a data directory that cannot be made',
      ['--data', '/proc/foyer'],
      /^hack\/start: the data directory \/proc\/foyer cannot be/,
    ],
  ];
  for (const [what, args, errors] of wrong) {
    it(`reports ${what} at once, with the usage`, async () => {
      const [code, text] = await start(args);
      expect(text).to.match(errors);
      expect(text).to.contain('hack/start [--data DIR] [--port N]');
      expect(code).to.equal(2);
    });
  }

  it('reports at once that the folder of FOYER_MEDIA is missing', async () => {
    const [code, text] = await start([], { FOYER_MEDIA: '/nowhere at all' });
    expect([code, text.split('\n')[0]]).to.deep.equal([
      2,
      'hack/start: there is no folder /nowhere at all (FOYER_MEDIA)',
    ]);
  });

  it('accepts valid arguments, and continues to its requirements', async () => {
    const [code, text] = await start([
      `--data=${join(dir, 'a b')}`,
      '--port',
      '0',
      '--open-setup',
      '-f',
      'manifests/samples/home.yaml',
    ]);
    expect([code, text]).to.deep.equal([
      1,
      'Foyer needs Node 20 or newer with npm: install them from https://nodejs.org or your distribution.\n',
    ]);
    expect((await start(['--help']))[1]).to.contain('--open-setup allows');
  });
});
