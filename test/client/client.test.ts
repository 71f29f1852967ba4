// The typed client against the real server.

import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import { signAccessToken } from '#identity/credentials.ts';
import type { Area } from '#kernel/endpoint.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import { type Somebody, somebody } from '#support/signing-in.ts';
import {
  apiKey,
  type CreateLibraryBody,
  createClient,
  type FoyerClient,
  FoyerError,
  type Library,
  type ListUsersQuery,
  NotFoyer,
  session,
} from '../../api/client/index.ts';

interface Sent {
  path: string;
  authorization: string | null;
  idempotencyKey: string | null;
}

/** A fetch that records its requests; `lose` makes the answer of the next request to that path vanish. */
function watched(): { fetch: typeof fetch; sent: Sent[]; lose: (path: string) => void } {
  const sent: Sent[] = [];
  const lost = new Set<string>();
  const watching: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const path = pathname.replace('/api/v1', '');
    const { headers } = request;
    sent.push({ path, authorization: headers.get('authorization'), idempotencyKey: headers.get('idempotency-key') });
    const response = await fetch(request);
    if (!lost.delete(path)) return response;
    await response.body?.cancel();
    throw new TypeError('the connection was cut');
  };
  return { fetch: watching, sent, lose: (path) => lost.add(path) };
}

const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it passed'),
    (error: unknown) => error,
  );

