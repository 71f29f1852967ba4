import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { ringOf } from '#platform/keys.ts';
import { StorageFault, type StorageReader } from '../readers/reader.ts';
import { readerOfStorage } from '../registry.ts';
import type { StorageRow } from '../storages.store.ts';
import { type Checked, checkPlace } from './check.ts';
import { expectedOf } from './expected.ts';

interface Deps {
  db: Db;
  config: Config;
}

/** Checks a saved storage from this process and writes nothing to it. `afresh`: its identity is proved again, at the cost of its sample. */
export async function observeStorage({ db, config }: Deps, row: StorageRow, afresh = false): Promise<Checked> {
  const serverId = row.marked_at ? await serverIdOf(config) : undefined;
  const expected = await expectedOf(db, serverId, row);
  let reader: StorageReader | StorageFault;
  try {
    reader = await readerOfStorage(config, row);
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
    reader = error;
  }
  const open = (): StorageReader => {
    if (reader instanceof StorageFault) throw reader;
    return reader;
  };
  return checkPlace(open, { readOnly: row.read_only, expected: { ...expected, afresh }, write: false });
}

/** Undefined in decoder pods, which have no keys: they compare the storage and its epoch alone. */
const serverIdOf = ({ keysFile }: Config): Promise<string | undefined> =>
  ringOf(keysFile).then(
    ({ serverId }) => serverId,
    () => undefined,
  );
