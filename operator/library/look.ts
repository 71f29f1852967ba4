// One look at all libraries of a server, for what no change of the cluster tells: those that the server shows otherwise than before
// get a pass, and those whose resource is no more are let go of, so that people may change them again. (Those with `Delete` hold
// their deletion for that; of the others nobody waits for anything.)
import { isSuspended } from '../media-server/server.ts';
import { after, type Controller, done, GROUP_VERSION, type Key, type Kube, type KubeObject } from '../runtime/kube.ts';
import { type LibraryList, NoList } from '../server-api/library-list.ts';
import { Unreachable } from '../server-api/server-client.ts';
import { referring, type Servers, serverNameOf } from '../server-api/servers.ts';
import { LET_GO } from './library.ts';
import type { ServerLibrary } from './server-library.ts';

/** With what it is spread by, below the half minute within which a resource tells of folders that are gone. */
const LOOK_MS = 24_000;
const AWAY_MS = 15_000;

const nameOf = ({ namespace, name }: Key): string => `${namespace}/${name}`;

/** Spread, so that many servers are not asked at one moment. */
const about = (ms: number): number => ms * (0.8 + Math.random() * 0.4);

export function lookController(servers: Servers): Controller {
  /** Servers that did not answer last time: their libraries know, and ask for themselves. */
  const away = new Set<string>();
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
      if (!list || !kube.served('Library')) return after(about(AWAY_MS));
      const isAnswered = await letGo(list, key, kube);
      if (isAnswered) away.delete(nameOf(key));
      else if (!away.has(nameOf(key))) {
        away.add(nameOf(key));
        for (const library of referring('Library', key, kube)) servers.wake(library);
      }
      return after(about(isAnswered ? LOOK_MS : AWAY_MS));
    },
  };
}

function isServed(server: KubeObject | undefined): boolean {
  return server !== undefined && !server.metadata.deletionTimestamp && !isSuspended(server);
}

/** False where the server must be asked again. */
async function letGo(list: LibraryList, { namespace }: Key, kube: Kube): Promise<boolean> {
  try {
    const left = (await list.all()).filter((library) => isOrphan(library, namespace, kube));
    const answers = await Promise.all(left.map(({ id }) => list.ask('PATCH', `/libraries/${id}`, LET_GO)));
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
