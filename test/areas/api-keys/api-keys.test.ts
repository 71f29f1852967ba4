import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';

const error = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const draft = { name: 'script', scopes: ['library:view'], expiresAt: null } as const;

describe('API keys', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });

  const bearer = (secret: string): Person => ({ ...owner, headers: { authorization: `Bearer ${secret}` } });
  const made = async (by: Person, more: object = {}) => {
    const { status, body } = await api.as(by).createApiKey({ body: { ...draft, ...more } as never });
    expect(status, JSON.stringify(body)).to.equal(201);
    return { ...body, secret: body.secret ?? '' };
  };

  describe('createApiKey', () => {
    it('shows the secret once, stores its hash, and the key works', async () => {
      const member = await api.given.member();
      const answer = await api.as(member).createApiKey({ body: { ...draft, expiresAt: inDays(1) } });
      const { secret = '', id, hint } = answer.body;
      expect(answer.headers.get('cache-control')).to.equal('no-store');
      expect(secret).to.match(/^foyer_[\w-]{43}$/);
      expect(hint).to.equal(secret.slice(0, 10));
      const row = await api.deps.db('api_keys').where({ id }).first<{ hash: Buffer }>('hash');
      expect(row?.hash.equals(createHash('sha256').update(secret).digest())).to.equal(true);
      expect((await api.as(bearer(secret)).listLibraries()).status).to.equal(200);
      expect(JSON.stringify((await api.as(member).listApiKeys()).body)).to.not.include(secret);
    });

    it('gives the thing again to a repeat, without the secret', async () => {
      const member = await api.given.member();
      const request = { body: draft, headers: { 'idempotency-key': 'once' } };
      const first = await api.as(member).createApiKey(request);
      const again = await api.fetch('/api/v1/api-keys', {
        method: 'POST',
        headers: { ...member.headers, 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify(draft),
      });
      expect(again.status).to.equal(200);
      const body = (await again.json()) as Record<string, unknown>;
      expect(body.id).to.equal(first.body.id);
      expect(body).to.not.have.property('secret');
      const kept = await api.deps.db('idempotency_keys').where({ account_id: member.accountId }).select('answer');
      expect(JSON.stringify(kept)).to.not.include(first.body.secret ?? 'absent');
    });

    it('refuses scopes that the account lacks, naming just those', async () => {
      const answer = await api.as(await api.given.member()).createApiKey({
        body: { ...draft, scopes: ['library:view', 'user:manage', 'job:manage'] },
      });
      expect(answer.status).to.equal(403);
      expect(error(answer).details).to.deep.equal({ scopes: ['user:manage', 'job:manage'] });
    });

    it('refuses child and guest by role, a key by api-key, an old sign-in by confirm', async () => {
      for (const person of [await api.given.child(), await api.given.guest()])
        expect(error(await api.as(person).createApiKey({ body: draft })).details.by).to.equal('role');
      const { secret } = await made(owner);
      expect(error(await api.as(bearer(secret)).createApiKey({ body: draft })).details.by).to.equal('api-key');
      const stale = await api.given.member();
      await api.deps
        .db('sessions')
        .where({ id: stale.sessionId })
        .update({ confirmed_until: new Date(0) });
      const { details } = error(await api.as(stale).createApiKey({ body: draft }));
      expect(details).to.deep.equal({ by: 'confirm', methods: [] });
    });

    it('refuses an expiry out of its range, no expiry, no scope and an unknown one, all at once', async () => {
      for (const expiresAt of [new Date().toISOString(), inDays(3700), undefined]) {
        const answer = await api.as(owner).createApiKey({ body: { ...draft, expiresAt } as never });
        expect(answer.status).to.equal(400);
      }
      const answer = await api.as(owner).createApiKey({ body: { name: '', scopes: ['root'], extra: 1 } as never });
      expect((error(answer).details.issues as unknown[]).length).to.equal(4);
    });

    it('creates 50 and no more, also with concurrent requests', async () => {
      const member = await api.given.member();
      const answers = await Promise.all(Array.from({ length: 55 }, () => api.as(member).createApiKey({ body: draft })));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(50);
      const refused = answers.find(({ status }) => status === 409);
      expect(error(refused as never).details.reason).to.equal('too-many-keys');
    });
  });

  describe('listApiKeys', () => {
    it('shows own keys with their state, and which of their scopes the account still has', async () => {
      const member = await api.given.member();
      const { id } = await made(member, { scopes: ['library:view', 'download:own'] });
      await api.deps
        .db('accounts')
        .where({ id: member.accountId })
        .update({ own_permissions: '{"download:own":false}' });
      const { items } = (await api.as(member).listApiKeys()).body;
      expect(items.map((key) => [key.id, key.state, key.effectiveScopes])).to.deep.equal([
        [id, 'active', ['library:view']],
      ]);
      await api.as(member).revokeApiKey({ params: { id } });
      const revoked = (await api.as(member).listApiKeys({ query: { state: 'revoked' } })).body.items;
      expect(revoked.map((key) => key.id)).to.deep.equal([id]);
      expect((await api.as(member).listApiKeys({ query: { state: 'active' } })).body.items).to.deep.equal([]);
    });

    it("shows others' keys to those who manage users alone", async () => {
      const member = await api.given.member();
      await made(member);
      const query = { userId: member.accountId };
      expect((await api.as(owner).listApiKeys({ query })).body.items).to.have.length(1);
      expect(error(await api.as(await api.given.member()).listApiKeys({ query })).details.permission).to.equal(
        'user:manage',
      );
    });

    it("lists the operator's key among all, and lets no one change it", async () => {
      const all = (await api.as(owner).listApiKeys({ query: { userId: 'all', limit: '200' } as never })).body.items;
      const row = await api.deps.db('api_keys').where({ operator: true }).first<{ id: string }>('id');
      expect(all.map(({ id }) => id)).to.include(row?.id);
      const params = { id: row?.id ?? '' };
      for (const answer of [
        await api.as(owner).updateApiKey({ params, body: { name: 'mine' } }),
        await api.as(owner).revokeApiKey({ params }),
      ]) {
        expect(answer.status).to.equal(409);
        expect(error(answer as never).details.reason).to.equal('managed-by-resource');
      }
    });
  });

  describe('updateApiKey', () => {
    it('counts from the next request', async () => {
      const { id, secret } = await made(owner, { scopes: ['library:view', 'user:manage'] });
      const key = api.as(bearer(secret));
      expect((await key.listLibraries()).status).to.equal(200);
      await api.as(owner).updateApiKey({ params: { id }, body: { scopes: ['user:manage'] } });
      expect(error(await key.listLibraries()).details.scopes).to.deep.equal(['library:view']);
    });

    it('needs a confirmed session for more, not for less', async () => {
      const member = await api.given.member();
      const { id } = await made(member, { expiresAt: inDays(10), scopes: ['library:view', 'download:own'] });
      await api.deps
        .db('sessions')
        .where({ id: member.sessionId })
        .update({ confirmed_until: new Date(0) });
      const change = async (body: object) => (await api.as(member).updateApiKey({ params: { id }, body })).status;
      expect(await change({ requestsPerMinute: 10, expiresAt: inDays(5), scopes: ['library:view'] })).to.equal(200);
      for (const more of [{ requestsPerMinute: 11 }, { expiresAt: null }, { expiresAt: inDays(6) }])
        expect(await change(more)).to.equal(403);
      expect(await change({ scopes: ['library:view', 'playlist:own'] })).to.equal(403);
    });

    it("does not raise scopes beyond the account's by changing", async () => {
      const member = await api.given.member();
      const { id } = await made(member);
      const answer = await api.as(member).updateApiKey({ params: { id }, body: { scopes: ['settings:manage'] } });
      expect(error(answer).details.scopes).to.deep.equal(['settings:manage']);
    });

    it('leaves ended keys ended, and those of others unknown', async () => {
      const { id } = await made(owner);
      const stranger = await api.given.admin();
      expect((await api.as(stranger).updateApiKey({ params: { id }, body: { name: 'x' } })).status).to.equal(404);
      await api.as(owner).revokeApiKey({ params: { id } });
      const answer = await api.as(owner).updateApiKey({ params: { id }, body: { name: 'x' } });
      expect(error(answer).details.reason).to.equal('not-active');
    });
  });

  describe('revokeApiKey', () => {
    it('ends it from the next request, and may be repeated', async () => {
      const { id, secret } = await made(owner);
      for (let i = 0; i < 2; i += 1)
        expect((await api.as(owner).revokeApiKey({ params: { id } })).status).to.equal(204);
      const answer = await api.as(bearer(secret)).listLibraries();
      expect(error(answer).code).to.equal('AUTH_TOKEN_INVALID');
    });

    it("lets an admin revoke a member's, never the owner's", async () => {
      const [admin, member] = [await api.given.admin(), await api.given.member()];
      const [theirs, owners] = [await made(member), await made(owner)];
      expect((await api.as(admin).revokeApiKey({ params: { id: theirs.id } })).status).to.equal(204);
      expect((await api.as(admin).revokeApiKey({ params: { id: owners.id } })).status).to.equal(404);
      expect((await api.as(member).revokeApiKey({ params: { id: owners.id } })).status).to.equal(404);
    });
  });

  it('reports that a key has expired, and accepts none in a query', async () => {
    const { id, secret } = await made(owner);
    await api.deps
      .db('api_keys')
      .where({ id })
      .update({ expires_at: new Date(Date.now() - 1000) });
    expect(error(await api.as(bearer(secret)).listLibraries()).code).to.equal('AUTH_TOKEN_EXPIRED');
    const query = await api.fetch(`/api/v1/libraries?api_key=${secret}`);
    expect(query.status).to.equal(401);
  });

  it('is in the audit log also where all of an account are revoked at once', async () => {
    const member = await api.given.member();
    const [one, two] = [await made(member), await made(member)];
    const answer = await api.as(member).endOtherSessions({ query: { apiKeys: 'true' } as never });
    expect(answer.body.revokedKeys).to.equal(2);
    const rows = (await api.deps
      .db('audit_log')
      .where({ account_id: member.accountId })
      .whereIn('action', ['api-key.revoked', 'sessions-ended'])
      .select('action', 'details')) as { action: string; details: { keyId?: string } }[];
    expect(rows.map(({ action, details }) => details.keyId ?? action)).to.have.members([
      one.id,
      two.id,
      'sessions-ended',
    ]);
  });

  it('rejects a key in a query whatever else is sent, and logs the refusal without its value', async () => {
    const { secret } = await made(owner);
    const lines: string[] = [];
    const { warn } = api.deps.log;
    api.deps.log.warn = (...args: unknown[]) => void lines.push(JSON.stringify(args));
    const answers = await Promise.all([
      api.fetch(`/api/v1/libraries?api_key=${secret}`, { headers: owner.headers }),
      api.fetch(`/api/v1/server/info?token=${secret}`),
      api.fetch(`/api/v1/libraries?${secret}`),
    ]).finally(() => {
      api.deps.log.warn = warn;
    });
    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401]);
    expect(lines.filter((line) => line.includes('came in a query'))).to.have.length(3);
    expect(lines.join()).to.not.include(secret.slice(6));
  });

  it('bound to a profile, has the view and the permissions of the profile', async () => {
    const profileId = '01900000-0000-7000-8000-00000000abcd';
    await api.deps.db('profiles').insert({ id: profileId, account_id: owner.accountId, name: 'Kid' });
    const { secret, effectiveScopes } = await made(owner, { scopes: ['library:view', 'user:manage'], profileId });
    expect(effectiveScopes).to.deep.equal(['library:view']);
    const answer = await api
      .as(bearer(secret))
      .createLibrary({ body: { name: 'x', type: 'movies', folders: [] } as never });
    expect(answer.status).to.equal(403);
  });

  it('counts its uses: time, address and client', async () => {
    const { id, secret } = await made(owner);
    const key = bearer(secret);
    key.headers['x-client-name'] = 'cron';
    for (let i = 0; i < 3; i += 1) await api.as(key).listLibraries();
    await api.deps.keyUses.flush();
    const { items } = (await api.as(owner).listApiKeys({ query: { limit: '200' } as never })).body;
    const used = items.find((one) => one.id === id);
    expect(used).to.include({ requestsToday: 3, lastClientName: 'cron', lastAddress: '127.0.0.1' });
    expect(Date.now() - Date.parse(used?.lastUsedAt ?? '')).to.be.within(-1000, 60_000);
  });
});
