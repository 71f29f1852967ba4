import { conflict } from '#kernel/errors.ts';
import { type Destination, DestinationUnavailable } from '#platform/backup/destination.ts';
import type { Db } from '#platform/db.ts';
import { findPlace, notePlace } from '../settings/places.store.ts';
import { openPlace, type PlaceDeps } from '../settings/places.ts';
import type { ShownRow } from './backups.store.ts';

/** Deletes the manifest first, because a backup without one does not exist. A sweep deletes objects that no manifest names. */
export async function removeBackup(destination: Destination, id: string): Promise<void> {
  await destination.remove(`backups/${id}/manifest.json`);
  const names: string[] = [];
  for await (const { name } of destination.list(`backups/${id}/`)) names.push(name);
  for (const name of names) await destination.remove(name);
}

/** Records that the place may hold objects that no manifest names. */
export async function noteLoose(db: Db, placeId: string): Promise<void> {
  await notePlace(db, placeId, { loose_since: new Date() });
}

/** Deletes the files at the destination and at each copy. Throws 409 `destination-unreachable`. */
export async function removeFiles(deps: PlaceDeps, row: Pick<ShownRow, 'id' | 'place_id' | 'copies'>): Promise<void> {
  const placeIds = [row.place_id, ...row.copies.filter(({ ok }) => ok).map(({ placeId }) => placeId)];
  try {
    for (const placeId of placeIds) {
      await removeBackup(await openPlace(deps, await findPlace(deps.db, placeId)), row.id);
      await noteLoose(deps.db, placeId);
    }
  } catch (error) {
    if (error instanceof DestinationUnavailable)
      throw conflict('destination-unreachable', 'The destination does not answer');
    throw error;
  }
}
