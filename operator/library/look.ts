// Polls all libraries of a server for changes that no watch reports. Libraries that changed on the server get a pass.
// Libraries whose resource was deleted are released, so that they can be edited in the app again. (With deletionPolicy
// `Delete` a finalizer holds the deletion instead.)
import { isSuspended } from '../media-server/server.ts';
import { after, type Controller, done, GROUP_VERSION, type Key, type Kube, type KubeObject } from '../runtime/kube.ts';
import { type LibraryList, NoList } from '../server-api/library-list.ts';
import { Unreachable } from '../server-api/server-client.ts';
import { referring, type Servers, serverNameOf } from '../server-api/servers.ts';
import { RELEASE_LIBRARY } from './library.ts';
import type { ServerLibrary } from './server-library.ts';

/** With jitter, below the 30 s within which a resource must report missing folders. */
const LOOK_MS = 24_000;
const UNAVAILABLE_MS = 15_000;

const nameOf = ({ namespace, name }: Key): string => `${namespace}/${name}`;

/** Jitter, so that many servers are not polled at the same moment. */
const about = (ms: number): number => ms * (0.8 + Math.random() * 0.4);

export function lookController(servers: Servers): Controller {
  /** Servers that did not respond at the last poll. Their libraries were already triggered and retry on their own. */
  const unavailable = new Set<string>();
  return {
    kind: 'MediaServer',
    name: 'library-look',
    watches: [
      {
        apiVersion: GROUP_VERSION,
        kind: 'Library',
        keys(library, reader) {
          const { namespace = '', name } = library.metadata;
          const server = serverNameOf(library);
          return reader.get('Library', namespace, name) || !server ? [] : [{ namespace, name: server }];
        },
      },
      { apiVersion: 'v1', kind: 'Secret', keys: () => [] },
    ],
    async reconcile(key, kube) {
      const server = kube.get('MediaServer', key.namespace, key.name);
      if (!server) servers.forget(key);
      if (!isServed(server)) return done;
      const list = servers.libraries(kube, key);
      if (!list || !kube.served('Library')) return after(about(UNAVAILABLE_MS));
      const isAnswered = await releaseOrphans(list, key, kube);
      if (isAnswered) unavailable.delete(nameOf(key));
      else if (!unavailable.has(nameOf(key))) {
        unavailable.add(nameOf(key));
        for (const library of referring('Library', key, kube)) servers.wake(library);
      }
      return after(about(isAnswered ? LOOK_MS : UNAVAILABLE_MS));
    },
  };
}

function isServed(server: KubeObject | undefined): boolean {
  return server !== undefined && !server.metadata.deletionTimestamp && !isSuspended(server);
}

/** False when the request must be repeated. */
async function releaseOrphans(list: LibraryList, { namespace }: Key, kube: Kube): Promise<boolean> {
  try {
    const left = (await list.all()).filter((library) => isOrphan(library, namespace, kube));
    const answers = await Promise.all(left.map(({ id }) => list.request('PATCH', `/libraries/${id}`, RELEASE_LIBRARY)));
    return answers.every(({ status }) => status < 300 || status === 404);
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof NoList)) throw error;
    return false;
  }
}

function isOrphan({ managedBy }: ServerLibrary, namespace: string, kube: Kube): boolean {
  if (managedBy?.kind !== 'Library' || managedBy.namespace !== namespace) return false;
  return kube.get('Library', namespace, managedBy.name)?.metadata.uid !== managedBy.uid;
}
