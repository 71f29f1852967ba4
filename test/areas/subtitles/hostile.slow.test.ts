import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import type { Verdict } from '#support/hostile-subtitles.child.ts';
import { atEnd } from '#support/stores.ts';

const FILES = 1000;
const PROCESSES = 2;
const LIMIT_MS = 30_000;
const CHILD = new URL('../../support/hostile-subtitles.child.ts', import.meta.url);

/** Opens every second file in a process of its own, which ends when one takes longer than the limit. */
async function verdictsOf(first: number): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const child = fork(CHILD, [first, PROCESSES, FILES].map(String), { execArgv: ['--max-old-space-size=400'] });
  atEnd(() => child.kill('SIGKILL'));
  const late = (): boolean => child.kill('SIGKILL');
  let timer = setTimeout(late, LIMIT_MS);
  child.on('message', (verdict) => {
    clearTimeout(timer);
    timer = setTimeout(late, LIMIT_MS);
    verdicts.push(verdict as Verdict);
  });
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  expect(code, `the process ended at file ${(verdicts.at(-1)?.number ?? first - PROCESSES) + PROCESSES}`).to.equal(0);
  return verdicts;
}

describe('hostile subtitle files', function () {
  this.timeout(240_000);

  it('have a verdict, each of 1,000, in time and in bounded memory', async () => {
    const verdicts = (await Promise.all([0, 1].map(verdictsOf))).flat();
    expect(verdicts).to.have.length(FILES);
    const slowest = verdicts.reduce((a, b) => (b.ms > a.ms ? b : a));
    expect(slowest.ms, `file ${slowest.number}: ${slowest.word}`).to.be.lessThan(LIMIT_MS / 3);
    expect(Math.max(...verdicts.map(({ memoryMb }) => memoryMb))).to.be.lessThan(1024);
    const words = new Set(verdicts.map(({ word }) => word));
    const expected = ['ass', 'srt', 'vtt', 'archive', 'no-cues', 'size', 'too-many-cues'];
    expect([...words]).to.include.members(expected);
  });
});