describe('the typed client', () => {
  let api: Api;
  let owner: FoyerClient;
  const clientId = 'typed-client-0001';
  before(async () => {
    api = await startApi();
    const person = await api.given.owner();
    const key = await api.given.key(person, ['library:view', 'library:manage', 'settings:manage']);
    owner = createClient({ server: api.url, credential: apiKey(key.headers['authorization']?.slice(7) ?? '') });
  });

  /** Signed in on the client's device, with an access token that ended an hour ago. */
  async function late(): Promise<{
    who: Somebody;
    tokens: { accessToken: string; refreshToken: string };
    old: string;
  }> {
    const who = await somebody(api, 'admin');
    const signed = await createClient({ server: api.url, clientId }).login({
      body: { username: who.username, password: 'correct horse battery' },
    });
    const claims = { accountId: who.id, profileId: signed.profile.id, sessionId: signed.session.id };
    const old = await signAccessToken(api.deps.keys, claims, new Date(Date.now() - 3_600_000));
    return { who, old, tokens: { accessToken: old, refreshToken: signed.refreshToken ?? '' } };
  }

  it('has a method for each operation, by its operationId', () => {
    for (const { operationId } of (areas as readonly Area[]).flatMap((area) => area.endpoints))
      expect(owner, operationId).to.have.property(operationId);
  });

  it('reads and writes: parameters, queries, bodies, headers, answers of every kind', async () => {
    const body: CreateLibraryBody = { name: 'Films', type: 'movies' };
    const made: Library = await owner.createLibrary({ body });
    expect((await owner.getLibrary({ params: { id: made.id } })).name).to.equal('Films');
    const changed = await owner.updateLibrary({
      params: { id: made.id },
      body: { name: 'Movies' },
      headers: { 'if-match': `"${made.revision}"` },
    });
    expect(changed.revision).to.be.greaterThan(made.revision);
    expect(await owner.deleteLibrary({ params: { id: made.id } })).to.equal(undefined);
    const logo = await owner.getBrandingLogo({
      params: { kind: 'main', scheme: 'dark' },
      query: { size: 64, format: 'png' },
    });
    expect(logo.headers.get('content-type')).to.equal('image/png');
    expect((await logo.arrayBuffer()).byteLength).to.be.greaterThan(100);
  });

  it('throws the refusal of the server: code, status, requestId, details', async () => {
    const missing = await caught(owner.getLibrary({ params: { id: ABSENT } }));
    expect(missing).to.be.instanceOf(FoyerError).and.include({ code: 'NOT_FOUND', status: 404 });
    const bad = await caught(owner.createLibrary({ body: { name: '', type: 'movies' } }));
    if (!FoyerError.is(bad, 'VALIDATION_FAILED')) return expect.fail('another failure');
    expect(bad.details.issues[0]?.path).to.deep.equal(['body', 'name']);
    expect(bad.requestId).to.match(/^[\w.-]{8,64}$/);
    const elsewhere = createClient({
      server: api.url,
      fetch: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
    });
    expect(await caught(elsewhere.getServerInfo()))
      .to.be.instanceOf(NotFoyer)
      .and.include({ status: 502 });
  });

  it('requests no address that lacks a part, and escapes the others', async () => {
    expect(await caught(owner.getLibrary({ params: { id: '' } }))).to.be.instanceOf(TypeError);
    const escaped = owner.address('getLibrary', { params: { id: '../setup?x' } });
    expect(escaped).to.equal(`${api.url}/api/v1/libraries/..%2Fsetup%3Fx`);
  });

  it('renews a session once for twenty requests at once, and repeats each', async () => {
    const { tokens } = await late();
    const { fetch, sent } = watched();
    const kept: string[] = [];
    const credential = session(tokens, ({ accessToken }) => void kept.push(accessToken));
    const client = createClient({ server: api.url, clientId, credential, fetch });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.getMe()));
    expect(new Set(answers.map(({ account }) => account.username)).size).to.equal(1);
    expect(sent.filter(({ path }) => path === '/auth/refresh')).to.have.length(1);
    expect(sent).to.have.length(41);
    expect(kept).to.have.length(1);
    await client.getMe();
    expect(sent.at(-1)?.authorization).to.equal(`Bearer ${kept[0]}`);
  });

  it('repeats a renewal whose answer was lost, under the same key, and stays signed in', async () => {
    const { tokens } = await late();
    const { fetch, sent, lose } = watched();
    const client = createClient({ server: api.url, clientId, credential: session(tokens), fetch });
    lose('/auth/refresh');
    await client.getMe();
    const renewals = sent.filter(({ path }) => path === '/auth/refresh');
    expect(renewals).to.have.length(2);
    expect(renewals[0]?.idempotencyKey).to.be.a('string').and.equal(renewals[1]?.idempotencyKey);
    await client.getMe();
  });

  it('returns the first refusal when the sign-in is over, and never loops', async () => {
    const { tokens } = await late();
    const { fetch, sent } = watched();
    const ended = { ...tokens, refreshToken: `${tokens.refreshToken.slice(0, -4)}AAAA` };
    const client = createClient({ server: api.url, clientId, credential: session(ended), fetch });
    expect(await caught(client.getMe())).to.include({ code: 'AUTH_TOKEN_EXPIRED' });
    expect(sent.map(({ path }) => path)).to.deep.equal(['/auth/me', '/auth/refresh']);
  });

  it('never renews a key, and takes a wrong password for no ended session', async () => {
    const { fetch, sent } = watched();
    const wrong = createClient({ server: api.url, credential: apiKey('foyer_wrong'), fetch });
    expect(await caught(wrong.listLibraries())).to.include({ code: 'AUTH_TOKEN_INVALID' });
    expect(sent).to.have.length(1);
    const { who, tokens } = await late();
    const client = createClient({ server: api.url, clientId, credential: session(tokens), fetch });
    await client.getMe();
    sent.length = 0;
    const refused = await caught(client.login({ body: { username: who.username, password: 'not it' } }));
    expect(refused).to.include({ code: 'UNAUTHENTICATED' });
    expect(sent.map(({ path }) => path)).to.deep.equal(['/auth/login']);
  });

  it('walks every entry of a list, page by page', async () => {
    for (let i = 0; i < 7; i++) await owner.createLibrary({ body: { name: `Walked ${i}`, type: 'movies' } });
    const { headers } = await api.given.admin();
    const accessToken = headers['authorization']?.slice(7) ?? '';
    const admin = createClient({ server: api.url, credential: session({ accessToken }) });
    for (let i = 0; i < 5; i++) await api.given.member();
    const names = new Set<string>();
    const query: ListUsersQuery = { limit: 2 };
    for await (const { username } of admin.each('listUsers', { query })) names.add(username);
    const { n } = await api.deps
      .db('accounts')
      .whereNot({ role: 'system' })
      .count<{ n: number }[]>('* as n')
      .then(([row]) => row ?? { n: 0 });
    expect(names.size).to.be.greaterThan(4).and.at.most(n);
  });

  it('ends waiting calls by their signal', async () => {
    const gone = new AbortController();
    const waiting = caught(owner.listLibraries({ signal: gone.signal }));
    gone.abort();
    expect(await waiting).to.include({ name: 'AbortError' });
  });
});
