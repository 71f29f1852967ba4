// Redis emptied, Redis gone, Postgres gone: operations that continue meanwhile, operations that report it, and recovery
// of all without help.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { ABSENT } from '#support/answers.ts';
import { Receiver } from '#support/deliveries.ts';
import { eventually } from '#support/stores.ts';
import { apiKey, createClient, type FoyerClient } from '../../api/client/index.ts';
import { fresh, fromElsewhere, outcome, PASSWORD } from './callers.ts';
import { Machine, print } from './machine.ts';
import { Replicas } from './replicas.ts';

const LONG_MS = 60_000;
/** The postmaster and its processes, each of which has a session of its own. */
function withBackends(postmaster: number): number[] {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  return [postmaster, ...children.trim().split(' ').map(Number)];
}

const times = <T>(n: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => work(i)));

describe('stores that are emptied or gone', function () {
  this.timeout(240_000);
  const machine = new Machine({ apis: 2, trustedProxies: ['127.0.0.0/8'], webhooks: ['127.0.0.0/8'] });
  const replicas = new Replicas(machine);
  let owner: FoyerClient;
  let receiver: Receiver;
  let revoked = '';

  before(async () => {
    await machine.start();
    owner = machine.client();
    receiver = await Receiver.start();
    await owner.createWebhook({ body: { name: 'hook', url: receiver.url, events: ['user.created'] } });
    const key = await owner.createApiKey({ body: { name: 'revoked', scopes: ['library:view'], expiresAt: null } });
    revoked = key.secret ?? '';
    await owner.revokeApiKey({ params: { id: key.id } });
  });
  after(async () => machine.stop());

  const withKey = (key: string): FoyerClient => createClient({ server: machine.url, credential: apiKey(key) });
  const received = (): string[] =>
    receiver.got.map(({ body }) => (JSON.parse(body.toString()) as { payload: { userId: string } }).payload.userId);

  /** A person on a device of their own, signed in now. */
  async function signedIn() {
    const username = fresh('member');
    await owner.createUser({ body: { username, role: 'member', password: PASSWORD, mustChangePassword: false } });
    const device = createClient({ server: machine.url, clientId: fresh('stores-device') });
    const signIn = await device.login({ body: { username, password: PASSWORD }, headers: fromElsewhere() });
    return { device, refreshToken: signIn.refreshToken ?? '' };
  }

  /** The accounts in the events of a stream from now on, in order. */
  async function listening() {
    const leaving = new AbortController();
    const heard: string[] = [];
    const reading = (async () => {
      const input = { types: ['user.created'] as const, signal: leaving.signal };
      for await (const event of owner.events(input))
        if (event.event === 'user.created') heard.push(event.payload.userId);
    })();
    await eventually(async () => {
      if (heard.length === 0) await write();
      return heard.length > 0;
    }, LONG_MS);
    const close = async (): Promise<void> => {
      leaving.abort();
      await reading;
    };
    return { heard, close };
  }

  /** A new account: an event and a delivery. */
  const write = async (): Promise<string> =>
    (await owner.createUser({ body: { username: fresh('child'), role: 'child' } })).id;

  /** Signing in, browsing, refreshing once and never twice, and a key that stays revoked. */
  async function expectAlive(): Promise<void> {
    await owner.listLibraries();
    await owner.getSettings();
    const { device, refreshToken } = await signedIn();
    const next = await device.refreshSession({ body: { refreshToken } });
    expect(await outcome(device.refreshSession({ body: { refreshToken } }))).to.equal('AUTH_TOKEN_INVALID');
    const successor = { refreshToken: next.refreshToken ?? '' };
    expect(await outcome(device.refreshSession({ body: successor }))).to.equal('AUTH_TOKEN_INVALID');
    expect(await outcome(withKey(revoked).listLibraries())).to.equal('AUTH_TOKEN_INVALID');
  }

  /** Every write was received once and in order, and delivered once. */
  async function expectReceived(heard: readonly string[], written: readonly string[]): Promise<void> {
    const all = new Set(written);
    await eventually(() => all.isSubsetOf(new Set(heard)), LONG_MS);
    await eventually(() => all.isSubsetOf(new Set(received())), LONG_MS);
    expect(heard.filter((id) => all.has(id))).to.deep.equal(written);
    expect(
      received()
        .filter((id) => all.has(id))
        .sort(),
    ).to.deep.equal([...written].sort());
  }

  it('Redis emptied: everything continues, no event and no delivery is lost', async () => {
    const { heard, close } = await listening();
    const redis = new Redis(machine.redisUrl);
    const written: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      written.push(await write(), await write());
      await redis.flushall();
      written.push(await write(), await write());
      await expectAlive();
    }
    redis.disconnect();
    await expectReceived(heard, written);
    await close();
  });

  it('Redis gone: everything continues, limits are tighter and never open, and events resume', async () => {
    const { heard, close } = await listening();
    const written: string[] = [];
    const limit = 20;
    const { secret = '' } = await owner.createApiKey({
      body: { name: fresh('counted'), scopes: ['library:view'], expiresAt: null, requestsPerMinute: limit },
    });
    await machine.without(['redis'], async () => {
      written.push(await write());
      await expectAlive();
      const name = fresh('nobody');
      const elsewhere = fromElsewhere(); // one network: a name is counted by it
      const attempts = await replicas.each((send) =>
        times(8, () => {
          const body = { username: name, password: 'a wrong long one' };
          return outcome(createClient({ server: machine.url, fetch: send }).login({ body, headers: elsewhere }));
        }),
      );
      for (const codes of attempts) expect(codes.filter((code) => code === 'UNAUTHENTICATED')).to.have.length(5);
      for (const codes of attempts) expect(codes.filter((code) => code === 'RATE_LIMITED')).to.have.length(3);
      const input = await replicas.each((send) =>
        times(limit, () =>
          outcome(createClient({ server: machine.url, credential: apiKey(secret), fetch: send }).listLibraries()),
        ),
      );
      for (const codes of input) expect(codes.filter((code) => code === 'ok')).to.have.length(limit / 2);
      written.push(await write(), await write());
      await expectReceived(heard, written); // while it is unavailable
    });
    written.push(await write());
    await expectAlive();
    await expectReceived(heard, written);
    await close();
  });

  it('Redis hung: requests are not held up for long', async () => {
    const pid = machine.pidOf('redis');
    const { secret = '' } = await owner.createApiKey({
      body: { name: fresh('hung'), scopes: ['library:view'], expiresAt: null, requestsPerMinute: 1000 },
    });
    process.kill(pid, 'SIGSTOP');
    try {
      const began = Date.now();
      await withKey(secret).listLibraries();
      print(`the first request with a key took ${Date.now() - began} ms`);
      for (let i = 0; i < 20; i += 1) await withKey(secret).listLibraries();
      print(`21 with a key took ${Date.now() - began} ms`);
      await expectAlive();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await machine.ready();
  });

  it('Postgres hung: 503 within seconds, no process is ended for it, and all recovers', async () => {
    const names = [...replicas.names, 'worker-1', 'postgres'];
    const before = names.map((name) => machine.pidOf(name));
    await owner.listLibraries();
    const postgres = withBackends(machine.pidOf('postgres'));
    for (const pid of postgres) process.kill(pid, 'SIGSTOP');
    try {
      const end = Date.now() + 35_000;
      const slowest: number[] = [];
      while (Date.now() < end) {
        const began = Date.now();
        const answers = await replicas.each((send) =>
          send(`${machine.url}/api/v1/libraries`, { headers: machine.headers }),
        );
        slowest.push(Date.now() - began);
        for (const answer of answers) {
          expect(answer.status).to.equal(503);
          expect(answer.headers.get('retry-after')).to.not.equal(null);
        }
        for (const send of replicas.names.map((name) => replicas.at(name)))
          expect((await send(`${machine.url}/api/v1/server/live`)).status).to.equal(200);
      }
      print(`the slowest answer took ${Math.max(...slowest)} ms`);
      expect(Math.max(...slowest)).to.be.below(10_000);
    } finally {
      for (const pid of postgres.reverse()) process.kill(pid, 'SIGCONT');
    }
    await eventually(async () => (await outcome(owner.listLibraries())) === 'ok', LONG_MS);
    expect(names.map((name) => machine.pidOf(name))).to.deep.equal(before);
    await expectAlive();
  });

  it('Postgres gone: 503 on all that needs it, alive all the same, and back without a restart', async () => {
    const before = replicas.names.map((name) => machine.pidOf(name));
    const { heard, close } = await listening();
    const written = [await write()];
    await machine.without(['postgres'], async () => {
      await everyReplica(503); // the process that serves a connection ends a moment after the process that was killed
      await expectUnavailable();
      for (const send of replicas.names.map((name) => replicas.at(name))) {
        expect((await send(`${machine.url}/api/v1/server/live`)).status).to.equal(200);
        const health = (await (await send(`${machine.url}/api/v1/server/health`)).json()) as { status: string };
        expect(health.status).to.be.oneOf(['unavailable', 'ok', 'degraded']); // it is reported after two checks
      }
    });
    expect(replicas.names.map((name) => machine.pidOf(name))).to.deep.equal(before);
    await eventually(async () => (await outcome(owner.listLibraries())) === 'ok', LONG_MS);
    await expectAlive();
    written.push(await write());
    await expectReceived(heard, written);
    await close();
  });

  /** Each of them reports so to signed-in callers. */
  async function everyReplica(status: number): Promise<void> {
    const checks = replicas.names.map((name) => async () => {
      const answer = await replicas.at(name)(`${machine.url}/api/v1/auth/me`, { headers: machine.headers });
      return answer.status === status;
    });
    await Promise.all(checks.map((check) => eventually(check, LONG_MS)));
  }

  /**
   * Each operation for signed-in callers answers 503 in the contract's envelope; an open one too, or without the
   * database.
   */
  async function expectUnavailable(): Promise<void> {
    const left: Endpoint[] = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);
    const total = left.length;
    const wrong: string[] = [];
    let slowestMs = 0;
    await times(8, async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const began = Date.now();
        const answer = await requestOf(next);
        slowestMs = Math.max(slowestMs, Date.now() - began);
        const fault = await faultOf(next, answer);
        if (fault) wrong.push(`${next.operationId}: ${fault}`);
      }
    });
    print(`${total} operations without Postgres; the slowest answer took ${slowestMs} ms`);
    expect(wrong).to.deep.equal([]);
    expect(slowestMs).to.be.below(15_000);
  }

  function requestOf({ method, path }: Endpoint): Promise<Response> {
    const url = `${machine.url}/api/v1${path.replace(/:\w+/g, ABSENT)}`;
    const headers = { ...machine.headers, 'content-type': 'application/json', ...fromElsewhere() };
    const body = ['get', 'delete'].includes(method) ? {} : { body: '{}' };
    return fetch(url, { method: method.toUpperCase(), headers, signal: AbortSignal.timeout(20_000), ...body });
  }

  async function faultOf({ access, beforeReady }: Endpoint, answer: Response): Promise<string | undefined> {
    const { status, headers } = answer;
    const text = await answer.text();
    const open = 'anyone' in access || beforeReady;
    if (status !== 503) return status === 500 || !open ? `${status} ${text}` : undefined;
    const { code, details } = (JSON.parse(text) as { error: { code: string; details: { waitingFor?: string } } }).error;
    const received = code === 'SERVICE_STARTING' && details.waitingFor === 'database' && headers.has('retry-after');
    return received ? undefined : text;
  }
});
