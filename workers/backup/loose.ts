import { notePlace, openPlace, type PlaceDeps, type PlaceRow } from '#areas/backup/public.ts';
import type { Destination } from '#platform/backup/destination.ts';
import { readManifest } from '#platform/backup/part.ts';
import { objectName } from '#platform/backup-manifest.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OF_BACKUP = /^backups\/([0-9a-f-]{36})\//;

interface Seen {
  /** Ids of backups with a manifest. */
  whole: string[];
  /** Ids of backups without one, with the time of their newest file. */
  halves: Map<string, number>;
}

/**
 * Deletes objects that no manifest names, an hour after the last backup there was deleted. Does nothing while another
 * server writes a backup at the same place, because its manifest comes last. The caller holds the lock, so no backup of
 * this server is written meanwhile. Returns the number of deleted objects.
 */
export async function sweepLoose(deps: PlaceDeps, place: PlaceRow, now = Date.now()): Promise<number> {
  if (!place.loose_since || now - place.loose_since.getTime() < HOUR_MS) return 0;
  const destination = await openPlace(deps, place);
  const { whole, halves } = await backupsAt(destination);
  if ([...halves.values()].some((at) => now - at < DAY_MS)) return 0;
  const named = await namedBy(destination, whole);
  const going: string[] = [];
  for await (const { name, at } of destination.list('objects/')) {
    if (!named.has(name) && now - at.getTime() >= HOUR_MS) going.push(name);
  }
  for (const id of halves.keys()) going.push(...(await namesBelow(destination, `backups/${id}/`)));
  for (const name of going) await destination.remove(name);
  await notePlace(deps.db, place.id, { loose_since: null });
  return going.length;
}

async function namedBy(destination: Destination, ids: readonly string[]): Promise<Set<string>> {
  const named = new Set<string>();
  for (const id of ids) {
    const manifest = await readManifest(destination, id); // an unreadable one may name any object, so nothing is deleted
    for (const object of manifest.objects) named.add(objectName(object, manifest.encryption));
  }
  return named;
}

async function namesBelow(destination: Destination, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of destination.list(prefix)) names.push(name);
  return names;
}

async function backupsAt(destination: Destination): Promise<Seen> {
  const youngest = new Map<string, number>();
  const whole: string[] = [];
  for await (const { name, at } of destination.list('backups/')) {
    const id = OF_BACKUP.exec(name)?.[1];
    if (!id) continue;
    youngest.set(id, Math.max(youngest.get(id) ?? 0, at.getTime()));
    if (name === `backups/${id}/manifest.json`) whole.push(id);
  }
  for (const id of whole) youngest.delete(id);
  return { whole, halves: youngest };
}
