import type { Db } from '#platform/db.ts';
import type { Keys } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { OutboundOptions } from '#platform/outbound.ts';
import type { OutboundSocket } from '#platform/outbound-agent.ts';
import type { OutboundStream } from '#platform/outbound-stream.ts';
import type { Redis } from '#platform/redis.ts';
import type { Spool } from './spool.ts';

/** What the receptions of a tuner need. */
export interface KeeperDeps {
  db: Db;
  redis: Redis;
  objects: Objects;
  keys: Keys;
  log: Log;
  spool: Spool;
  /** Folder for files of this process. */
  folder: string;
  tunerId: string;
  send: OutboundStream;
  connect: OutboundSocket;
  networks: () => Pick<OutboundOptions, 'allow' | 'always'>;
  releaseSec: () => number;
  /** The time of the database, Unix ms. */
  now: () => number;
  /** When a stream of this process ended last, Unix ms. */
  releasedAt: () => number;
}
