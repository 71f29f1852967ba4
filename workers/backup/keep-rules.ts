import {
  type BackupRow,
  findPlace,
  noteLoose,
  openPlace,
  type PlaceDeps,
  readBackupSettings,
  removeBackup,
} from '#areas/backup/public.ts';
import type { Settings } from '#platform/settings.ts';
import { goingOf } from './keeping.ts';

/** Deletes backups that the settings no longer keep, at the current destination only. */
export async function applyKeeping(deps: PlaceDeps & { settings: Settings }): Promise<string[]> {
  const { db, keys, settings } = deps;
  const row = await readBackupSettings(db);
  const backups = await db('backups as b')
    .where({ place_id: row.place_id, server_id: keys.serverId })
    .whereIn('state', ['completed', 'verified', 'damaged'])
    .whereRaw(
      `not exists (select from jobs j where j.target ->> 'id' = b.id::text and j.state in ('waiting', 'delayed', 'active')
        and j.kind in ('backup.verify', 'backup.restore'))`,
    )
    .select<BackupRow[]>('b.*');
  const going = goingOf(backups, { keep: row.keep, now: new Date(), timeZone: settings.get('server.timeZone') });
  for (const { id, place_id: placeId, copies } of going) {
    const placeIds = [placeId, ...copies.filter(({ ok }) => ok).map((copy) => copy.placeId)];
    for (const at of placeIds) {
      await removeBackup(await openPlace(deps, await findPlace(db, at)), id);
      await noteLoose(db, at);
    }
    await db('backups').where({ id }).delete();
  }
  return going.map(({ id }) => id);
}
