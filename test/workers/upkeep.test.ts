import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { expireKeys, expireSessions, trimJobs } from '#workers/upkeep-jobs.ts';
import { trimWebhooks } from '#workers/webhooks/deliver.ts';
import type { Work } from '#workers/work.ts';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

describe('expiry without a request', () => {
  let api: Api;
  let work: Work;
  before(async () => {
    api = await startApi();
    work = { db: api.deps.db } as unknown as Work;
  });
  const ids = async (table: string): Promise<string[]> => (await api.deps.db(table).pluck('id')) as string[];

  it('are dead sign-ins with the records that only they use, and not those that live', async () => {
    const { db } = api.deps;
    const person = await api.given.member();
    const session = async (more: object, token?: object): Promise<string> => {
      const { sessionId } = await api.given.again(person, more as Record<string, unknown>);
      const row = { hash: randomBytes(32), session_id: sessionId, number: 1, expires_at: daysAgo(-20) };
      if (token) await db('refresh_tokens').insert({ ...row, ...token });
      return sessionId;
    };
    const living = await session({ created_at: daysAgo(40) }, {});
    const young = await session({});
    const gone = [
      await session({ expires_at: daysAgo(0.001) }, {}),
      await session({ created_at: daysAgo(31) }, { expires_at: daysAgo(0.5) }),
      await session({ created_at: daysAgo(2) }, { used_at: daysAgo(1) }),
    ];
    await expireSessions({}, work);
    const left = await ids('sessions');
    expect(left).to.include.members([living, young, person.sessionId]);
    expect(left.filter((id) => gone.includes(id))).to.deep.equal([]);
    const tokens = await db('refresh_tokens').pluck('session_id');
    expect(tokens).to.deep.equal([living]);
  });

  it('are lines of the audit log after a year, and devices that were unused for 180 days', async () => {
    const { db } = api.deps;
    const { accountId } = await api.given.member();
    const line = async (at: Date): Promise<string> => {
      const id = newId();
      await db('audit_log').insert({ id, account_id: accountId, action: 'sign-in', at });
      return id;
    };
    const device = async (at: Date): Promise<string> => {
      const id = newId();
      await db('devices').insert({ id, account_id: accountId, client_id: id, name: 'x', last_seen_at: at });
      return id;
    };
    const [kept, old] = [await line(daysAgo(364)), await line(daysAgo(366))];
    const [used, unused] = [await device(daysAgo(179)), await device(daysAgo(181))];
    await expireSessions({}, work);
    expect(await ids('audit_log'))
      .to.include(kept)
      .and.not.include(old);
    expect(await ids('devices'))
      .to.include(used)
      .and.not.include(unused);
  });

  it('are keys that ended thirty days ago: until then the list has them, by the earlier of both ends', async () => {
    const member = await api.given.member();
    const key = async (more: object) => (await api.given.key(member, ['library:view'], more as never)).keyId;
    const lately = await key({ revoked_at: daysAgo(29) });
    const expired = await key({ expires_at: daysAgo(29) });
    const old = [
      await key({ revoked_at: daysAgo(31) }),
      await key({ expires_at: daysAgo(31) }),
      await key({ revoked_at: daysAgo(31), expires_at: daysAgo(-5) }),
    ];
    const listed = (await api.as(member).listApiKeys()).body.items.map(({ id, state }) => [id, state]);
    expect(listed).to.have.deep.members([
      [lately, 'revoked'],
      [expired, 'expired'],
    ]);
    await expireKeys({}, work);
    const left = await ids('api_keys');
    expect(left).to.include.members([lately, expired]);
    expect(left.filter((id) => old.includes(id))).to.deep.equal([]);
    const operators = await api.deps.db('api_keys').where({ operator: true });
    expect(operators).to.have.length(1);
  });

  it('are deliveries of webhooks after 30 days and beyond 5,000, and their bodies after 7; waiting ones stay', async () => {
    const { db } = api.deps;
    const owner = await api.given.owner();
    const body = { name: 'hook', url: 'https://hooks.example/x', events: ['user.created'] };
    const { id: webhookId } = (await api.as(owner).createWebhook({ body })).body;
    const delivery = async (days: number, state = 'delivered'): Promise<string> => {
      const id = newId();
      const row = { id, webhook_id: webhookId, event: 'user.created', event_id: newId(), format: 'json', state };
      await db('webhook_deliveries').insert({ ...row, body: 'x', size_bytes: 1, created_at: daysAgo(days) });
      return id;
    };
    const [fresh, weeks, old] = [await delivery(6), await delivery(8), await delivery(31)];
    const waiting = await delivery(31, 'waiting');
    const bodies = async () =>
      new Map(
        (await db('webhook_deliveries').select('id', 'body')).map((row: { id: string; body: unknown }) => [
          row.id,
          row.body !== null,
        ]),
      );
    await trimWebhooks({}, work);
    expect([...(await bodies())]).to.have.deep.members([
      [fresh, true],
      [weeks, false],
      [waiting, true],
    ]);
    expect(await ids('webhook_deliveries')).to.not.include(old);
    await db.raw(
      `insert into webhook_deliveries (id, webhook_id, event, event_id, format, state, size_bytes)
       select gen_random_uuid(), ?, 'user.created', gen_random_uuid(), 'json', 'failed', 1 from generate_series(1, 5000)`,
      [webhookId],
    );
    await trimWebhooks({}, work);
    const left = await bodies();
    expect(left.size, '5,000 that are done, and what waits').to.equal(5001);
    expect([left.has(fresh), left.has(weeks), left.has(waiting)]).to.deep.equal([false, false, true]);
  });

  it('are jobs seven days after their end, failed ones after 30, and the oldest beyond the maximum', async () => {
    const { db } = api.deps;
    const job = async (days: number, state = 'completed', more: object = {}): Promise<string> => {
      const id = newId();
      const row = { id, kind: 'webhook.deliver', queue: 'delivery', state, finished_at: daysAgo(days), ...more };
      await db('jobs').insert(row);
      return id;
    };
    await db('jobs').whereNotNull('finished_at').delete();
    const [fresh, weeks, failed] = [await job(6), await job(8), await job(29, 'failed')];
    const child = await job(5, 'completed', { parent_id: fresh });
    const [gone, waiting] = [await job(31, 'failed'), await job(0, 'delayed', { finished_at: null })];
    await trimJobs(db);
    expect(await ids('jobs'))
      .to.include.members([fresh, child, failed, waiting])
      .and.not.include.members([weeks, gone]);
    await trimJobs(db, 1);
    expect(await ids('jobs'))
      .to.include.members([fresh, child, waiting])
      .and.not.include(failed);
  });
});
