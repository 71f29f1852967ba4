// Finds the REST path of a kind, and whether the API server serves the kind.
import { hasStatus } from './faults.ts';
import type { Rest } from './rest.ts';

export interface Place {
  /** `/apis/apps/v1` */
  base: string;
  plural: string;
  namespaced: boolean;
}

interface ResourceList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

export class Discovery {
  readonly #rest: Rest;
  readonly #known = new Map<string, Promise<ResourceList>>();

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** Undefined while it is not served; the next call requests it again. */
  async find(apiVersion: string, kind: string): Promise<Place | undefined> {
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const list = await this.#list(base);
    const found = list.resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
    if (found) return { base, plural: found.name, namespaced: found.namespaced };
    this.#known.delete(base);
    return undefined;
  }

  /** The kind is no longer served: a CRD can be deleted. */
  forget(apiVersion: string): void {
    this.#known.delete(apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
  }

  #list(base: string): Promise<ResourceList> {
    const known = this.#known.get(base);
    if (known) return known;
    const listing = this.#rest.read<ResourceList>({ method: 'GET', path: base }).catch((error: unknown) => {
      this.#known.delete(base);
      if (hasStatus(error, 404)) return { resources: [] };
      throw error;
    });
    this.#known.set(base, listing);
    return listing;
  }
}

/** `/apis/apps/v1/namespaces/media/deployments/home-api` */
export function pathOf(place: Place, namespace: string | undefined, name?: string): string {
  const scope = place.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${place.base}${scope}/${place.plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}
