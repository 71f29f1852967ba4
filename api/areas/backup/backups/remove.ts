import type { Destination } from '#platform/backup/destination.ts';
import type { Db } from '#platform/db.ts';
import { notePlace } from '../settings/places.store.ts';

/** Takes the backup away: the manifest first, so that half of one is none. Its objects go later, if nobody names them. */
export async function removeBackup(destination: Destination, id: string): Promise<void> {
  await destination.remove(`backups/${id}/manifest.json`);
  const names: string[] = [];
  for await (const { name } of destination.list(`backups/${id}/`)) names.push(name);
  for (const name of names) await destination.remove(name);
}

/** From now on there may be objects that no manifest names. */
export async function noteLoose(db: Db, placeId: string): Promise<void> {
  await notePlace(db, placeId, { loose_since: new Date() });
}
