import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { ringOf } from '#platform/keys.ts';
import { mountReader } from '../readers/mount.ts';
import { Absent, joined, StorageFault, type StorageReader } from '../readers/reader.ts';
import { readerOfStorage } from '../registry.ts';
import { type FolderOnMount, holdsFiles, listSample } from '../states.store.ts';
import { type StorageRow, updateStorageRow } from '../storages.store.ts';
import { presentOf, readMarker, SAMPLE, writeMarker } from './identity.ts';

interface Deps {
  db: Db;
  config: Config;
}

const SAMPLED_MS = 60 * 60_000;

/** Of a storage that a check just proved: marks it when it is writable, else remembers some of its files. */
export async function rememberStorage(deps: Deps, row: StorageRow): Promise<void> {
  if (row.read_only) await sampleFiles(deps, row);
  else if (row.marked_at === null) await markStorage(deps, row).catch(ignoreFault);
}

/** A storage that cannot be written now is marked later. */
function ignoreFault(error: unknown): void {
  if (!(error instanceof StorageFault)) throw error;
}

/** Never over the marker of another server or storage; that one's owner must give it up. */
async function markStorage({ db, config }: Deps, row: StorageRow): Promise<void> {
  const { serverId } = await ringOf(config.keysFile);
  const reader = await readerOfStorage(config, row);
  const epoch = Number(row.epoch);
  const found = await readMarker(reader);
  const own = found !== undefined && found !== 'invalid' && found.server === serverId && found.storage === row.id;
  if (found !== undefined && !own) return;
  if (!own || found.epoch !== epoch) await writeMarker(reader, { server: serverId, storage: row.id, epoch });
  await updateStorageRow(db, row.id, { marked_at: new Date() });
}

/** Only files that are there are remembered, because rows may be older than the storage. */
async function sampleFiles({ db, config }: Deps, row: StorageRow): Promise<void> {
  const { identity } = row;
  const age = Date.now() - Date.parse(identity.sampledAt ?? '1970-01-01');
  if (age < SAMPLED_MS) return;
  if (!(await holdsFiles(db, row.id))) return;
  const reader = await readerOfStorage(config, row);
  const sample = (await presentOf(reader, await listSample(db, row.id, 2 * SAMPLE))).slice(0, SAMPLE);
  const { emptyEpoch: _empty, ...rest } = identity;
  await updateStorageRow(db, row.id, { identity: { ...rest, sample, sampledAt: new Date().toISOString() } });
}

/**
 * Folders that did not answer, such as a mount inside of the storage: each has a reader of its own, so that the storage and its
 * other folders do not wait for it.
 */
const hanging = new Set<string>();

function readerOfFolder(config: Config, folder: FolderOnMount): Pick<StorageReader, 'list'> {
  const { rootName: root, storagePath: path } = folder;
  if (!hanging.has(folder.id)) return mountReader(config, { root, path });
  const own = mountReader(config, { root, path: joined(path, folder.path) });
  return { list: (_path, options) => own.list('', options) };
}

/** Whether a folder of a library is there. An empty one where files are known counts as not mounted. */
export async function lookAtFolder(
  config: Config,
  folder: FolderOnMount,
  holds: () => Promise<boolean>,
): Promise<'there' | 'root-empty' | 'not-mounted' | 'timeout'> {
  try {
    const { entries } = await readerOfFolder(config, folder).list(folder.path, { most: 1 });
    hanging.delete(folder.id);
    return entries.length === 0 && (await holds()) ? 'root-empty' : 'there';
  } catch (error) {
    if (error instanceof StorageFault) {
      if (error.reason !== 'timeout') return 'not-mounted';
      hanging.add(folder.id);
      return 'timeout';
    }
    if (error instanceof Absent) return 'not-mounted';
    throw error;
  }
}
