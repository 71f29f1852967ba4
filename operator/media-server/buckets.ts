// spec.media[].s3 of the servers of a cluster.
import { bucketsIn, DeclaredBuckets, type ObservedBuckets } from '../declared/buckets.ts';
import type { SendRequest } from '../server-api/server-client.ts';
import type { Observed } from './observed.ts';
import type { Server } from './server.ts';

export class BucketsOfServers {
  readonly #buckets = new Map<string, DeclaredBuckets>();
  readonly #holdsMs: number | undefined;

  constructor(holdsMs?: number) {
    this.#holdsMs = holdsMs;
  }

  /** Makes the storages while the server is reachable; otherwise returns the last result. */
  async apply(server: Server, { api, secrets }: Observed, request: SendRequest): Promise<ObservedBuckets | undefined> {
    const { name, namespace, uid, spec } = server;
    const buckets = this.#buckets.get(uid) ?? new DeclaredBuckets(this.#holdsMs);
    this.#buckets.set(uid, buckets);
    if (!api.apiReady || spec.suspend) return buckets.observed;
    const managedBy = { kind: 'MediaServer', namespace, name, uid };
    return buckets.pass({ request, buckets: bucketsIn(spec, (secret) => secrets.get(secret)), managedBy });
  }

  /** The server was deleted. */
  forget(uid: string): void {
    this.#buckets.delete(uid);
  }
}
