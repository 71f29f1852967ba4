import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import type { Page } from '#kernel/page.ts';
import type { Config, MediaRoot } from '#platform/config.ts';
import { mountReader } from '../readers/mount.ts';
import { StorageFault } from '../readers/reader.ts';
import type { Entry, HostQuery, HostRoot } from '../storages.schemas.ts';
import { listStorageRows } from '../storages.store.ts';
import { pageOfEntries } from './entries.ts';

interface HostEntries {
  items: Entry[];
  page: Page;
  root?: HostRoot;
  roots?: HostRoot[];
}

/** Folders below the media roots, which are where mounts can be; without a root the roots themselves. */
export async function readHost(call: Call, query: HostQuery): Promise<HostEntries> {
  const { config } = call.deps;
  const used = await usedRoots(call);
  if (query.root === undefined) {
    const roots = await Promise.all(config.mediaRoots.map((root) => describeRoot(config, root, used)));
    return { items: [], page: { cursor: null, hasMore: false, total: 0 }, roots };
  }
  const root = config.mediaRoots.find(({ name }) => name === query.root);
  if (!root) throw invalid(['query', 'root'], 'unknown_root', 'the server has no such media root');
  const reader = mountReader(config, { root: root.name, path: '' });
  const [listed, described] = await Promise.all([
    pageOfEntries(call, reader, {
      ...{ path: query.path, q: query.q, cursor: query.cursor, limit: query.limit, sort: query.sort },
      ...{ kind: 'directory', of: `listHostEntries ${root.name}`, storageId: root.id, absent: 'bad-path' },
    }),
    describeRoot(config, root, used),
  ]);
  return { ...listed, root: described };
}

/** Storages by media root. */
async function usedRoots({ db }: Call): Promise<Map<string, string[]>> {
  const rows = await listStorageRows(db);
  const byRoot = Map.groupBy(rows, (row) => row.root_name ?? '');
  return new Map([...byRoot].map(([root, found]) => [root, found.map(({ id }) => id)]));
}

async function describeRoot(
  config: Config,
  { name, readOnly }: MediaRoot,
  used: ReadonlyMap<string, string[]>,
): Promise<HostRoot> {
  const space = await mountReader(config, { root: name, path: '' })
    .space()
    .catch((error: unknown) => {
      if (error instanceof StorageFault) return undefined;
      throw error;
    });
  return {
    ...{ name, readOnly, ...space },
    state: space ? 'available' : 'unavailable',
    storageIds: used.get(name) ?? [],
    source: config.managedBy ? 'resource' : 'environment',
  };
}
