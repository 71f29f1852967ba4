import { type SendRequest, Unreachable } from '../server-api/server-client.ts';
import { secretValue } from '../server-environment.ts';
import { urlRefs } from '../tuner-device/environment.ts';
import { readFacts, type ServerFacts, type ServerTuner } from '../tuner-device/server-facts.ts';
import { type DeclaredTuner, type SyncedTuner, syncTuner } from '../tuner-device/server-tuner.ts';
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
      const facts = await readFacts(this.#request);
      if (!facts) return;
      this.#added = facts.tuners.filter((tuner) => !tuner.managedBy && tuner.enabled);
      await this.#sync(resources, facts);
      await this.#deleteLeft(resources, facts);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }

  async #sync(resources: Resources, facts: ServerFacts): Promise<void> {
    for (const name of this.#synced.keys())
      if (!resources.tuners.some((tuner) => tuner.name === name)) this.#synced.delete(name);
    for (const tuner of resources.tuners) {
      const owner = managedBy(tuner, this.#place);
      const context = { request: this.#request, mediaId: (name: string) => this.#place.mediaId(name), facts };
      const declared = { name: tuner.name, spec: tuner.spec, ...addressesOf(tuner, resources) };
      this.#synced.set(tuner.name, await syncTuner(declared, { ...context, managedBy: owner, sent: this.#sent }));
    }
  }

  /** A resource that is declared but invalid keeps its tuner and its guide. */
  async #deleteLeft({ tuners: wanted, declared }: Resources, { tuners, guides }: ServerFacts): Promise<void> {
    const isLeft = ({ managedBy: owner }: Pick<ServerTuner, 'managedBy'>): boolean =>
      owner?.kind === 'TunerDevice' &&
      !wanted.some(({ name }) => name === owner.name) &&
      !declared.has(`TunerDevice/${owner.name}`);
    for (const { id } of guides.filter(isLeft)) await this.#request('DELETE', `/live/guide/sources/${id}`);
    for (const { id } of tuners.filter(isLeft)) await this.#request('DELETE', `/live/tuners/${id}?force=true`);
  }
}

/** Addresses that Secrets hold. */
function addressesOf({ spec }: Tuner, { secrets }: Resources): Pick<DeclaredTuner, 'url' | 'guideUrl'> {
  const values = new Map(urlRefs(spec).map(({ variable, ref }) => [variable, secretValue(secrets, ref)]));
  return { url: values.get('FOYER_TUNER_URL'), guideUrl: values.get('FOYER_TUNER_GUIDE_URL') };
}
