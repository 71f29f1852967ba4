import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { childEnvironment } from './child-environment.ts';
import { writeWhole } from './files.ts';
import type { ProcessSpec } from './process-spec.ts';
import { findProgram } from './programs.ts';

const SERVERS = ['valkey-server', 'redis-server'];

export interface RedisOptions {
  dir: string;
  port: number;
  password: string;
  /** Keep the data over a restart; nothing depends on it. */
  durable: boolean;
}

/** Throws with installation advice when no server is installed. */
export function redisSpec({ dir, port, password, durable }: RedisOptions): ProcessSpec {
  const command = findProgram(SERVERS);
  if (!command)
    throw new Error(`none of ${SERVERS.join(', ')} is on the PATH: install one, or name yours in redis.secretRef`);
  const folder = join(dir, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const config = join(dir, 'run', 'redis.conf');
  writeWhole(config, `requirepass ${password}\n`); // not an argument: every user can read those
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--daemonize', 'no'];
  const keeping = ['--save', '', '--appendonly', durable ? 'yes' : 'no', '--maxmemory-policy', 'noeviction'];
  return {
    name: 'redis',
    role: 'redis',
    command,
    args: [config, ...flags, ...keeping],
    env: childEnvironment({}),
    cwd: folder,
    stopSignal: 'SIGTERM',
    graceMs: 5000,
    overlaps: false,
  };
}

export const redisUrl = (port: number, password: string): string => `redis://:${password}@127.0.0.1:${port}`;

/** True when it answers; otherwise the error. */
export async function queryRedis(url: string): Promise<true | string> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 2000,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  let fault = 'no answer';
  redis.on('error', (error) => {
    fault = error.message;
  });
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG' ? true : fault;
  } catch (error) {
    return fault === 'no answer' ? (error as Error).message : fault;
  } finally {
    redis.disconnect();
  }
}
