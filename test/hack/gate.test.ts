// The gate on files of its own: whatever becomes of a test file, it is counted, and a file that does not end well
// fails.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { eventually } from '#support/stores.ts';
import { longestFirst, merged } from '../../hack/gate/files.ts';
import { type Gate, type Result, runGate, type Step, verdict } from '../../hack/gate/gate.ts';

/** From the state on, which is the first. */
const statOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
const secondsOf = (pid: number): number => Number(statOf(pid)[11]) / 100;
const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);

const fileOf = (name: string): string => `test/hack/gate-files/${name}.ts`;

describe('hack/test', function () {
  this.timeout(120_000);
  let folder = '';
  let printed = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foyer-gate-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function gate(names: readonly string[], more: Partial<Gate> = {}): Promise<Result> {
    printed = '';
    return runGate({
      steps: [],
      files: names.map(fileOf),
      seconds: {},
      lanes: 2,
      run: {
        env: { GATE_OWN: 'given', GATE_MARK: join(folder, 'mark') },
        bounds: { fileMs: (file) => (file === fileOf('hangs') ? 4000 : 60_000), endMs: 1000 },
      },
      cluster: async () => undefined,
      print: (line) => {
        printed += `${line}\n`;
      },
      ...more,
    });
  }

  it('counts passed tests, with the seconds of each file', async () => {
    const result = await gate(['passes']);
    expect(result).to.deep.include({ passed: 2, failed: 0, unsteady: [] });
    expect(verdict(result)).to.deep.equal({ text: '0 unsteady\n2 passed, 0 failed\n', code: 0 });
    expect(printed).to.match(/^ {2}ok +\d+\.\d s {2}test\/hack\/gate-files\/passes\.ts \(2; CPU \d+\.\d s\)\n$/);
    expect(result.seconds.get(fileOf('passes'))).to.be.greaterThan(0);
  });

  it('doubles the limits of tests and hooks', async () => {
    expect(await gate(['patient'])).to.deep.include({ passed: 1, failed: 0 });
  });

  const WRONG: [name: string, passed: number, printedText: RegExp][] = [
    ['fails', 1, /the expected outcome/],
    ['hook', 0, /the hook fails/],
    ['broken', 0, /it cannot be loaded/],
    ['empty', 0, /no test ran/],
    ['only', 0, /only/],
    ['exits', 0, /its process ended \(0\) before the file had ended/],
    ['killed', 0, /its process ended \(SIGKILL\) before the file had ended/],
    ['hangs', 0, /not ended after 4 s/],
    ['slow-end', 1, /did not end well after it \(it hung\)/],
  ];
  for (const [name, passed, printedText] of WRONG) {
    it(`fails by a file that ${name}, after trying it once more, and runs the files next to it`, async () => {
      const result = await gate([name, 'passes']);
      expect(result).to.deep.include({ passed: passed + 2, failed: 1, unsteady: [] });
      expect(verdict(result).code).to.equal(1);
      expect(printed).to.match(printedText);
      expect(printed).to.match(new RegExp(`once more, alone: ${fileOf(name)}\n`));
      expect(printed).to.match(new RegExp(`  failed: ${fileOf(name)}\n$`));
    });
  }

  const LEFT: [name: string, printedText: RegExp][] = [
    ['leaves-rejection', /too late for its test/],
    ['leaves-exit', /its process ended \(0\)/],
  ];
  for (const [name, printedText] of LEFT) {
    it(`fails by the effect of a file that ${name} on the next one`, async () => {
      const result = await gate([name, 'waits', 'passes', 'fails', 'hook'], {
        lanes: 1,
        seconds: { [fileOf(name)]: 30 },
        againMax: 2,
      });
      expect(result.failed).to.equal(3);
      expect(printed).to.match(printedText);
    });
  }

  it('continues with the files after one that ended its process', async () => {
    const names = ['exits', 'killed', 'fails', 'passes'];
    const result = await gate(names, { lanes: 1 });
    expect(result).to.deep.include({ passed: 3, failed: 3, unsteady: [] });
    for (const name of names) expect(printed).to.contain(fileOf(name));
  });

  it('names a test that fails once and passes alone as unsteady, and does not fail by it', async () => {
    const result = await gate(['unsteady', 'passes']);
    expect(result).to.deep.include({ passed: 3, failed: 0, unsteady: [fileOf('unsteady')] });
    expect(verdict(result)).to.deep.equal({ text: '1 unsteady\n3 passed, 0 failed\n', code: 0 });
    const end = printed.slice(printed.indexOf(`how ${fileOf('unsteady')} failed:`));
    expect(end, 'repeated at the end').to.match(/^how .*\n[\s\S]*1\) [\s\S]*unsteady: /);
  });

  it('runs a file that needs the machine alone when all others have ended', async () => {
    const names = ['alone', 'waits', 'passes'];
    await gate(names, { lanes: 3, seconds: { [fileOf('alone')]: 30 } });
    const order = [...printed.matchAll(/gate-files\/(\w+)\.ts/g)].map(([, name]) => name);
    expect(order).to.have.members(names);
    expect(order.at(-1)).to.equal('alone');
  });

  it('does not retry failures of more files than it may', async () => {
    rmSync(join(folder, 'mark'));
    const result = await gate(['fails', 'broken', 'unsteady', 'passes'], { againMax: 2 });
    expect(result).to.deep.include({ passed: 3, failed: 3, unsteady: [] });
    expect(printed).not.to.contain('once more');
  });

  it('fails by a step that fails, and counts those that do not', async () => {
    const steps: Step[] = [
      { name: 'first', command: ['sh', '-c', 'echo why it fails; exit 3'] },
      { name: 'second', command: ['true'] },
      { name: 'third', command: ['there-is-no-such-program'] },
    ];
    const result = await gate(['passes'], { steps });
    expect(result).to.deep.include({ passed: 3, failed: 2 });
    expect(printed).to.match(/FAIL .* first\nwhy it fails/);
  });

  it('leaves no process that runs files when it is killed, not even one that never lets go', async () => {
    const own = `import { runFiles } from '${resolve('hack/gate/lanes.ts')}';
      const bounds = { fileMs: () => 60_000, endMs: 1000 };
      await runFiles(['${fileOf('hangs')}'], { lanes: 1, bounds, env: {}, onOutcome() {} });`;
    const script = join(folder, 'gate.mjs');
    writeFileSync(script, own);
    const killed = spawn(process.execPath, [script], { stdio: 'ignore' });
    const lane = await eventually(() => childOf(killed.pid ?? 0));
    await eventually(() => secondsOf(lane) > 2); // it is in the file by then
    killed.kill('SIGKILL');
    await eventually(() => !existsSync(`/proc/${lane}/stat`) || statOf(lane)[0] === 'Z');
  });

  it('has not passed when nothing ran', async () => {
    expect(verdict(await gate([])).code).to.equal(1);
  });

  it('takes the longest files first, and one that it does not know before short ones', () => {
    expect(longestFirst(['a', 'b', 'c', 'd'], { a: 1, b: 100, c: 2 })).to.deep.equal(['b', 'd', 'c', 'a']);
  });

  it('keeps seconds of files that were not run, and none of files that are gone', () => {
    const old = { 'package.json': 3, 'README.md': 7, gone: 9 };
    expect(JSON.parse(merged(old, new Map([['package.json', 4.26]])))).to.deep.equal({
      'README.md': 7,
      'package.json': 4.3,
    });
  });
});
