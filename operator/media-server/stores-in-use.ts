// A managed store that the spec no longer has is kept while pods may still use it: faults in the spec remove nothing, and its
// replacement must be rolled out first. Pure.

import { childrenOf, type Observed, workloadOf } from './observed.ts';
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

/** The server with these stores in addition to those of its spec. */
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

/** Every pod runs this release. */
export function nothingElseRuns({ hash }: Release, observed: Observed): boolean {
  if (observed.release?.hash !== hash) return false;
  const all = childrenOf(observed, 'Deployment');
  const oldWorkers = Object.keys(observed.release.templates).length > 1;
  return all.length > 0 && !oldWorkers && all.every((object) => workloadOf(object).settled);
}
