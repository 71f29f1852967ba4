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
      for (const library of resources.libraries) await this.#one(library);
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

  async #one(library: Resource<LibrarySpec>): Promise<void> {
    const item = this.#status.get('Library', library.name);
    if (!item) return;
    const context = {
      request: this.#request,
      managedBy: managedBy(library, this.#place),
      mediaId: (name: string) => this.#place.mediaId(name),
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

/** A resource that is declared but invalid stays as it is in force. */
const isWanted = ({ libraries, declared }: Resources, wanted: string): boolean =>
  libraries.some(({ name }) => name === wanted) || declared.has(`Library/${wanted}`);

const asVerdict = ({ type, status, reason, message }: Verdict): Verdict => ({ type, status, reason, message });
