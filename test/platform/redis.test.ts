import { expect } from 'chai';
import { createLog } from '#platform/log.ts';
import { connectRedis, type Redis } from '#platform/redis.ts';
import { eventually, startRedis } from '#support/stores.ts';

describe('the connection to Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let redis: Redis;
  before(async () => {
    server = await startRedis();
    redis = connectRedis(server.url, createLog('silent', 'test'));
    await redis.ping();
  });
  after(() => redis.disconnect());

  const failure = (): Promise<string | false> =>
    redis.ping().then(
      () => false as const,
      (error: Error) => error.message,
    );
  const isSlow = (message: string | false): boolean => message === 'Command timed out';

  it('lets commands fail at once while the server hangs, and continues when it does', async () => {
    server.process.kill('SIGSTOP');
    expect(await failure()).to.satisfy(isSlow);
    const quick = await eventually(async () => {
      const message = await failure();
      return message !== false && !isSlow(message) && message;
    });
    expect(quick).to.match(/writeable|closed/);
    server.process.kill('SIGCONT');
    await eventually(async () => (await failure()) === false);
  });

  it('lets commands fail at once while the server is gone', async () => {
    server.process.kill('SIGKILL');
    await eventually(async () => (await failure()) !== false);
    for (let i = 0; i < 20; i += 1) expect(await failure()).to.match(/writeable|closed/);
  });
});
