// Three API processes on one port, requests spread over them: an acknowledged write holds at all of them, also when one
// is killed.
import { expect } from 'chai';
import { Receiver } from '#support/deliveries.ts';
import { eventually } from '#support/stores.ts';
import { apiKey, createClient, type FoyerClient, type FoyerError, session } from '../../api/client/index.ts';
import { fresh, fromElsewhere, outcome, PASSWORD } from './callers.ts';
import { Machine, print } from './machine.ts';
import { Replicas } from './replicas.ts';

const LONG_MS = 60_000;

const count = (all: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(all, (one) => one)].map(([one, same]) => [one, same.length]));

describe('three replicas on one port', function () {
  this.timeout(240_000);
  const machine = new Machine({ apis: 3, trustedProxies: ['127.0.0.0/8'], webhooks: ['127.0.0.0/8'] });
  const replicas = new Replicas(machine);
  let owner: FoyerClient;

  before(async () => {
    await machine.start();
    owner = machine.client({ fetch: replicas.any });
  });
  after(async () => machine.stop());

  const anyone = (send: typeof fetch = replicas.any): FoyerClient => createClient({ server: machine.url, fetch: send });
  /** As the person of the token; it is never renewed. */
  const withToken = (accessToken: string, send: typeof fetch): FoyerClient =>
    createClient({ server: machine.url, credential: session({ accessToken }), fetch: send });
  const times = <T>(n: number, work: (i: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: n }, (_, i) => work(i)));

  /** A new account of the role, signed in on a device of its own. */
  async function somebody(role: 'admin' | 'member') {
    const username = fresh(role);
    const user = await owner.createUser({ body: { username, role, password: PASSWORD, mustChangePassword: false } });
    const clientId = fresh('replicas-device');
    const client = createClient({ server: machine.url, clientId, fetch: replicas.any });
    const signedIn = await client.login({ body: { username, password: PASSWORD }, headers: fromElsewhere() });
    const { accessToken = '', refreshToken = '' } = signedIn;
    return { id: user.id, accessToken, refreshToken, clientId };
  }

  it('share the requests that come to it', async () => {
    const before = new Map(replicas.answered);
    await replicas.each((send) => anyone(send).getServerLiveness());
    await times(60, () => anyone().getServerLiveness());
    const shares = replicas.names.map((name) => (replicas.answered.get(name) ?? 0) - (before.get(name) ?? 0));
    expect(Math.min(...shares), shares.join(' ')).to.be.at.least(2);
  });

  it('count the requests of a key together: exactly its limit passes, and each answer returns the rest', async () => {
    const limit = 30;
    const { secret = '' } = await owner.createApiKey({
      body: { name: fresh('counted'), scopes: ['library:view'], expiresAt: null, requestsPerMinute: limit },
    });
    const probe = (send: typeof fetch): Promise<Response> =>
      send(`${machine.url}/api/v1/libraries`, { headers: { authorization: `Bearer ${secret}` } });
    const answers = (await replicas.each((send) => times(limit, () => probe(send)))).flat();
    expect(count(answers.map(({ status }) => String(status)))).to.deep.equal({ 200: limit, 429: 2 * limit });
    const left = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(left.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: limit }, (_, i) => i));
    for (const { headers } of answers) expect(headers.get('x-ratelimit-limit')).to.equal(String(limit));
  });

  it('let ten sign-ins a minute through, of a name and of an address, together', async () => {
    const attempt = (send: typeof fetch, username: string, headers: Record<string, string>): Promise<string> =>
      outcome(anyone(send).login({ body: { username, password: 'a wrong long one' }, headers }));
    const username = fresh('nobody');
    const ofName = await replicas.each((send) => times(10, () => attempt(send, username, fromElsewhere())));
    expect(count(ofName.flat())).to.deep.equal({ UNAUTHENTICATED: 10, RATE_LIMITED: 20 });
    const address = fromElsewhere();
    const ofAddress = await replicas.each((send) => times(10, () => attempt(send, fresh('nobody'), address)));
    expect(count(ofAddress.flat())).to.deep.equal({ UNAUTHENTICATED: 10, RATE_LIMITED: 20 });
  });

  describe('from the next request on', () => {
    /** The outcomes of 10 requests at each replica. */
    const everywhere = async (probe: (send: typeof fetch) => Promise<unknown>): Promise<Record<string, number>> =>
      count((await replicas.each((send) => times(10, () => outcome(probe(send))))).flat());

    it('refuse a key that one of them revoked', async () => {
      const body = { name: fresh('revoked'), scopes: ['library:view'], expiresAt: null } as const;
      const { id, secret = '' } = await owner.createApiKey({ body: { ...body, scopes: [...body.scopes] } });
      const probe = (send: typeof fetch): Promise<unknown> =>
        createClient({ server: machine.url, credential: apiKey(secret), fetch: send }).listLibraries();
      expect(await everywhere(probe)).to.deep.equal({ ok: 30 });
      await owner.revokeApiKey({ params: { id } });
      expect(await everywhere(probe)).to.deep.equal({ AUTH_TOKEN_INVALID: 30 });
    });

    it('refuse a session that was signed out at one of them', async () => {
      const { accessToken } = await somebody('member');
      const probe = (send: typeof fetch): Promise<unknown> => withToken(accessToken, send).getMe();
      expect(await everywhere(probe)).to.deep.equal({ ok: 30 });
      await withToken(accessToken, replicas.any).logout();
      expect(await everywhere(probe)).to.deep.equal({ AUTH_TOKEN_INVALID: 30 });
    });

    it('refuse operations of admins to an admin who was made a member', async () => {
      const { id, accessToken } = await somebody('admin');
      const probe = (send: typeof fetch): Promise<unknown> => withToken(accessToken, send).getSettings();
      expect(await everywhere(probe)).to.deep.equal({ ok: 30 });
      await owner.updateUser({ params: { id }, body: { role: 'member' } });
      const after = await everywhere(probe);
      expect(after).to.have.any.keys('FORBIDDEN', 'AUTH_TOKEN_INVALID');
      expect(after).to.not.have.any.keys('ok', 'INTERNAL');
    });
  });

  it('let one of 50 refreshes at once win, and end the sign-in everywhere for the rest', async () => {
    const { refreshToken, clientId } = await somebody('member');
    const device = createClient({ server: machine.url, clientId, fetch: replicas.any });
    const all = await times(50, () =>
      device.refreshSession({ body: { refreshToken } }).then(
        (won) => won,
        (error: unknown) => (error as FoyerError).code,
      ),
    );
    const winners = all.filter((one) => typeof one !== 'string');
    expect(count(all.filter((one) => typeof one === 'string'))).to.deep.equal({ AUTH_TOKEN_INVALID: 49 });
    expect(winners).to.have.length(1);
    const [{ accessToken = '', refreshToken: next = '' } = {}] = winners;
    expect(await replicas.each((send) => outcome(withToken(accessToken, send).getMe()))).to.deep.equal(
      replicas.names.map(() => 'AUTH_TOKEN_INVALID'),
    );
    const again = createClient({ server: machine.url, clientId, fetch: replicas.at('api-2') });
    expect(await outcome(again.refreshSession({ body: { refreshToken: next } }))).to.equal('AUTH_TOKEN_INVALID');
  });

  /** Creates an account, which is an event and a delivery; the id, or undefined when no answer acknowledged it. */
  const write = (): Promise<string | undefined> =>
    owner.createUser({ body: { username: fresh('child'), role: 'child' } }).then(
      ({ id }) => id,
      () => undefined,
    );

  interface Following {
    heard: string[];
    lastId: string | undefined;
  }

  /** Records the accounts in the events of one stream, until `signal` or its end. */
  async function follow(into: Following, send: typeof fetch, signal: AbortSignal): Promise<void> {
    const client = machine.client({ fetch: send });
    const from = into.lastId === undefined ? {} : { lastEventId: into.lastId };
    for await (const event of client.events({ types: ['user.created'], signal, ...from })) {
      const received = event.event === 'stream.reset' ? event.payload.reason : event.event;
      expect(received, JSON.stringify(event)).to.be.oneOf(['user.created', 'access']); // rights of the reader may be new
      if (event.event === 'user.created') into.heard.push(event.payload.userId);
      into.lastId = event.id;
    }
  }

  const isWhole = (heard: readonly string[], ids: readonly string[]): boolean =>
    new Set(ids).isSubsetOf(new Set(heard));

  /** Each received every one of them once, in one order. */
  function expectSame(readers: readonly Following[], ids: readonly string[]): void {
    const [first, ...others] = readers.map(({ heard }) => heard.filter((id) => ids.includes(id)));
    for (const { heard } of readers) expect(new Set(heard).size, 'events doubled').to.equal(heard.length);
    for (const other of others) expect(other).to.deep.equal(first);
  }

  it('continue a stream of events where another left off, without gap or double', async () => {
    const still: Following = { heard: [], lastId: undefined };
    const moving: Following = { heard: [], lastId: undefined };
    const leaving = new AbortController();
    const resting = follow(still, replicas.at('api-1'), leaving.signal);
    let cut = new AbortController();
    let reading = follow(moving, replicas.at('api-1'), cut.signal);
    await eventually(async () => (await write()) && still.heard.length > 0 && moving.heard.length > 0, LONG_MS);
    const written: string[] = [];
    for (let round = 0; round < 9; round += 1) {
      const writing = times(4, write);
      cut.abort();
      await reading;
      cut = new AbortController();
      reading = follow(moving, replicas.at(replicas.names[round % 3] ?? ''), cut.signal);
      written.push(...(await writing).filter((id) => id !== undefined));
    }
    expect(written).to.have.length(36);
    await eventually(() => [still, moving].every(({ heard }) => isWhole(heard, written)), LONG_MS);
    leaving.abort();
    cut.abort();
    await Promise.all([resting, reading]);
    expectSame([still, moving], written);
  });

  it('lose no acknowledged event and no delivery, and double none, when one is killed', async () => {
    const receiver = await Receiver.start();
    const hook = await owner.createWebhook({
      body: { name: fresh('hook'), url: receiver.url, events: ['user.created'] },
    });
    const leaving = new AbortController();
    const readers = replicas.names.map(() => ({ heard: [] as string[], lastId: undefined }) as Following);
    const reading = readers.map((into, i) => {
      let first = true; // begins at a replica each, and comes back to any
      const send: typeof fetch = (input, init) => {
        const to = first ? replicas.at(replicas.names[i] ?? '') : replicas.any;
        first = false;
        return to(input, init);
      };
      return follow(into, send, leaving.signal);
    });
    await eventually(async () => (await write()) && readers.every(({ heard }) => heard.length > 0), LONG_MS);
    const acknowledged = new Set<string>();
    let unsaid = 0;
    const writer = async (): Promise<void> => {
      for (let i = 0; i < 25; i += 1) {
        const id = await write();
        if (id) acknowledged.add(id);
        else unsaid += 1;
      }
    };
    const writing = times(4, writer);
    await eventually(() => acknowledged.size >= 30, LONG_MS);
    const healed = await machine.strike('api-2');
    await writing;
    print(`api-2 healed in ${healed} ms; ${acknowledged.size} writes acknowledged, ${unsaid} not`);
    expect(acknowledged.size).to.be.at.least(80);
    const received = () =>
      receiver.got.map(({ body }) => (JSON.parse(body.toString()) as { payload: { userId: string } }).payload.userId);
    const known = [...acknowledged];
    await eventually(() => readers.every(({ heard }) => isWhole(heard, known)), LONG_MS);
    await eventually(() => isWhole(received(), known), LONG_MS);
    leaving.abort();
    await Promise.all(reading);
    expectSame(readers, known);
    expect(new Set(received()).size, 'deliveries doubled').to.equal(received().length);
    await owner.deleteWebhook({ params: { id: hook.id } });
  });
});
