import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Area, Endpoint } from '#kernel/endpoint.ts';

/** The routes of an area, and how to load its endpoints. */
export interface RoutedArea {
  slug: string;
  load: () => Promise<Area>;
  routes: readonly (readonly [method: Endpoint['method'], path: Endpoint['path'], operationId: string])[];
}

/** What the router knows about an endpoint before its area is loaded. */
export interface Route extends Pick<Endpoint, 'method' | 'path' | 'operationId'> {
  slug: string;
  load: () => Promise<Endpoint>;
}

/** Loads every area, one after another, so that requests are served in between. */
export async function loadAreas(areas: readonly RoutedArea[]): Promise<Area[]> {
  const loaded: Area[] = [];
  for (const { load } of areas) {
    loaded.push(await load());
    await nextTurn();
  }
  return loaded;
}

/**
 * Routes without their endpoints: loading hundreds of endpoints and schemas is most of the start time and of the memory
 * of an idle process.
 */
export function routesOf(areas: readonly RoutedArea[]): Route[] {
  return areas.flatMap(({ slug, load, routes }) => {
    let loaded: Promise<Map<string, Endpoint>> | undefined;
    const endpoints = async (): Promise<Map<string, Endpoint>> => {
      loaded ??= load().then((area) => new Map(area.endpoints.map((one) => [one.operationId, one])));
      loaded.catch(() => {
        loaded = undefined; // the next request tries again
      });
      return loaded;
    };
    return routes.map(([method, path, operationId]) => ({
      ...{ slug, method, path, operationId },
      load: async () => {
        const endpoint = (await endpoints()).get(operationId);
        if (!endpoint) throw new Error(`${operationId} is not in the area ${slug}: generate the routes again`);
        return endpoint;
      },
    }));
  });
}
