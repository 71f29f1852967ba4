import { type Bucket, bucketsIn, readBucketIds } from '../declared/buckets.ts';
import { reconcileLibrary, releaseLibrary } from '../library/library.ts';
import type { Verdict } from '../schemas/conditions.ts';
import type { LibrarySpec, LibraryStatus } from '../schemas/library.ts';
import { accountsNamed, accountsOf } from '../server-api/accounts.ts';
import { type SendRequest, Unreachable } from '../server-api/server-client.ts';
import { managedBy, type Place } from './environment.ts';
import type { Resource, Resources } from './resources.ts';
import type { StatusFile, Stored } from './status-file.ts';

/** Reconciles every Library resource, and releases libraries whose resource was removed. */
export class LibraryReconciler {
  readonly #status: StatusFile;
  readonly #request: SendRequest;
  readonly #place: Pick<Place, 'mediaId' | 'uidOf'>;

  constructor(status: StatusFile, request: SendRequest, place: Pick<Place, 'mediaId' | 'uidOf'>) {
    this.#status = status;
    this.#request = request;
    this.#place = place;
  }

  /** One pass over all libraries. It ends early when the server becomes unreachable; the next pass continues. */
  async pass(resources: Resources): Promise<void> {
    try {
      const media = await this.#buckets(resources);
      for (const library of resources.libraries) await this.#one(library, media);
      for (const item of this.#status.ofKind('Library'))
        if (!isWanted(resources, item.metadata.name)) await this.#release(item);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.serverUnavailable();
    }
  }

  serverUnavailable(): void {
    for (const item of this.#status.ofKind('Library')) {
      const verdict = { status: 'Unknown', reason: 'ServerNotReady', message: 'The server does not answer' } as const;
      const before = (item.status.conditions ?? []) as unknown as Verdict[];
      const kept = before.filter(({ type }) => type !== 'Ready');
      this.#status.report(item, { ...item.status }, [{ type: 'Ready', ...verdict }, ...kept.map(asVerdict)]);
    }
  }

  /** The buckets that libraries name, with the storages that the server has for them. */
  async #buckets({ servers, libraries }: Resources): Promise<Buckets> {
    const [server] = servers;
    const named = new Set(libraries.flatMap(({ spec }) => spec.folders.map(({ media }) => media)));
    const all = server ? bucketsIn(server.spec, () => undefined).filter(({ name }) => named.has(name)) : [];
    const ids = server ? await readBucketIds(this.#request, all, managedBy(server, this.#place)) : new Map();
    return { all, ids };
  }

  async #one(library: Resource<LibrarySpec>, buckets: Buckets): Promise<void> {
    const item = this.#status.get('Library', library.name);
    if (!item) return;
    const waiting = buckets.all.filter(({ name }) => !buckets.ids.has(name)).map(({ name }) => name);
    const missing = library.spec.folders.find(({ media }) => waiting.includes(media));
    if (missing) {
      const message = `the server has no storage for ${missing.media} yet: see MediaReady of the MediaServer`;
      const verdict = { type: 'Ready', status: 'Unknown', reason: 'ServerNotReady', message } as const;
      return this.#status.report(item, item.status as LibraryStatus, [verdict]);
    }
    const context = {
      request: this.#request,
      managedBy: managedBy(library, this.#place),
      mediaId: (name: string) => buckets.ids.get(name) ?? this.#place.mediaId(name),
      read: (id: string) => this.#request('GET', `/libraries/${id}`),
      accounts: async (usernames: readonly string[]) => accountsNamed(usernames, await accountsOf(this.#request)),
    };
    const { status, verdicts } = await reconcileLibrary(library, item.status as LibraryStatus, context);
    this.#status.report(item, status, verdicts);
  }

  async #release(item: Stored): Promise<void> {
    const done = await releaseLibrary(item.spec as LibrarySpec, item.status as LibraryStatus, this.#request);
    if (done) this.#status.drop('Library', item.metadata.name);
  }
}

interface Buckets {
  all: readonly Bucket[];
  ids: ReadonlyMap<string, string>;
}

/** A resource that is declared but invalid stays as it is in force. */
const isWanted = ({ libraries, declared }: Resources, wanted: string): boolean =>
  libraries.some(({ name }) => name === wanted) || declared.has(`Library/${wanted}`);

const asVerdict = ({ type, status, reason, message }: Verdict): Verdict => ({ type, status, reason, message });
