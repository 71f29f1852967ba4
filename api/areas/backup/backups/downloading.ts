import { type Redis, withoutFail } from '#platform/redis.ts';

const KEY = 'foyer:backup:download';
const LEASE_SEC = 60;

/** Takes the only download slot of the deployment; undefined while it is taken. The returned function releases it. */
export async function takeDownload(redis: Redis, id: string): Promise<(() => void) | undefined> {
  const taken = await redis.set(KEY, id, 'EX', LEASE_SEC, 'NX');
  if (taken === null) return undefined;
  const renew = setInterval(() => void redis.expire(KEY, LEASE_SEC).catch(() => 0), (LEASE_SEC * 1000) / 3);
  return () => {
    clearInterval(renew);
    void redis.del(KEY).catch(() => 0);
  };
}

export async function isDownloading(redis: Redis, id: string): Promise<boolean> {
  return (await withoutFail(() => redis.get(KEY), null)) === id;
}
