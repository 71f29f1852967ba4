// `operator local` with the real server under it: every kind of process is killed in turn, and it heals by itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { identityOf } from '#operator/local/process-identity.ts';
import { portIsFree, State } from '#operator/local/state.ts';
import { readStatus, type Stored } from '#operator/local/status-file.ts';
import { serverClient, until } from '#operator/server-api/server-client.ts';

const SERVER = `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  api: { replicas: 1 }
  workers: { replicas: 1 }
  postgres: { managed: {} }
  redis: { managed: {} }
  objects: { managed: {} }
  media: [{ name: media, hostPath: { path: media } }]
  transcode: { warm: 1, max: 1 }
`;
const LIBRARY = `---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: films }
spec: { serverRef: { name: home }, type: movies, folders: [{ media: media, path: /films }] }
`;
const HEALING_MS = 60_000;

interface Entry {
  name: string;
  pid: number;
}

describe('operator local', () => {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-local-'));
  const data = join(dir, 'data');
  const file = join(dir, 'home.yaml');
  let operator: ChildProcess;
  let output = '';
  let port = 0;

  const start = async (): Promise<void> => {
    output = '';
    const args = ['operator/main.ts', 'local', '-f', file, '--data', data, '--port', String(port)];
    operator = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [operator.stdout, operator.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    await eventually(() => /^ready /m.test(output), 'ready line');
    port = Number(/^ready http:\/\/127\.0\.0\.1:(\d+)$/m.exec(output)?.[1]);
  };
  const stop = async (): Promise<void> => {
    if (operator.exitCode !== null || operator.signalCode !== null) return;
    operator.kill('SIGTERM');
    await once(operator, 'exit');
  };

  const children = (): Entry[] => JSON.parse(readFileSync(join(data, 'run', 'children.json'), 'utf8')) as Entry[];
  const pidOf = (name: string): number => children().find((child) => child.name === name)?.pid ?? 0;
  const alive = (pid: number): boolean => pid > 0 && identityOf(pid) !== undefined;
  const resource = (kind: string): Stored | undefined => readStatus(data)?.find((item) => item.kind === kind);
  const condition = (kind: string, type: string): string | undefined => {
    const list = (resource(kind)?.status.conditions ?? []) as { type?: string; status?: string }[];
    return list.find((entry) => entry.type === type)?.status;
  };
  const statusOf = async (path: string) =>
    (await serverClient(`http://127.0.0.1:${port}`, existsSync(data) ? new State(data).operatorKey : '')('GET', path))
      .status;

  async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const held = await until(async () => holds(), HEALING_MS);
    expect(held, `${what}\n${output}\n${held ? '' : JSON.stringify(readStatus(data), null, 1)}`).to.equal(true);
  }

  before(async () => {
    chmodSync(dir, 0o711);
    mkdirSync(join(dir, 'media', 'films'), { recursive: true });
    writeFileSync(file, SERVER + LIBRARY);
    await start();
  });
  after(async () => {
    await stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('prints its address and the steps of the setup, once', async () => {
    const { claimCode } = new State(data);
    await eventually(() => output.includes('setup'), 'setup line');
    expect(output.trim().split('\n')).to.deep.equal([
      `ready http://127.0.0.1:${port}`,
      `setup http://127.0.0.1:${port}/setup#claim=${claimCode}`,
    ]);
    const all = children().map(({ name }) => name);
    expect(all.sort()).to.deep.equal(['api-1', 'postgres', 'redis', 'transcode-1', 'worker-1']);
  });

  it('keeps the conditions of the resources', async () => {
    await eventually(() => condition('MediaServer', 'Ready') === 'True', 'MediaServer ready');
    await eventually(() => condition('MediaServer', 'Degraded') === 'False', 'MediaServer not degraded');
    await eventually(() => condition('Library', 'Synced') === 'True', 'Library in sync');
    expect(resource('Library')?.status).to.have.property('libraryId');
  });

  it('takes up a library without restarting anything', async () => {
    const before = children().map(({ pid }) => pid);
    const more = LIBRARY.replace('films }', 'attic }').replace('/films', '/attic');
    mkdirSync(join(dir, 'media', 'attic'));
    writeFileSync(file, SERVER + LIBRARY + more);
    await eventually(() => readStatus(data)?.filter(({ status }) => status.libraryId).length === 2, 'second library');
    expect(await statusOf(`/libraries/${String(resource('Library')?.status.libraryId)}`)).to.equal(200);
    writeFileSync(file, SERVER + LIBRARY);
    await eventually(() => readStatus(data)?.filter(({ kind }) => kind === 'Library').length === 1, 'library let go');
    expect(children().map(({ pid }) => pid)).to.have.members(before);
  });

  it('scales the API, and back', async () => {
    const before = pidOf('api-1');
    writeFileSync(file, SERVER.replace('api: { replicas: 1 }', 'api: { replicas: 3 }') + LIBRARY);
    await eventually(() => resource('MediaServer')?.status.apiReady === '3/3', 'three API processes');
    writeFileSync(file, SERVER + LIBRARY);
    await eventually(() => resource('MediaServer')?.status.apiReady === '1/1', 'one API process');
    await eventually(() => children().length === 5, 'the others gone');
    expect(alive(before)).to.equal(true);
  });

  it('keeps running with a bad file, and reports so', async () => {
    const before = children().map(({ pid }) => pid);
    writeFileSync(file, `${SERVER}  colour: red\n${LIBRARY}`);
    await eventually(() => condition('MediaServer', 'SettingsValid') === 'False', 'SettingsValid');
    expect(output).to.contain('spec.colour: unknown field');
    await eventually(async () => (await statusOf('/server/ready')) === 200, 'ready');
    writeFileSync(file, SERVER + LIBRARY);
    await eventually(() => condition('MediaServer', 'SettingsValid') === 'True', 'SettingsValid again');
    expect(children().map(({ pid }) => pid)).to.have.members(before);
  });

  it('refuses a second start on the same data', async () => {
    const second = spawn(process.execPath, ['operator/main.ts', 'local', '-f', file, '--data', data, '--port', '0']);
    let errors = '';
    second.stderr.on('data', (chunk) => (errors += String(chunk)));
    const [code] = (await once(second, 'exit')) as [number];
    expect(code).to.equal(1);
    expect(errors).to.contain(`is in use by the process ${operator.pid}`);
  });

  for (const name of ['api-1', 'worker-1', 'transcode-1', 'redis', 'postgres']) {
    it(`heals after kill -9 of ${name}`, async () => {
      const before = pidOf(name);
      process.kill(before, 'SIGKILL');
      await eventually(() => pidOf(name) !== before && alive(pidOf(name)), `another ${name}`);
      await eventually(async () => (await statusOf('/libraries')) === 200, 'an answer from the database');
      await eventually(() => condition('MediaServer', 'Degraded') === 'False', 'all well again');
    });
  }

  it('heals after kill -9 of itself, with the same data', async () => {
    const { libraryId } = resource('Library')?.status ?? {};
    const left = children().map(({ pid }) => pid);
    operator.kill('SIGKILL');
    await once(operator, 'exit');
    await start();
    expect(left.filter(alive)).to.deep.equal([]);
    await eventually(() => condition('Library', 'Synced') === 'True', 'Library in sync again');
    expect(resource('Library')?.status.libraryId).to.equal(libraryId);
  });

  it('waits for a child of a killed operator that still holds the port', async () => {
    operator.kill('SIGKILL');
    await once(operator, 'exit');
    const lock = join(data, 'run', 'operator.lock');
    expect(existsSync(lock)).to.equal(true);
    await eventually(() => portIsFree(port), 'the port');
    const script = `require('net').createServer().listen(${port}, '127.0.0.1', () => console.log('up')); setTimeout(() => process.exit(), 2500)`;
    const leaving = spawn(process.execPath, ['-e', script]);
    await once(leaving.stdout, 'data');
    await start();
  });

  it('refuses a port that another program holds', async () => {
    const args = ['operator/main.ts', 'local', '-f', file, '--data', join(dir, 'other'), '--port', String(port)];
    const other = spawn(process.execPath, args);
    let errors = '';
    other.stderr.on('data', (chunk) => (errors += String(chunk)));
    expect((await once(other, 'exit'))[0]).to.equal(1);
    expect(errors).to.contain(`port ${port} is in use by another program`);
  });

  it('ends every child on SIGTERM', async () => {
    const running = children().map(({ pid }) => pid);
    await stop();
    expect(operator.exitCode).to.equal(0);
    expect(running.filter(alive)).to.deep.equal([]);
    expect(existsSync(join(data, 'run', 'operator.lock'))).to.equal(false);
  });
});
