import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Timing, usualTiming } from '#operator/local/child.ts';
import { rotateLog } from '#operator/local/log-file.ts';
import { endOrphans } from '#operator/local/orphans.ts';
import { identityOf } from '#operator/local/process-identity.ts';
import type { ProcessSpec } from '#operator/local/process-spec.ts';
import { freePort, portIsFree } from '#operator/local/state.ts';
import { Supervisor } from '#operator/local/supervisor.ts';
import { until } from '#operator/server-api/server-client.ts';

// A child that writes down its starts, and follows the present content of its file `how`.
const CHILD = `
const { appendFileSync, readFileSync } = require('node:fs');
const { spawn } = require('node:child_process');
const how = (() => { try { return readFileSync(process.env.DIR + '/how', 'utf8'); } catch { return ''; } })();
if (how === 'spawn') appendFileSync(process.env.DIR + '/grandchildren', spawn('sleep', ['600'], { stdio: 'ignore' }).pid + '\\n');
process.on('SIGTERM', () => { if (how !== 'deaf') { appendFileSync(process.env.DIR + '/ends', process.env.MARK + '\\n'); process.exit(0); } });
appendFileSync(process.env.DIR + '/starts', process.env.MARK + ' ' + process.pid + ' ' + Date.now() + '\\n');
if (how === 'crash') process.exit(3);
if (how === 'serve') require('node:http').createServer((_, r) => r.end()).listen(process.env.FOYER_METRICS_PORT, '127.0.0.1');
setInterval(() => {}, 1000);
`;

const quick: Timing = {
  ...usualTiming,
  firstPauseMs: 40,
  maxPauseMs: 320,
  healthyMs: 10_000,
  probeMs: 100,
  settleMs: 100,
};
const alive = (pid: number): boolean => identityOf(pid) !== undefined;

