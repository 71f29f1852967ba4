// `operator local` with the real server under it: a backup is created and restored by the public operations alone.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '#operator/server-api/server-client.ts';

const PASSWORD = 'correct horse battery staple';
const SERVER = `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  api: { replicas: 2 }
  workers: { replicas: 1 }
  postgres: { managed: {} }
  redis: { managed: {} }
  objects: { managed: {} }
  ownerSecretRef: { name: ada }
  media: [{ name: media, hostPath: { path: media } }]
  transcode: { warm: 1, max: 1 }
---
apiVersion: v1
kind: Secret
metadata: { name: ada }
stringData: { username: ada, password: ${PASSWORD} }
`;
const PATIENCE_MS = 180_000;

interface Answered {
  status: number;
  body: Record<string, unknown>;
}

describe('restoring under operator local', () => {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-restore-'));
  let operator: ChildProcess;
  let output = '';
  let base = '';
  let token = '';

  const send = async (method: string, path: string, body?: object): Promise<Answered> => {
    const headers = {
      'content-type': 'application/json',
      'x-client-id': 'a-browser-of-ada-s',
      'x-client-name': 'test',
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${base}/api/v1${path}`, sent);
    return { status: response.status, body: ((await response.json().catch(() => ({}))) ?? {}) as Answered['body'] };
  };
  const signIn = async (): Promise<void> => {
    token = '';
    const { status, body } = await send('POST', '/auth/login', { username: 'ada', password: PASSWORD });
    expect(status, JSON.stringify(body)).to.equal(200);
    token = String(body.accessToken);
  };
  const eventually = async (holds: () => Promise<boolean> | boolean, what: string): Promise<void> => {
    const held = await until(async () => holds(), PATIENCE_MS);
    expect(held, `${what}\n${output}`).to.equal(true);
  };

  before(async function () {
    this.timeout(PATIENCE_MS);
    chmodSync(dir, 0o711);
    mkdirSync(join(dir, 'media'));
    writeFileSync(join(dir, 'media', 'film.mkv'), 'a film');
    writeFileSync(join(dir, 'home.yaml'), SERVER);
    const args = [
      'operator/main.ts',
      'local',
      '-f',
      join(dir, 'home.yaml'),
      '--data',
      join(dir, 'data'),
      '--port',
      '0',
    ];
    operator = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [operator.stdout, operator.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    await eventually(() => /^ready /m.test(output), 'ready line');
    base = /^ready (http:\/\/127\.0\.0\.1:\d+)$/m.exec(output)?.[1] ?? '';
  });
  after(async () => {
    if (operator.exitCode === null && operator.signalCode === null) {
      operator.kill('SIGTERM');
      await once(operator, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  });

  it('restores the content of the backup, and answers again by itself', async function () {
    this.timeout(3 * PATIENCE_MS);
    await signIn();
    const made = await send('POST', '/backups', {});
    expect(made.status, JSON.stringify(made.body)).to.equal(202);
    const path = `/backups/${String(made.body.id)}`;
    await eventually(async () => (await send('GET', path)).body.state === 'completed', 'the backup is made');
    const late = await send('POST', '/users', { username: 'late', password: PASSWORD, role: 'member' });
    expect(late.status, JSON.stringify(late.body)).to.equal(201);
    expect((await send('POST', '/auth/confirm', { password: PASSWORD })).status).to.equal(200);
    const plan = await send('POST', `${path}/restore`, {});
    expect(plan.status, JSON.stringify(plan.body)).to.equal(200);
    expect(plan.body.blockers).to.deep.equal([]);
    const begun = await send('POST', `${path}/restore`, { dryRun: false, token: plan.body.token });
    expect(begun.status, JSON.stringify(begun.body)).to.equal(202);
    const before = token;
    await eventually(async () => {
      const { status } = await send('GET', '/auth/me').catch(() => ({ status: 0 }));
      return status === 401; // every session has ended
    }, 'the restored server answers');
    await signIn();
    expect(token).not.to.equal(before);
    const { items, restore } = (await send('GET', '/backups')).body as { items: object[]; restore: object };
    expect(restore).to.deep.include({ state: 'completed', progress: 1 });
    expect(items).to.have.length(2);
    const users = (await send('GET', '/users')).body as { items: { username: string }[] };
    expect(users.items.map(({ username }) => username)).to.deep.equal(['ada']);
    expect(readdirSync(join(dir, 'media'))).to.deep.equal(['film.mkv']);
    await eventually(async () => (await send('GET', '/server/health')).body.status === 'ok', 'its health is ok');
  });
});
