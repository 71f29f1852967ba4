import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { isBelow } from '#platform/is-below.ts';
import type { KindId } from '../kinds/ids.ts';
import { inTime, looks } from './looks.ts';

export interface Storage {
  id: string;
  kind: KindId;
  name: string;
  state: string;
  enabled: boolean;
  readOnly: boolean;
  ownerId: string | null;
  /** Name of the media root that contains the storage. */
  rootName: string | null;
  path: string;
  /** The storage came back, and its stability is not proven yet. */
  returning: boolean;
}

export async function findStorages(db: Db, ids: readonly string[]): Promise<Map<string, Storage>> {
  const rows = await db('storages')
    .whereIn('id', ids)
    .select('id', 'kind', 'name', 'state', 'enabled', 'read_only', 'owner_id', 'root_name', 'path', 'returned_at');
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        kind: row.kind,
        name: row.name,
        state: row.enabled ? row.state : 'disabled',
        enabled: row.enabled,
        readOnly: row.read_only,
        ownerId: row.owner_id,
        rootName: row.root_name,
        path: row.path,
        returning: row.returned_at !== null,
      },
    ]),
  );
}

export type Place = { kind: 'there'; absolute: string } | { kind: 'absent' | 'outside' | 'unavailable' };

/**
 * The path of `path` in this process, with links resolved and below the media root. Unknown when the root is gone or
 * does not respond within 5 seconds.
 */
export async function placeInStorage(
  config: Pick<Config, 'mediaRoots'>,
  storage: Pick<Storage, 'rootName' | 'path'>,
  path: string,
): Promise<Place> {
  const root = config.mediaRoots.find((one) => one.name === storage.rootName);
  const top = root && (await looks.run(root.path, () => realpath(root.path).catch(() => undefined)));
  if (!top || top === 'slow') return { kind: 'unavailable' };
  const own = join(top, storage.path);
  const found = await looks.run(own, () => realpath(join(own, path)).catch(() => undefined));
  if (found === 'slow') return { kind: 'unavailable' };
  if (!found) return { kind: 'absent' };
  return isBelow(top, found) ? { kind: 'there', absolute: found } : { kind: 'outside' };
}

export async function isFolder(absolute: string): Promise<boolean> {
  const found = await inTime(stat(absolute).catch(() => undefined));
  return found !== 'slow' && found?.isDirectory() === true;
}
