import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { device, PASSWORD, somebody } from '#support/signing-in.ts';

describe('Auth: how often one may try to sign in', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
    await api.deps.db('settings').insert({ key: 'network.trustedProxies', value: '["127.0.0.1/32"]' });
    await api.deps.settings.reload();
  });
  beforeEach(() => api.deps.redis.flushdb());

  interface Try {
    from: string;
    password?: string;
    client?: Record<string, string>;
  }
  const attempt = async (username: string, { from, password = 'wrong', client = {} }: Try): Promise<number> =>
    (await api.anyone.login({ body: { username, password }, headers: { ...client, 'x-forwarded-for': from } })).status;
  const attempts = async (times: number, username: string, requested: Try): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < times; i += 1) statuses.push(await attempt(username, requested));
    return statuses;
  };
  const TEN = Array<number>(10).fill(401);

  it('is ten a minute of an address, and of a name from one network', async () => {
    const { username } = await somebody(api);
    expect(await attempts(11, username, { from: '93.184.1.1' })).to.deep.equal([...TEN, 429]);
    expect(await attempts(1, username, { from: '93.184.1.99' }), 'its neighbour').to.deep.equal([429]);
    expect(await attempts(1, username, { from: '93.184.1.1', password: PASSWORD }), 'the right one').to.deep.equal([
      429,
    ]);
    const six = await attempts(11, username, { from: '2600:1:2:3::1' });
    expect(six).to.deep.equal([...TEN, 429]);
    expect(await attempts(1, username, { from: '2600:1:2:3:ffff::1' })).to.deep.equal([429]);
  });

  it('is separate from others who know the name: the owner signs in from another network meanwhile', async () => {
    const { username } = await somebody(api);
    await attempts(11, username, { from: '93.184.1.1' });
    expect(await attempt(username, { from: '185.1.1.1', password: PASSWORD })).to.equal(200);
  });

  it('is separate for a device that signed in before, even while others try', async () => {
    const { username } = await somebody(api); // on `device`
    await attempts(12, username, { from: '93.184.1.1' });
    expect(await attempt(username, { from: '93.184.1.1', password: PASSWORD, client: device })).to.equal(200);
    const other = { 'x-client-id': 'never-seen-before-1' };
    expect(await attempt(username, { from: '93.184.1.1', password: PASSWORD, client: other })).to.equal(429);
    expect(await attempts(10, username, { from: '93.184.9.9', client: device })).to.deep.equal([...TEN.slice(1), 429]);
    expect(
      await attempt(username, { from: '185.1.1.1', password: PASSWORD }),
      'a device uses no budget of others',
    ).to.equal(200);
  });

  it('is not a device’s own for the names of others, nor once it is blocked', async () => {
    const [one, two] = [await somebody(api), await somebody(api)];
    await api.deps.redis.flushdb();
    await api.deps.db('devices').where({ account_id: two.id }).delete();
    await attempts(10, two.username, { from: '93.184.1.1', client: device });
    expect(await attempt(two.username, { from: '93.184.1.1', client: device })).to.equal(429);
    await api.deps.db('devices').where({ account_id: one.id }).update({ state: 'blocked' });
    expect(await attempt(one.username, { from: '93.184.1.1', client: device })).to.equal(429);
  });

  it('is a hundred a minute of one name from all networks together', async () => {
    const { username } = await somebody(api);
    await api.deps.redis.flushdb();
    const statuses: number[] = [];
    for (let i = 0; i < 101; i += 1) statuses.push(await attempt(username, { from: `93.184.${i}.1` }));
    expect(statuses.slice(0, 100)).to.deep.equal(Array<number>(100).fill(401));
    expect(statuses[100]).to.equal(429);
    expect(await attempt(username, { from: '185.1.1.1', password: PASSWORD, client: device })).to.equal(200);
  });
});
