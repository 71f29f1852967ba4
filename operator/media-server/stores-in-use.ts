// A managed store that the spec no longer has stays while pods may still use it: a spec with a fault takes nothing away, and what
// replaces it must have been rolled out. Pure.

import { childrenOf, type Seen, workloadOf } from './observed.ts';
import type { ManagedStores, Release } from './release.ts';
import type { Server } from './server.ts';

export function managedIn({ spec }: Server): ManagedStores {
  const { postgres, redis, objects } = spec;
  return {
    ...(postgres.managed && { postgres: postgres.managed }),
    ...(redis.managed && { redis: redis.managed }),
    ...(objects.managed && { objects: objects.managed }),
  };
}

/** The server with these stores beside those that its spec has. */
export function withStores(server: Server, held: ManagedStores = {}): Server {
  const { postgres, redis, objects } = server.spec;
  const spec = {
    ...server.spec,
    postgres: { ...postgres, ...(held.postgres && !postgres.managed && { managed: held.postgres }) },
    redis: { ...redis, ...(held.redis && !redis.managed && { managed: held.redis }) },
    objects: { ...objects, ...(held.objects && !objects.managed && { managed: held.objects }) },
  };
  return { ...server, spec };
}

/** Every pod is of this release. */
export function nothingElseRuns({ hash }: Release, seen: Seen): boolean {
  if (seen.release?.hash !== hash) return false;
  const all = childrenOf(seen, 'Deployment');
  const oldWorkers = Object.keys(seen.release.templates).length > 1;
  return all.length > 0 && !oldWorkers && all.every((object) => workloadOf(object).settled);
}
