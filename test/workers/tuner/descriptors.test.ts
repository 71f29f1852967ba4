// A tuner on a machine that has no more descriptors.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

/**
 * Starts copies with ever more free descriptors; prints how each start ended, and how many descriptors are left open. With six or seven
 * Node itself leaks pipes of the child.
 */
const SCRIPT = `
  import { closeSync, openSync, readdirSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { StreamCopy } from '#workers/tuner/streams/copying.ts';
  const count = () => readdirSync('/proc/self/fd').length;
  async function start(hold) {
    const copy = new StreamCopy(async () => []);
    const held = hold();
    const end = await Promise.race([copy.start().then(() => 'started', () => 'refused'), sleep(3000, 'hangs')]);
    for (const one of held) closeSync(one);
    copy.kill();
    await sleep(100);
    return end;
  }
  function holdAllBut(free) {
    const held = [];
    try {
      for (;;) held.push(openSync('/dev/null'));
    } catch {}
    for (const one of held.splice(0, free)) closeSync(one);
    return held;
  }
  await start(() => []);
  const before = count();
  const ends = [];
  for (const free of [0, 1, 2, 3, 4, 5, 20]) ends.push(await start(() => holdAllBut(free)));
  await sleep(500);
  process.stdout.write(JSON.stringify({ ends, left: count() - before }));
  process.exit();
`;

describe('a copy of a channel without descriptors', function () {
  this.timeout(90_000);

  it('is refused, and leaves none open', async () => {
    const node = [process.execPath, '--input-type=module', '-e', SCRIPT];
    const { stdout } = await promisify(execFile)('prlimit', ['--nofile=128:', ...node]);
    const { ends, left } = JSON.parse(stdout) as { ends: string[]; left: number };
    expect({ ends, left }).to.deep.equal({ ends: [...new Array(6).fill('refused'), 'started'], left: 0 });
  });
});
