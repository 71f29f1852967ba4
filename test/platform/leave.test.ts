import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';

const LEAVES = ['api/platform/leave.ts', 'operator/runtime/leave.ts'];

/** Makes functions hot, also while it is about to end. */
const busy = (leave: string, end: string): string => `
  const { ${end.split('(')[0]} } = await import(${JSON.stringify(pathToFileURL(leave).href)});
  let made = 0;
  const work = () => {
    for (let i = 0; i < 20; i++) {
      const hot = new Function('a', 'let s = ' + made++ + '; for (let k = 0; k < 60; k++) s = (s * 31 + k + a) % 1003; return s');
      for (let k = 0; k < 3000; k++) hot(k);
    }
  };
  setInterval(work, 1);
  setTimeout(() => { process.stdout.write('leaving\\n'); ${end}; }, 200);
`;

async function ended(leave: string, end: string): Promise<{ how: unknown; before: number; after: number }> {
  const child = spawn(process.execPath, ['--trace-opt', '--input-type=module', '-e', busy(leave, end)]);
  const [printed, how] = await Promise.all([
    text(child.stdout),
    once(child, 'exit').then(([code, signal]) => code ?? signal),
  ]);
  const [before = 0, after = 0] = printed.split('leaving\n').map((part) => part.split('[compiling method').length - 1);
  return { how, before, after };
}

describe('the end of a process', () => {
  for (const leave of LEAVES) {
    it(`comes with its code, and with no compile job on its way that it would wait for: ${leave}`, async () => {
      const { how, before, after } = await ended(leave, 'endProcess(7)');
      expect(how).to.equal(7);
      expect(before).to.be.greaterThan(10);
      expect(after).to.equal(0);
    });
  }

  it('comes at once where nothing may hold it up', async () => {
    expect((await ended('api/platform/leave.ts', 'endAtOnce()')).how).to.equal('SIGKILL');
  });
});
