// Faults that keep `operator local` from starting are reported on the terminal and in the status, at once and without a
// stack.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { objectsUrl, type Server } from '#operator/local/environment.ts';
import { whyNoStart } from '#operator/local/first-start.ts';
import { findProgram } from '#operator/local/programs.ts';
import { readStatus } from '#operator/local/status-file.ts';
import { connectObjects } from '#platform/objects.ts';
import { serverText } from '#support/resource-text.ts';

const PATIENCE_MS = 60_000;

describe('operator local, hindered', function () {
  this.timeout(2 * PATIENCE_MS);
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-hindered-'));
    chmodSync(dir, 0o711); // Postgres runs as another user than root
    writeFileSync(join(dir, 'home.yaml'), serverText());
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const args = (data = join(dir, 'data')): string[] => [
    'operator/main.ts',
    'local',
    '-f',
    join(dir, 'home.yaml'),
    '--data',
    data,
    '--port',
    '0',
  ];

  /** Its output until it ends by itself, which is with status 1. */
  async function outputOf(env: NodeJS.ProcessEnv = process.env): Promise<string> {
    const operator = spawn(process.execPath, args(), { stdio: ['ignore', 'pipe', 'pipe'], env });
    let output = '';
    for (const stream of [operator.stdout, operator.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const forced = setTimeout(() => operator.kill('SIGKILL'), PATIENCE_MS);
    const [code] = await once(operator, 'exit');
    clearTimeout(forced);
    expect(code, output).to.equal(1);
    return output;
  }

  const why = (type: string): string | undefined => {
    const conditions = (readStatus(join(dir, 'data'))?.[0]?.status.conditions ?? []) as Record<string, string>[];
    return conditions.find((one) => one.type === type)?.message;
  };

  it('by the data of another Postgres', async () => {
    mkdirSync(join(dir, 'data', 'postgres'), { recursive: true });
    writeFileSync(join(dir, 'data', 'postgres', 'PG_VERSION'), '15\n');
    const output = await outputOf();
    expect(output).to.match(/^\S+ was created by Postgres 15, and this version is \d+: .*\n$/);
    expect(why('Ready')).to.contain('was created by Postgres 15');
  });

  it('by a Redis server that is not there', async () => {
    mkdirSync(join(dir, 'bin'));
    symlinkSync(findProgram(['id']) ?? '', join(dir, 'bin', 'id'));
    const output = await outputOf({ ...process.env, PATH: join(dir, 'bin') });
    expect(output).to.match(/^none of valkey-server, redis-server is on the PATH: .*\n$/);
    expect(why('RedisReady')).to.contain('redis-server');
  });

  it('by a Redis server that does not run', async () => {
    mkdirSync(join(dir, 'bin'));
    writeFileSync(join(dir, 'bin', 'valkey-server'), '#!/bin/sh\necho Bad system call\nexit 159\n', { mode: 0o755 });
    const output = await outputOf({ ...process.env, PATH: `${join(dir, 'bin')}:${process.env['PATH']}` });
    expect(output).to.match(/^redis cannot be started \(exit 159\): Bad system call \(\S+redis\.log\)\n$/m);
    expect(why('RedisReady')).to.be.a('string');
  });

  it('by a foreign Postgres that does not answer', () => {
    const secretRef = { name: 'database', key: 'uri' };
    const seen = { database: 'connect ECONNREFUSED 10.0.0.7:5432', redis: true, processes: [] } as const;
    const start = { logsDir: dir, sinceMs: 59_000, spec: { postgres: { secretRef }, redis: {} } };
    expect(whyNoStart({ ...seen, processes: [] }, start)).to.equal(undefined);
    expect(whyNoStart({ ...seen, processes: [] }, { ...start, sinceMs: 61_000 })).to.equal(
      'Postgres does not answer after a minute: connect ECONNREFUSED 10.0.0.7:5432',
    );
    const long = { ...start, sinceMs: 600_000 };
    const recovering = { ...seen, processes: [], database: 'the database system is starting up' };
    expect(whyNoStart(recovering, long)).to.equal(undefined);
    const spec = { postgres: {}, redis: {} };
    expect(whyNoStart({ ...seen, processes: [] }, { ...long, spec }), 'one of ours goes on').to.equal(undefined);
  });

  it('by a folder for its data that cannot be one: one line, and nothing made', async () => {
    const fault = await new Promise<string>((done) => {
      execFile(process.execPath, args(join(dir, 'home.yaml', 'data')), (_error, _out, text) => done(text));
    });
    expect(fault).to.match(/^ENOTDIR: not a directory.*\n$/);
    expect(existsSync(join(dir, 'data'))).to.equal(false);
  });

  it('by nothing that a folder may be called', async () => {
    const data = join(dir, 'what? 100% #1 ünï [x]');
    const server = { spec: { objects: { managed: {} } } } as Server;
    const objects = connectObjects(objectsUrl(server, { secrets: new Map() }, data));
    await objects.put('foyer-artwork', 'a', Buffer.from('x'));
    expect(existsSync(join(data, 'objects'))).to.equal(true);
  });
});
