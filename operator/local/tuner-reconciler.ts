import { type SendRequest, Unreachable } from '../server-api/server-client.ts';
import { secretValue } from '../server-environment.ts';
import { urlRefs } from '../tuner-device/environment.ts';
import {
  listLiveLibraries,
  listServerTuners,
  type ServerTuner,
  type SyncedTuner,
  syncTuner,
} from '../tuner-device/server-tuner.ts';
import { managedBy, type Place } from './environment.ts';
import type { Resources } from './resources.ts';
import type { KnownTuners } from './tuners.ts';

type Tuner = Resources['tuners'][number];

/** Makes every TunerDevice a tuner of the server, and knows the tuners that were added in the app. */
export class TunerReconciler {
  readonly #request: SendRequest;
  readonly #place: Pick<Place, 'mediaId' | 'uidOf'>;
  readonly #sent = new Map<string, string>();
  /** By the name of the resource. */
  readonly #synced = new Map<string, SyncedTuner>();
  #added: ServerTuner[] = [];

  constructor(request: SendRequest, place: Pick<Place, 'mediaId' | 'uidOf'>) {
    this.#request = request;
    this.#place = place;
  }

  /** What the server knows of tuners, for their processes, which share the environment of the server's. */
  known(environment: Record<string, string> = {}): KnownTuners {
    return { synced: this.#synced, added: this.#added, environment };
  }

  /** One pass over all tuners. It ends early when the server becomes unreachable; the next pass continues. */
  async pass(resources: Resources): Promise<void> {
    try {
      const tuners = await listServerTuners(this.#request);
      if (!tuners) return;
      this.#added = tuners.filter((tuner) => !tuner.managedBy && tuner.enabled);
      await this.#sync(resources, tuners);
      await this.#deleteLeft(resources, tuners);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }

  async #sync(resources: Resources, tuners: readonly ServerTuner[]): Promise<void> {
    if (resources.tuners.length === 0) return this.#synced.clear();
    const libraries = await listLiveLibraries(this.#request);
    for (const name of this.#synced.keys())
      if (!resources.tuners.some((tuner) => tuner.name === name)) this.#synced.delete(name);
    for (const tuner of resources.tuners) {
      const owner = managedBy(tuner, this.#place);
      const existing = tuners.find((one) => one.managedBy?.uid === owner.uid);
      const context = { request: this.#request, mediaId: (name: string) => this.#place.mediaId(name), libraries };
      const declared = { name: tuner.name, spec: tuner.spec, url: urlOf(tuner, resources) };
      const synced = await syncTuner(declared, { ...context, managedBy: owner, existing, sent: this.#sent });
      this.#synced.set(tuner.name, synced);
    }
  }

  /** A resource that is declared but invalid keeps its tuner. */
  async #deleteLeft({ tuners: wanted, declared }: Resources, tuners: readonly ServerTuner[]): Promise<void> {
    for (const { id, managedBy: owner } of tuners) {
      if (owner?.kind !== 'TunerDevice') continue;
      const isWanted = wanted.some(({ name }) => name === owner.name) || declared.has(`TunerDevice/${owner.name}`);
      if (!isWanted) await this.#request('DELETE', `/live/tuners/${id}?force=true`);
    }
  }
}

function urlOf({ spec }: Tuner, { secrets }: Resources): string | undefined {
  const [playlist] = urlRefs(spec).filter(({ variable }) => variable === 'FOYER_TUNER_URL');
  return playlist && secretValue(secrets, playlist.ref);
}
