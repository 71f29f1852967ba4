import { expect } from 'chai';
import { ApiError } from '#kernel/errors.ts';
import { countKeyRequest, type Limiter, limitAttempts, limitHere } from '#kernel/rate-limit.ts';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { notePeer } from '#platform/peers.ts';
import { connectRedis } from '#platform/redis.ts';
import { atEnd, redisUrl } from '#support/stores.ts';

describe('rate limit', () => {
  let url: string;
  before(async () => {
    url = await redisUrl();
  });
  /** One of `replicas` processes, with a connection of its own. */
  const replica = (replicas: number, to = url): Limiter => {
    const redis = connectRedis(to, createLog('silent', 'test'));
    atEnd(() => redis.disconnect());
    return { redis, replicas };
  };
  const refused = (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.code === 'RATE_LIMITED',
    );
  const count = async (attempts: Promise<unknown>[]): Promise<number> =>
    (await Promise.all(attempts.map(refused))).filter((was) => !was).length;

  it('lets exactly the limit through on two replicas together, all at once', async () => {
    const [one, two] = [replica(2), replica(2)];
    const key = newId();
    const attempts = Array.from({ length: 40 }, (_, i) => limitAttempts(i % 2 ? one : two, key, 10));
    expect(await count(attempts)).to.equal(10);
    expect(await refused(limitAttempts(one, key, 10))).to.equal(true);
    expect(await refused(limitAttempts(one, newId(), 10)), 'another key').to.equal(false);
  });

  it('returns how many attempts are left, and counts refused ones too', async () => {
    const one = replica(1);
    const key = newId();
    const left = [await limitAttempts(one, key, 2), await limitAttempts(one, key, 2)];
    expect(left).to.deep.equal([1, 0]);
    for (let i = 0; i < 3; i += 1) expect(await refused(limitAttempts(one, key, 2))).to.equal(true);
    expect(await one.redis.zcard(`limit:${key}`)).to.equal(5);
    expect(await one.redis.pttl(`limit:${key}`))
      .to.be.greaterThan(50_000)
      .and.at.most(60_000);
  });

  it('lets an attempt go after its minute', async () => {
    const one = replica(1);
    const key = newId();
    await limitAttempts(one, key, 1);
    expect(await refused(limitAttempts(one, key, 1))).to.equal(true);
    const members = await one.redis.zrange(`limit:${key}`, '0', '-1');
    for (const member of members) await one.redis.zadd(`limit:${key}`, String(Date.now() - 60_001), member);
    expect(await refused(limitAttempts(one, key, 1))).to.equal(false);
  });

  it('is its share of the limit without Redis: tighter, never open', async () => {
    const unreachable = replica(4, 'redis://127.0.0.1:9');
    const key = newId();
    const attempts: Promise<unknown>[] = [];
    for (let i = 0; i < 12; i += 1) attempts.push(limitAttempts(unreachable, key, 10));
    expect(await count(attempts)).to.equal(2);
    const small = newId();
    expect(await count([limitAttempts(unreachable, small, 3), limitAttempts(unreachable, small, 3)])).to.equal(1);
  });

  it('is shared by the processes that Redis knew last, where no replica count is given', async () => {
    const { redis } = replica(1);
    const unreachable = replica(1, 'redis://127.0.0.1:9');
    const through = async (): Promise<number> => {
      const key = newId();
      return count(Array.from({ length: 12 }, () => limitAttempts(unreachable, key, 10)));
    };
    expect(await through()).to.equal(10);
    for (const pod of ['api-a', 'api-b', 'api-c', 'api-d', 'api-a']) await notePeer(redis, pod);
    expect(await through()).to.equal(2);
    await notePeer(unreachable.redis, 'api-a');
    expect(await through(), 'the last known state stays').to.equal(2);
    await redis.del('foyer:apis');
    await notePeer(redis, 'api-a');
    expect(await through()).to.equal(10);
  });

  it('counts a key the same on every replica and returns the rest', async () => {
    const [one, two] = [replica(2), replica(2)];
    const key = newId();
    const all = await Promise.all(Array.from({ length: 6 }, (_, i) => countKeyRequest(i % 2 ? one : two, key, 5)));
    expect(all.map((each) => each.remaining).sort((a, b) => a - b)).to.deep.equal([-1, 0, 1, 2, 3, 4]);
    for (const { limit, resetSec } of all) expect([limit, resetSec > 0 && resetSec <= 60]).to.deep.equal([5, true]);
    const unreachable = replica(2, 'redis://127.0.0.1:9');
    const left = [
      await countKeyRequest(unreachable, key, 4),
      await countKeyRequest(unreachable, key, 4),
      await countKeyRequest(unreachable, key, 4),
    ];
    expect(left.map((each) => each.remaining)).to.deep.equal([1, 0, -1]);
    const share = await countKeyRequest(replica(4, 'redis://127.0.0.1:9'), newId(), 5);
    expect(share.remaining, 'rounded up').to.equal(1);
  });

  it('of one process is not lifted by a flood of other names', () => {
    const key = newId();
    for (let i = 0; i < 3; i += 1) limitHere(key, 3);
    for (let i = 0; i < 9_000; i += 1) limitHere(`flood-${i}`, 3);
    expect(() => limitHere(key, 3)).to.throw(ApiError);
    for (let i = 0; i < 9_000; i += 1) limitHere(`more-${i}`, 3);
    expect(() => limitHere(key, 3)).to.throw(ApiError);
  });
});