describe('supervisor', () => {
  let dir: string;
  const supervisors: Supervisor[] = [];

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-supervisor-'));
    for (const name of ['logs', 'run']) mkdirSync(join(dir, name));
    writeFileSync(join(dir, 'child.cjs'), CHILD);
  });

  afterEach(async () => {
    for (const supervisor of supervisors.splice(0)) await supervisor.stop();
    await endOrphans(dir, 100);
    rmSync(dir, { recursive: true });
  });

  function supervise(options: Partial<ConstructorParameters<typeof Supervisor>[0]> = {}): Supervisor {
    const supervisor = new Supervisor({ dir, timing: quick, ...options });
    supervisors.push(supervisor);
    return supervisor;
  }

  const spec = (more: Partial<ProcessSpec> = {}, mark = 'a'): ProcessSpec => ({
    name: 'worker-1',
    role: 'worker',
    command: process.execPath,
    args: [join(dir, 'child.cjs')],
    env: { DIR: dir, MARK: mark },
    cwd: dir,
    stopSignal: 'SIGTERM',
    graceMs: 2000,
    overlaps: true,
    ...more,
  });
  const how = (word: string) => writeFileSync(join(dir, 'how'), word);
  const rows = (file: string): string[] =>
    existsSync(join(dir, file)) ? readFileSync(join(dir, file), 'utf8').trim().split('\n') : [];
  const starts = () =>
    rows('starts').map((line) => {
      const [mark, pid, at] = line.split(' ');
      return { mark, pid: Number(pid), at: Number(at) };
    });
  const eventually = async (holds: () => boolean) => expect(await until(async () => holds(), 10_000)).to.equal(true);

  it('starts missing processes and leaves running ones', async () => {
    const supervisor = supervise();
    expect((await supervisor.apply([spec()], ['worker'])).map((action) => action.do)).to.deep.equal(['start']);
    await eventually(() => starts().length === 1 && supervisor.children()[0]?.state === 'ready');
    expect(await supervisor.apply([spec()], ['worker'])).to.deep.equal([]);
    expect(await supervisor.apply([], ['api'])).to.deep.equal([]);
    expect(starts()).to.have.length(1);
    await supervisor.apply([], ['worker']);
    await eventually(() => rows('ends').length === 1);
  });

  it('continues where nothing can be written any more, and reports so', async () => {
    const supervisor = supervise();
    const faults: string[] = [];
    supervisor.on('fault', ({ message }) => faults.push(message));
    await supervisor.apply([spec()], ['worker']);
    await eventually(() => starts().length === 1);
    rmSync(join(dir, 'run'), { recursive: true }); // as a full disk, which tests cannot have
    process.kill(starts()[0]?.pid ?? 0, 'SIGKILL');
    await eventually(() => starts().length === 2);
    expect(faults[0]).to.contain('children.json');
    mkdirSync(join(dir, 'run'));
  });

  it('passes on only the environment of the spec', async () => {
    process.env.FOYER_SECRET_OF_THE_OPERATOR = 'x';
    const args = ['-e', `require('fs').writeFileSync('${join(dir, 'env')}', Object.keys(process.env).sort().join())`];
    await supervise().apply([spec({ args })], ['worker']);
    await eventually(() => existsSync(join(dir, 'env')));
    delete process.env.FOYER_SECRET_OF_THE_OPERATOR;
    expect(readFileSync(join(dir, 'env'), 'utf8')).to.equal('DIR,FOYER_METRICS_PORT,FOYER_POD,MARK');
  });

  async function pausesOf(timing: Timing, count: number): Promise<number[]> {
    how('crash');
    const supervisor = supervise({ timing });
    const pauses: number[] = [];
    supervisor.on('change', () => {
      const [child] = supervisor.children();
      if (child?.state === 'backoff') pauses.push(child.pauseMs);
    });
    await supervisor.apply([spec()], ['worker']);
    await eventually(() => pauses.length >= count);
    how('');
    await eventually(() => supervisor.children()[0]?.state === 'ready');
    return pauses.slice(0, count);
  }

  it('starts a crashing child again after pauses that double up to a limit', async () => {
    expect(await pausesOf({ ...quick, firstPauseMs: 20, maxPauseMs: 100 }, 5)).to.deep.equal([20, 40, 80, 100, 100]);
    expect(starts().length).to.be.greaterThan(4);
  });

  it('starts with a small pause again once a child was healthy', async () => {
    expect(await pausesOf({ ...quick, firstPauseMs: 20, healthyMs: 0 }, 3)).to.deep.equal([20, 20, 20]);
  });

  it('restarts a child that served for a while without a pause when it was ended from outside', async () => {
    const supervisor = supervise({ timing: { ...quick, firstPauseMs: 5000, steadyMs: 50, settleMs: 20 } });
    await supervisor.apply([spec()], ['worker']);
    for (let round = 1; round <= 4; round += 1) {
      await eventually(() => starts().length === round && supervisor.children()[0]?.state === 'ready');
      await sleep(80);
      process.kill(starts()[round - 1]?.pid ?? 0, 'SIGKILL');
      await eventually(() => starts().length === round + 1);
      expect(supervisor.children()[0]?.pauseMs).to.equal(0);
    }
  });

  it('lets a child wait that crashes by a signal, however long it served', async () => {
    const supervisor = supervise({ timing: { ...quick, firstPauseMs: 30, steadyMs: 10, settleMs: 20 } });
    await supervisor.apply([spec()], ['worker']);
    for (let round = 1; round <= 2; round += 1) {
      await eventually(() => starts().length === round && supervisor.children()[0]?.state === 'ready');
      await sleep(50);
      process.kill(starts()[round - 1]?.pid ?? 0, 'SIGABRT');
    }
    await eventually(() => starts().length === 3);
    expect(supervisor.children()[0]?.pauseMs).to.equal(60);
  });

  it('lets a child that a signal ends at its start wait as one that crashes', async () => {
    const supervisor = supervise({ timing: { ...quick, firstPauseMs: 30, steadyMs: 60_000 } });
    await supervisor.apply([spec()], ['worker']);
    await eventually(() => starts().length === 1);
    process.kill(starts()[0]?.pid ?? 0, 'SIGKILL');
    await eventually(() => starts().length === 2);
    process.kill(starts()[1]?.pid ?? 0, 'SIGKILL');
    await eventually(() => starts().length === 3);
    expect(supervisor.children()[0]?.pauseMs).to.equal(60);
  });

  it('ends the processes that a child leaves behind in its group', async () => {
    how('spawn');
    const supervisor = supervise();
    await supervisor.apply([spec()], ['worker']);
    await eventually(() => starts().length === 1);
    const grandchild = Number(rows('grandchildren')[0]);
    expect(alive(grandchild)).to.equal(true);
    process.kill(starts()[0]?.pid ?? 0, 'SIGKILL');
    await eventually(() => !alive(grandchild) && starts().length === 2);
  });

  it('kills a child that is deaf to its stop signal', async () => {
    how('deaf');
    const supervisor = supervise();
    await supervisor.apply([spec({ graceMs: 200 })], ['worker']);
    await eventually(() => starts().length === 1);
    await supervisor.stop();
    expect(alive(starts()[0]?.pid ?? 0)).to.equal(false);
  });

  it('keeps the old one until its replacement is ready', async () => {
    const probe = async (child: { spec: ProcessSpec }) => child.spec.env.MARK !== 'bad';
    const supervisor = supervise({ probes: { worker: probe } });
    await supervisor.apply([spec()], ['worker']);
    await eventually(() => starts().length === 1 && supervisor.children()[0]?.state === 'ready');
    await supervisor.apply([spec({}, 'bad')], ['worker']);
    await eventually(() => starts().length === 2);
    await sleep(300);
    expect(supervisor.replacing).to.equal(true);
    expect(supervisor.children().map((child) => supervisor.isServed(child))).to.deep.equal([true]);
    expect(alive(starts()[0]?.pid ?? 0)).to.equal(true);
    await supervisor.apply([spec({}, 'good')], ['worker']);
    await eventually(() => starts().length === 3 && !supervisor.replacing);
    await eventually(() => rows('ends').sort().join() === 'a,bad');
    expect(alive(starts()[2]?.pid ?? 0)).to.equal(true);
  });

  it('takes a child that stopped answering for hung', async () => {
    how('serve');
    const probe = async (child: { metricsPort: number }) =>
      (await fetch(`http://127.0.0.1:${child.metricsPort}`, { signal: AbortSignal.timeout(300) })).ok;
    const supervisor = supervise({ probes: { worker: probe } });
    await supervisor.apply([spec()], ['worker']);
    await eventually(() => supervisor.children()[0]?.state === 'ready');
    process.kill(starts()[0]?.pid ?? 0, 'SIGSTOP');
    await eventually(() => starts().length === 2 && supervisor.children()[0]?.state === 'ready');
    expect(alive(starts()[0]?.pid ?? 0)).to.equal(false);
  });

  it('gives a store that stopped answering more time than other processes', async () => {
    let answers = true;
    const probed: string[] = [];
    const probe = async (child: { spec: ProcessSpec }) => {
      probed.push(child.spec.name);
      return answers;
    };
    const timing = { ...quick, probeMs: 20, probeFailures: 2, storeProbeFailures: 30 };
    const supervisor = supervise({ timing, probes: { worker: probe, postgres: probe } });
    const store = spec({ name: 'postgres', role: 'postgres' }, 'store');
    await supervisor.apply([spec(), store], ['worker', 'postgres']);
    await eventually(() => supervisor.children().every(({ state }) => state === 'ready'));
    answers = false;
    await eventually(() => starts().filter(({ mark }) => mark === 'a').length >= 2);
    expect(starts().filter(({ mark }) => mark === 'store')).to.have.length(1);
    await eventually(() => starts().filter(({ mark }) => mark === 'store').length === 2);
  });

  it('stops the API first, then workers, then stores', async () => {
    const supervisor = supervise();
    const roles = ['redis', 'worker', 'api'] as const;
    const specs = roles.map((role) => spec({ name: role, role }, role));
    await supervisor.apply(specs, roles);
    await eventually(() => starts().length === 3);
    await supervisor.stop();
    expect(rows('ends')).to.deep.equal(['api', 'worker', 'redis']);
  });

  describe('after kill -9 of the operator', () => {
    async function killedOperator(): Promise<ChildProcess> {
      const module = new URL('../../operator/local/supervisor.ts', import.meta.url).href;
      const script = `import { freePort, portIsFree } from '#operator/local/state.ts';
import { Supervisor } from '${module}';
        const supervisor = new Supervisor({ dir: '${dir}' });
        await supervisor.apply([${JSON.stringify(spec())}], ['worker']);
        setInterval(() => undefined, 1000);`;
      const operator = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
      await eventually(() => starts().length === 1);
      return operator;
    }

    it('its children are ended by the guard', async () => {
      const operator = await killedOperator();
      operator.kill('SIGKILL');
      await eventually(() => !alive(starts()[0]?.pid ?? 0));
      expect(rows('ends')).to.deep.equal(['a']);
    });

    it('its children are ended by the next operator, even where the guard was killed too', async () => {
      how('deaf');
      const operator = await killedOperator();
      operator.kill('SIGSTOP'); // it would start another guard
      const children = readFileSync(`/proc/${operator.pid}/task/${operator.pid}/children`, 'utf8').trim().split(' ');
      const guard = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('guard.sh'));
      process.kill(Number(guard), 'SIGKILL');
      operator.kill('SIGKILL');
      await once(operator, 'exit');
      const child = starts()[0]?.pid ?? 0;
      expect(alive(child)).to.equal(true);
      expect(await endOrphans(dir, 200)).to.deep.equal(['worker-1']);
      expect(alive(child)).to.equal(false);
      expect(await endOrphans(dir, 200)).to.deep.equal([]);
    });
  });

  it('takes a process for gone only when its port is free again', async () => {
    const script = `require('crypto').pbkdf2('a', 'b', 3e6, 64, 'sha512', () => 0);
      require('http').createServer().listen({ port: +process.env.PORT, host: '127.0.0.1' }, () => console.log('up'));`;
    for (let round = 0; round < 15; round++) {
      const port = await freePort();
      const server = spawn(process.execPath, ['-e', script], { env: { PORT: String(port) } });
      await once(server.stdout, 'data');
      server.kill('SIGKILL');
      while (alive(server.pid ?? 0)); // no turn of the loop: Node must not have reaped it
      expect(await portIsFree(port), `round ${round}`).to.equal(true);
    }
  });

  it('never ends a process that only has the pid of a former child', async () => {
    const other = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    const entry = { name: 'worker-1', pid: other.pid, identity: 'another boot:1', signal: 'SIGKILL', last: 'SIGKILL' };
    writeFileSync(join(dir, 'run', 'children.json'), JSON.stringify([entry]));
    expect(await endOrphans(dir, 100)).to.deep.equal([]);
    expect(alive(other.pid ?? 0)).to.equal(true);
    other.kill('SIGKILL');
    await once(other, 'exit');
  });

  it('rotates logs by size without their writer', () => {
    const log = join(dir, 'logs', 'x.log');
    for (const round of ['one', 'two', 'three', 'four', 'five']) {
      writeFileSync(log, round.repeat(10), { flag: 'a' });
      expect(rotateLog(log, 8)).to.equal(true);
      expect(statSync(log).size).to.equal(0);
    }
    expect(rotateLog(log, 8)).to.equal(false);
    expect(readFileSync(`${log}.1`, 'utf8')).to.contain('five');
    expect(readFileSync(`${log}.3`, 'utf8')).to.contain('three');
    expect(existsSync(`${log}.4`)).to.equal(false);
  });
});
