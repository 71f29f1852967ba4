import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { WalkedDirectory } from '#workers/scan/walk/types.ts';

/** In a process of its own, which gives up the rights of root: those read everything. */
async function walkAsNobody(root: string): Promise<WalkedDirectory[]> {
  const program = `const { Walk } = await import('#workers/scan/walk/walk.ts');
    if (process.getuid() === 0) process.setuid(65534);
    const order = { root: process.argv[1], folder: '', type: 'movies', from: [''], ignore: [], version: '1' };
    process.stdout.write(JSON.stringify(new Walk(order).next().directories));`;
  const args = ['--input-type=module', '-e', program, root];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as WalkedDirectory[];
}

describe('Walk', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'foyer-walk-'));
    chmodSync(root, 0o755);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('takes the target of a link for absent only where that is so', async () => {
    mkdirSync(join(root, 'A/closed'), { recursive: true });
    for (const name of ['A', 'B', 'C']) mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, 'A/closed/film.mkv'), 'x');
    symlinkSync(join(root, 'A/closed/film.mkv'), join(root, 'B/film.mkv'));
    symlinkSync(join(root, 'A/closed/notes.xyz'), join(root, 'C/notes.xyz'));
    symlinkSync('nowhere', join(root, 'C/gone.mkv'));
    symlinkSync('round.mkv', join(root, 'C/round.mkv'));
    chmodSync(join(root, 'A/closed'), 0o000);
    const found = await walkAsNobody(root);
    chmodSync(join(root, 'A/closed'), 0o755);
    const states = found.map(({ path, state, issues }) => [path, state, issues.map((issue) => issue.path)]);
    expect(states).to.deep.equal([
      ['', 'listed', []],
      ['A', 'listed', []],
      ['A/closed', 'failed', ['A/closed']],
      ['B', 'failed', ['B/film.mkv']],
      ['C', 'listed', ['C/notes.xyz', 'C/round.mkv']],
    ]);
  });
});
