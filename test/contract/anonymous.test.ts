import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { type Api, startApi } from '#support/api.ts';

const open = areas
  .flatMap((area) => area.endpoints as readonly Endpoint[])
  .filter(({ access, body, proof }) => 'anyone' in access && body && !proof);

describe('operations that require no credential', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
    // Its attempts are counted by an address of their own, here and in memory: other files continue with ours.
    await api.deps.db('settings').insert({ key: 'network.trustedProxies', value: '["127.0.0.1/32"]' });
    await api.deps.settings.reload();
  });
  beforeEach(() => api.deps.redis.flushdb());

  const send = async ({ method, path, urlEncoded }: Endpoint, body: string) => {
    const type = urlEncoded ? 'application/x-www-form-urlencoded' : 'application/json';
    const init = {
      method: method.toUpperCase(),
      body,
      headers: { 'content-type': type, 'x-forwarded-for': '20.0.1.1' },
    };
    const response = await api.fetch(`/api/v1${path}`, init);
    const { error } = (await response.json()) as { error?: { code: string; details: { maxBytes?: number } } };
    return { status: response.status, error };
  };

  it('take 16 KiB and no more', async () => {
    expect(open.length).to.be.greaterThan(12);
    for (const endpoint of open) {
      const larger = await send(endpoint, `{"a":"${'x'.repeat(16 << 10)}"}`);
      expect([larger.status, larger.error?.details.maxBytes], endpoint.operationId).to.deep.equal([413, 16 << 10]);
    }
  });

  it('count the address before the body is read: ten that are no JSON are the last', async () => {
    for (const operationId of ['completePasswordReset', 'checkInvite', 'confirmEmailAddress']) {
      const endpoint = open.find((one) => one.operationId === operationId) as Endpoint;
      const statuses: number[] = [];
      for (let i = 0; i < 11; i += 1) statuses.push((await send(endpoint, '[')).status);
      expect(statuses, operationId).to.deep.equal([...Array<number>(10).fill(400), 429]);
    }
  });

  it('are bounded together where they count no failure of their own', async () => {
    const refresh = open.find((one) => one.operationId === 'refreshSession') as Endpoint;
    let last = 0;
    for (let i = 0; i < 700 && last !== 429; i += 1) last = (await send(refresh, '[')).status;
    expect(last).to.equal(429);
  });
});

describe('the faults of a body', () => {
  it('are listed a hundred at most, with names cut short', async () => {
    const api = await startApi();
    const headers = { ...(await api.given.admin()).headers, 'content-type': 'application/json' };
    const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${i}${'n'.repeat(150)}`, 0]));
    for (const body of [{ ids: Array<number>(19_000).fill(0) }, unknown, { ['n'.repeat(900_000)]: 0 }]) {
      const response = await api.fetch('/api/v1/jobs/cancel', { method: 'POST', headers, body: JSON.stringify(body) });
      const text = await response.text();
      const { error } = JSON.parse(text) as { error: { details: { issues: unknown[] } } };
      expect(response.status).to.equal(400);
      expect(error.details.issues.length).to.be.within(1, 100);
      expect(text.length).to.be.lessThan(50_000);
    }
  });
});
