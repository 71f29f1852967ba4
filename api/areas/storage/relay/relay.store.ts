import { randomBytes } from 'node:crypto';
import type { Db } from '#platform/db.ts';

const KEY_BYTES = 32;

/** The key of the tokens. It is in Postgres, the one secret store that the processes without keys have in common with the API. */
export async function relayKey(db: Db): Promise<Buffer> {
  const known = await findKey(db);
  if (known) return known;
  await db('relay_keys')
    .insert({ key: randomBytes(KEY_BYTES) })
    .onConflict('id')
    .ignore();
  const made = await findKey(db);
  if (!made) throw new Error('no key of the relay');
  return made;
}

async function findKey(db: Db): Promise<Buffer | undefined> {
  const [row] = await db('relay_keys').select('key');
  return row?.key;
}

/** The path of a library folder on a storage; undefined where the storage has no such folder. */
export async function folderPath(
  db: Db,
  { storageId, folderId }: { storageId: string; folderId: string },
): Promise<string | undefined> {
  const [row] = await db('library_folders').where({ id: folderId, storage_id: storageId }).select('path');
  return row?.path;
}
