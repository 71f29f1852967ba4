import type { Db } from '#platform/db.ts';
import { holdsFiles } from '../states.store.ts';
import type { StorageRow } from '../storages.store.ts';
import type { Expected } from './identity.ts';

type Known = Pick<StorageRow, 'id' | 'epoch' | 'marked_at' | 'identity'>;

/** What the storage is compared with to prove that it is the same one. */
export async function expectedOf(db: Db, serverId: string | undefined, row: Known): Promise<Expected> {
  return {
    id: row.id,
    serverId,
    epoch: Number(row.epoch),
    marked: row.marked_at !== null,
    identity: row.identity,
    holdsFiles: await holdsFiles(db, row.id),
  };
}
