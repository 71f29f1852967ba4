// What keeps `operator local` from starting is told on the terminal and in the status, at once and without a stack.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { objectsUrl, type Server } from '#operator/local/environment.ts';
import { findProgram } from '#operator/local/programs.ts';
import { readStatus } from '#operator/local/status-file.ts';
import { until } from '#operator/server-api/server-client.ts';
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

  /** Runs until it says what is looked for. */
  async function told(pattern: RegExp, env: NodeJS.ProcessEnv = process.env): Promise<string> {
    const operator = spawn(process.execPath, args(), { stdio: ['ignore', 'pipe', 'pipe'], env });
    let output = '';
    for (const stream of [operator.stdout, operator.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const said = await until(async () => pattern.test(output), PATIENCE_MS);
    const kept = await until(
      async () => /False/.test(JSON.stringify(readStatus(join(dir, 'data')) ?? '')),
      PATIENCE_MS,
    );
    operator.kill('SIGTERM');
    await once(operator, 'exit');
    expect([said, kept], output).to.deep.equal([true, true]);
    return output;
  }

  const why = (type: string): string | undefined => {
    const conditions = (readStatus(join(dir, 'data'))?.[0]?.status.conditions ?? []) as Record<string, string>[];
    return conditions.find((one) => one.type === type)?.message;
  };

  it('by the data of another Postgres', async () => {
    mkdirSync(join(dir, 'data', 'postgres'), { recursive: true });
    writeFileSync(join(dir, 'data', 'postgres', 'PG_VERSION'), '15\n');
    const output = await told(/was made by Postgres 15/);
    expect(output.match(/was made by/g)).to.have.length(1);
    expect(why('Ready')).to.contain('was made by Postgres 15');
  });

  it('by a Redis server that is not there', async () => {
    mkdirSync(join(dir, 'bin'));
    symlinkSync(findProgram(['id']) ?? '', join(dir, 'bin', 'id'));
    await told(/redis-server is on the PATH/, { ...process.env, PATH: join(dir, 'bin') });
    expect(why('RedisReady')).to.contain('redis-server');
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
