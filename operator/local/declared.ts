// Declarations of the MediaServer that are applied through the server's API: spec.declared, and the buckets of spec.media.
import { DeclaredBodies, type ObservedDeclared } from '../declared/bodies.ts';
import { bucketsIn, DeclaredBuckets, type ObservedBuckets } from '../declared/buckets.ts';
import { DECLARED } from '../declared/verdict.ts';
import type { SendRequest } from '../server-api/server-client.ts';
import { managedBy, type Place, type Server } from './environment.ts';
import type { Resources } from './resources.ts';
import type { StatusFile } from './status-file.ts';

interface Given {
  request: SendRequest;
  place: Pick<Place, 'uidOf'>;
  status: StatusFile;
}

export class LocalDeclared {
  readonly #bodies = new DeclaredBodies();
  readonly #buckets = new DeclaredBuckets();
  readonly #given: Given;

  constructor(given: Given) {
    this.#given = given;
  }

  /** Results of the last passes. */
  get observed(): { declared?: ObservedDeclared; buckets?: ObservedBuckets } {
    const { observed: declared } = this.#bodies;
    const { observed: buckets } = this.#buckets;
    return { ...(declared && { declared }), ...(buckets && { buckets }) };
  }

  /** Makes the storages of the buckets. */
  async applyBuckets(server: Server, { secrets }: Resources): Promise<void> {
    const { request, place } = this.#given;
    const buckets = bucketsIn(server.spec, (name) => secrets.get(name));
    await this.#buckets.pass({ request, buckets, managedBy: managedBy(server, place) });
  }

  /** Applies spec.declared, and once more after its last entry was removed. */
  async applyBodies(server: Server, { configMaps }: Resources): Promise<void> {
    const { request, place, status } = this.#given;
    const maps = server.spec.declared.map(({ configMapRef: { name } }) => ({
      configMap: name,
      files: configMaps.get(name),
    }));
    const conditions = status.get('MediaServer', server.name)?.status.conditions ?? [];
    if (maps.length === 0 && !conditions.some((condition) => condition['type'] === DECLARED)) return;
    await this.#bodies.pass({ request, maps, managedBy: managedBy(server, place) });
  }
}
