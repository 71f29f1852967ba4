import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { mayPass, postgresSpec, postgresUrl, preparePostgres, queryPostgres } from '#operator/local/postgres.ts';
import { identityOf } from '#operator/local/process-identity.ts';
import { findProgram } from '#operator/local/programs.ts';
import { queryRedis, redisSpec, redisUrl } from '#operator/local/redis.ts';
import { State } from '#operator/local/state.ts';
import { Supervisor } from '#operator/local/supervisor.ts';
import { until } from '#operator/server-api/server-client.ts';
import { atEnd } from '#support/stores.ts';

const SECONDS = 20_000;

describe('embedded stores', () => {
  let dir: string;
  let state: State;
  let supervisor: Supervisor;
  const stores = ['postgres', 'redis'] as const;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-stores-'));
    chmodSync(dir, 0o711); // Postgres runs as another user than root
    state = new State(join(dir, 'data'));
    supervisor = new Supervisor({ dir: state.dir });
  });
  afterEach(async () => {
    await supervisor.stop();
    rmSync(dir, { recursive: true });
  });

  const pidOf = (): number => supervisor.children()[0]?.pid ?? 0;

  async function startPostgres(): Promise<string> {
    const home = await preparePostgres({ dir: state.dir, id: 'test', password: 'secret' });
    const port = await state.portOf('postgres');
    await supervisor.apply([postgresSpec(home, port)], stores);
    const url = postgresUrl(port, 'secret');
    expect(await until(async () => (await queryPostgres(url)) === true, SECONDS)).to.equal(true);
    return url;
  }

  const fault = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => '',
      (error: Error) => error.message,
    );

  async function query(url: string, text: string): Promise<unknown[]> {
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query<{ value: unknown }>(text);
    await client.end();
    return rows.map((row) => row.value);
  }

  it('run a durable Postgres that keeps committed rows over kill -9', async () => {
    const url = await startPostgres();
    await query(url, 'create table kept as select 1 as value');
    const before = pidOf();
    process.kill(before, 'SIGKILL');
    const back = async () => pidOf() !== before && (await queryPostgres(url)) === true;
    expect(await until(back, SECONDS)).to.equal(true);
    expect(await query(url, 'select value from kept')).to.deep.equal([1]);
    expect(await query(url, "select current_setting('fsync') as value")).to.deep.equal(['on']);
    expect(await query(url, "select lower('ÄÖ') as value")).to.deep.equal(['äö']);
  });

  it('refuse a wrong password, and listen on loopback alone', async () => {
    const url = await startPostgres();
    expect(await queryPostgres(url.replace('secret', 'guess'))).to.contain('password authentication failed');
    expect(await query(url, "select current_setting('listen_addresses') as value")).to.deep.equal(['127.0.0.1']);
  });

  it('end a postmaster that an operator left, before starting another', async () => {
    await startPostgres();
    const left = pidOf();
    const home = await preparePostgres({ dir: state.dir, id: 'test', password: 'secret' });
    expect(identityOf(left)).to.equal(undefined);
    expect(existsSync(join(home.dataDir, 'PG_VERSION'))).to.equal(true);
  });

  it('start where a power cut left the number of a process that is another one now', async () => {
    const url = await startPostgres();
    await query(url, 'create table kept as select 1 as value');
    await supervisor.stop();
    const home = await preparePostgres({ dir: state.dir, id: 'test', password: 'secret' });
    const stranger = spawn('sleep', ['60'], { ...home.user });
    atEnd(() => void stranger.kill());
    const file = join(home.dataDir, 'postmaster.pid');
    writeFileSync(file, `${stranger.pid}\n${home.dataDir}\n1\n5432\n\n127.0.0.1\n  123456    789012\nready   \n`);
    if (home.user) chownSync(file, home.user.uid, home.user.gid);
    supervisor = new Supervisor({ dir: state.dir });
    expect(await query(await startPostgres(), 'select value from kept')).to.deep.equal([1]);
    expect([stranger.exitCode, stranger.signalCode]).to.deep.equal([null, null]);
  });

  it('refuse the data of another version, and data that Postgres can no longer read, rather than start again', async () => {
    const options = { dir: state.dir, id: 'test', password: 'secret' };
    const { dataDir } = await preparePostgres(options);
    const version = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8');
    writeFileSync(join(dataDir, 'PG_VERSION'), '15\n');
    expect(await fault(preparePostgres(options))).to.match(/^.* was created by Postgres 15, and this version is \d+/);
    writeFileSync(join(dataDir, 'PG_VERSION'), version);
    if (process.getuid?.() !== 0) return; // only root gives Postgres a user of its own
    chmodSync(dir, 0o700);
    expect(await fault(preparePostgres(options))).to.contain('is not accessible for the user postgres');
    chmodSync(dir, 0o711);
    expect((await preparePostgres(options)).dataDir).to.equal(dataDir);
  });

  it('begin again where the making of the cluster was cut off', async () => {
    const { dataDir } = await preparePostgres({ dir: state.dir, id: 'test', password: 'secret' });
    rmSync(join(dataDir, 'PG_VERSION')); // as if never moved into place
    rmSync(dataDir, { recursive: true });
    await preparePostgres({ dir: state.dir, id: 'test', password: 'secret' });
    await startPostgres();
  });

  it('run a Redis that requires its password and comes back after kill -9', async () => {
    const port = await state.portOf('redis');
    const spec = redisSpec({ dir: state.dir, port, password: 'secret', durable: false });
    expect(JSON.stringify(spec)).not.to.contain('secret');
    expect(statSync(join(state.dir, 'run', 'redis.conf')).mode & 0o777).to.equal(0o600);
    await supervisor.apply([spec], stores);
    const url = redisUrl(port, 'secret');
    expect(await until(async () => (await queryRedis(url)) === true, SECONDS)).to.equal(true);
    expect(await queryRedis(redisUrl(port, 'guess'))).not.to.equal(true);
    const before = pidOf();
    process.kill(before, 'SIGKILL');
    expect(await until(async () => pidOf() !== before && (await queryRedis(url)) === true, SECONDS)).to.equal(true);
  });

  it('know which folders another user may pass', () => {
    const nobody = { uid: 65_534, gid: 65_534 };
    expect(mayPass(state.dir, nobody)).to.equal(true);
    chmodSync(dir, 0o700);
    expect(mayPass(state.dir, nobody)).to.equal(false);
    expect(mayPass(state.dir, { uid: process.getuid?.() ?? 0, gid: 0 })).to.equal(true);
  });

  it('find programs on the PATH only where they can be run', () => {
    expect(findProgram(['sh'])).to.match(/\/sh$/);
    expect(findProgram(['no-such-program', 'sh'], '/nowhere:/bin')).to.equal('/bin/sh');
    expect(findProgram(['passwd'], '/etc')).to.equal(undefined);
  });
});
