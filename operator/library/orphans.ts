// Libraries of a server whose resource is no more: they are let go of, so that people may change them again. Those with `Delete`
// hold their deletion for that; of the others nobody waits for anything, and the server is looked through once one has gone.
import { after, type Controller, done, GROUP_VERSION, type Key, type Kube, type KubeObject } from '../runtime/kube.ts';
import { NoList } from '../server-api/library-list.ts';
import { Unreachable } from '../server-api/server-client.ts';
import type { Servers } from '../server-api/servers.ts';
import { LET_GO, type ServerLibrary } from './library.ts';

/** Also where nothing is known to have gone: it may have, while no operator ran or a watch was lost. */
const LOOK_MS = 10 * 60_000;
const AWAY_MS = 15_000;

const nameOf = ({ namespace, name }: Key): string => `${namespace}/${name}`;

export function orphanController(servers: Servers): Controller {
  const lookedAt = new Map<string, number>();
  return {
    kind: 'MediaServer',
    name: 'orphan',
    watches: [
      {
        apiVersion: GROUP_VERSION,
        kind: 'Library',
        keys(library, reader) {
          const { namespace = '', name } = library.metadata;
          if (reader.get('Library', namespace, name)) return [];
          const server = { namespace, name: serverOf(library) };
          lookedAt.delete(nameOf(server));
          return [server];
        },
      },
      { apiVersion: 'v1', kind: 'Secret', keys: () => [] },
    ],
    async reconcile(key, kube, now) {
      const looked = lookedAt.get(nameOf(key));
      if (looked !== undefined && now.getTime() - looked < LOOK_MS) return after(LOOK_MS);
      if (!isServed(kube.get('MediaServer', key.namespace, key.name))) return done;
      lookedAt.set(nameOf(key), now.getTime());
      const fault = await letGo(key, kube, servers);
      if (!fault) return after(LOOK_MS);
      lookedAt.delete(nameOf(key));
      return after(AWAY_MS);
    },
  };
}

const serverOf = ({ spec }: KubeObject): string => (spec as { serverRef: { name: string } }).serverRef.name;

function isServed(server: KubeObject | undefined): boolean {
  const { suspend } = (server?.spec ?? {}) as { suspend?: boolean };
  return server !== undefined && !server.metadata.deletionTimestamp && !suspend;
}

/** True where the server must be asked again. */
async function letGo({ namespace, name }: Key, kube: Kube, servers: Servers): Promise<boolean> {
  const list = servers.libraries(kube, { namespace, name });
  if (!list || !kube.served('Library')) return true;
  try {
    const left = (await list.all()).filter((library) => isOrphan(library, namespace, kube));
    const answers = await Promise.all(left.map(({ id }) => list.ask('PATCH', `/libraries/${id}`, LET_GO)));
    return answers.some(({ status }) => status >= 300 && status !== 404);
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof NoList)) throw error;
    return true;
  }
}

function isOrphan({ managedBy }: ServerLibrary, namespace: string, kube: Kube): boolean {
  if (managedBy?.kind !== 'Library' || managedBy.namespace !== namespace) return false;
  return kube.get('Library', namespace, managedBy.name)?.metadata.uid !== managedBy.uid;
}
