import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, clientFor, startApi } from '#support/api.ts';
import { device, errorOf, PASSWORD, type Somebody, signIn, somebody, withToken } from '#support/signing-in.ts';

const all = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);
describe('replay of published vulnerabilities: sign-in', () => {
  let api: Api;
  let owner: Somebody;
  before(async () => {
    api = await startApi();
    owner = await somebody(api, 'owner');
  });
  beforeEach(() => api.deps.redis.flushdb()); // attempts are counted a minute long

  it('Navidrome CVE-2025-27112: an unknown account, or one without a password, does not sign in with an empty one', async () => {
    const person = await api.given.member();
    const { username } = await api.deps.db('accounts').where({ id: person.accountId }).first<{ username: string }>();
    for (const name of [username, 'nobody', '', ' ', '\u0001']) {
      for (const password of ['', ' ', 'null', null, undefined, [], {}]) {
        await api.deps.redis.flushdb();
        const answer = await api.anyone.login({ body: { username: name, password }, headers: device });
        expect(answer.status, JSON.stringify([name, password])).to.be.oneOf([400, 401]);
      }
    }
  });

  it('Navidrome CVE-2025-48949: % and _ are letters of a name, and a role is one of the roles', async () => {
    const { username } = owner;
    for (const name of ['%', '_%', username.replace(/.$/, '_'), `${username.slice(0, 3)}%`, `${username}' --`])
      expect((await signIn(api, name)).status, name).to.equal(401);
    for (const role of ["admin' or '1'='1", 'admin) or (1=1', 'owner,admin;--', '%']) {
      const answer = await owner.me.listUsers({ query: { role } });
      expect(answer.status, role).to.equal(400);
    }
    expect((await owner.me.listUsers({ query: { q: '%' } })).body.items).to.deep.equal([]);
  });

  it('Navidrome CVE-2023-51442, Kavita CVE-2026-47202: a token by a key that everybody knows, for a name, opens nothing', async () => {
    const { id, username, accessToken } = owner;
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const payload = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as object;
    const jwk = api.deps.keys.signing[0]?.publicKey as unknown as { export?: (as: object) => object };
    const known = ['', 'secret', 'not so secret', 'your-256-bit-secret', api.deps.keys.serverId];
    known.push(JSON.stringify(jwk?.export?.({ format: 'jwk' }) ?? {}));
    for (const key of known) {
      for (const claims of [payload, { ...payload, sub: username }, { sub: id, uid: id, adm: true, exp: 9e9 }]) {
        const text = `${part({ alg: 'HS256', typ: 'at+jwt', kid: api.deps.keys.signing[0]?.kid })}.${part(claims)}`;
        const token = `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
        expect((await withToken(api, token).getMe()).status, key).to.equal(401);
      }
    }
  });

  it('Kavita CVE-2026-47202: each one-time word is for its own purpose', async () => {
    const { id, refreshToken, accessToken } = await somebody(api);
    const invite = (await owner.me.createInvite({ body: {} })).body.url?.split('code=')[1] ?? '';
    const reset = (await owner.me.resetUserSignIn({ params: { id }, body: {} })).body;
    const link = JSON.stringify(reset).match(/(?:token|code)=([\w-]+)/)?.[1] ?? '';
    expect([invite.length > 20, link.length > 20], 'there are words to try').to.deep.equal([true, true]);
    const tries: Record<string, (word: string) => Promise<{ status: number }>> = {
      access: (word) => withToken(api, word).getMe(),
      refresh: (word) => api.anyone.refreshSession({ body: { refreshToken: word }, headers: device }),
      reset: (word) => api.anyone.completePasswordReset({ body: { token: word, newPassword: 'another long one' } }),
      invite: (word) => api.anyone.acceptInvite({ body: { code: word, username: 'thief', password: PASSWORD } }),
      claim: (word) => api.anyone.claimServer({ body: { code: word } }),
    };
    const words: Record<string, string> = { access: accessToken, refresh: refreshToken, reset: link, invite };
    for (const [purpose, attempt] of Object.entries(tries)) {
      for (const [kind, word] of Object.entries(words).filter(([name]) => name !== purpose)) {
        await api.deps.redis.flushdb();
        const answer = await attempt(word);
        expect(answer.status, `${kind} as ${purpose}`).to.be.within(400, 499);
      }
    }
    expect((await tries['reset']?.(link))?.status, 'for its own it still works').to.equal(200);
  });

  it('Emby CVE-2025-64113: a way back in has 128 bits, is kept as a hash, works once and not after its time', async () => {
    const tokens = new Set<string>();
    const { id } = await somebody(api);
    const fresh = async (): Promise<string> => {
      const { body } = await owner.me.resetUserSignIn({ params: { id }, body: {} });
      return JSON.stringify(body).match(/(?:token|code)=([\w-]+)/)?.[1] ?? '';
    };
    const redeem = (token: string) =>
      api.anyone.completePasswordReset({ body: { token, newPassword: 'another long one' } });
    for (let i = 0; i < 3; i += 1) tokens.add(await fresh());
    expect(tokens.size).to.equal(3);
    for (const token of tokens) expect(token.replace(/^[a-z]+_/, '').length).to.be.at.least(22);
    const rows = JSON.stringify(await api.deps.db('password_resets').select('*'));
    for (const token of tokens) expect(rows).to.not.include(token);
    const last = [...tokens][2] ?? '';
    expect((await redeem(last)).status).to.equal(200);
    expect((await redeem(last)).status).to.equal(404);
    const old = await fresh();
    await api.deps.db('password_resets').update({ expires_at: new Date(Date.now() - 1000) });
    expect((await redeem(old)).status).to.equal(404);
    for (const path of ['forgot', 'password/recover', 'pin', 'easy-password', 'password-reset/pin'])
      expect((await api.fetch(`/api/v1/auth/${path}`, { method: 'POST' })).status, path).to.be.oneOf([401, 404, 405]);
  });

  it('Navidrome CVE-2024-56362: no signing or sealing key is in the database', async () => {
    const { me } = owner;
    await me.startTotp();
    await me.updateSettings({ body: { values: { 'email.smtp.password': 'canary of a mail server' } } });
    const ring = JSON.parse(readFileSync(api.config.keysFile, 'utf8')) as {
      signing: { jwk: { d: string } }[];
      sealing: { key: string }[];
      cursor: string;
    };
    const secrets = [
      ...ring.signing.map(({ jwk }) => jwk.d),
      ...ring.sealing.map(({ key }) => key),
      ring.cursor,
      'canary of a mail server',
    ];
    const { rows } = await api.deps.db.raw<{ rows: { name: string }[] }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    expect(rows.length).to.be.greaterThan(30);
    for (const { name } of rows) {
      const text = JSON.stringify(await api.deps.db(name).select('*'));
      for (const secret of secrets) expect(text.includes(secret), `${name} holds a key`).to.equal(false);
    }
  });

  it('Emby CVE-2023-33193 and CVE-2021-25827, Jellyfin CVE-2025-32012, Sonarr CVE-2026-30975, Cleanuparr CVE-2026-44183, Navidrome GHSA-f295: a claim to be at home opens nothing and lifts no limit', async () => {
    const forged = (address: string) => ({
      'x-forwarded-for': address,
      'x-real-ip': address,
      forwarded: `for=${address}`,
      'x-client-ip': address,
      'true-client-ip': address,
      'cf-connecting-ip': address,
      'x-forwarded-host': 'localhost',
      'remote-user': 'owner',
      'x-forwarded-user': 'owner',
    });
    for (const address of ['127.0.0.1', '::1', '192.168.1.2', '10.0.0.1', '127.0.0.1, 8.8.8.8']) {
      const local = clientFor(api.url, forged(address));
      for (const endpoint of all.filter((one) => !('anyone' in one.access))) {
        if (endpoint.method !== 'get') continue;
        const params = Object.fromEntries(
          [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, ABSENT]),
        );
        const answer = await local[endpoint.operationId as keyof typeof local]({ params });
        expect(answer.status, `${endpoint.operationId} from ${address}`).to.equal(401);
      }
    }
    const statuses: number[] = [];
    for (let i = 0; i < 12; i += 1) {
      const headers = { ...device, ...forged(`192.168.1.${i}`) };
      statuses.push((await api.anyone.login({ body: { username: `name ${i}`, password: 'wrong' }, headers })).status);
    }
    expect(statuses.slice(0, 10)).to.deep.equal(Array.from({ length: 10 }, () => 401));
    expect(statuses.slice(10)).to.deep.equal([429, 429]);
  });

  it('audiobookshelf CVE-2025-25205: no word in an address makes an operation public', async () => {
    const open = ['/api/v1/auth/login', '/api/v1/server/info', '/api/v1/branding/main/dark', '/api/v1/openapi.json'];
    const page = await (await api.fetch('/')).text();
    const tails = open.flatMap((path) => [
      `?${path}`,
      `?x=${path}`,
      `?x=1&r=${path}?`,
      `?${encodeURIComponent(path)}`,
      `;${path}`,
      `%3f${path}`,
    ]);
    for (const path of ['/users', '/settings', '/libraries', `/items/${ABSENT}`, '/jobs', '/webhooks', '/auth/me']) {
      for (const tail of tails) {
        const answer = await api.fetch(`/api/v1${path}${tail}`);
        expect(answer.status, path + tail).to.be.oneOf([400, 401, 404]);
        expect(JSON.stringify(await answer.json()), path + tail).to.match(/^\{"error":/);
      }
      for (const before of open) {
        const answer = await api.fetch(`${before}/%2e%2e/%2e%2e/%2e%2e${path}`);
        const isPage = answer.headers.get('content-type')?.startsWith('text/html'); // of the web app, the same for all
        if (isPage) expect(await answer.text(), before + path).to.equal(page);
        else expect(answer.status, before + path).to.be.oneOf([401, 404, 405]);
      }
    }
    const methods = await api.fetch('/api/v1/users', { headers: { 'x-http-method-override': 'OPTIONS' } });
    expect(methods.status).to.equal(401);
  });

  it('Immich CVE-2026-23896: a key changes no key, itself least of all, with any scopes', async () => {
    const key = await api.given.key(await api.given.admin(), ['library:view', 'user:manage', 'settings:manage']);
    const secret = key.headers['authorization']?.replace('Bearer ', '') ?? '';
    const hash = createHash('sha256').update(secret).digest();
    const { id } = await api.deps.db('api_keys').where({ hash }).first<{ id: string }>('id');
    const me = api.as(key);
    for (const answer of [
      await me.updateApiKey({ params: { id }, body: { scopes: ['library:view', 'library:manage'] } }),
      await me.createApiKey({ body: { name: 'more', scopes: ['library:manage'], expiresAt: null } }),
      await me.revokeApiKey({ params: { id } }),
      await me.listApiKeys(),
    ])
      expect([answer.status, errorOf(answer).details.by]).to.deep.equal([403, 'api-key']);
    const row = await api.deps.db('api_keys').where({ id }).first<{ scopes: string[] }>('scopes');
    expect(row?.scopes).to.deep.equal(['library:view', 'user:manage', 'settings:manage']);
  });
});
