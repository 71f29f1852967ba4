import { type Destination, DestinationUnavailable } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { readManifest } from '#platform/backup/part.ts';
import type { BackupManifest } from '#platform/backup-manifest.ts';
import type { Db } from '#platform/db.ts';
import { livePlaces, notePlace, type PlaceRow } from '../settings/places.store.ts';
import { openPlace, type PlaceDeps, recordUnavailable, within } from '../settings/places.ts';
import { columnsOf } from './backups.store.ts';

const MANIFEST = /^backups\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\/manifest\.json$/;
const UNKNOWN_SERVER = '00000000-0000-0000-0000-000000000000';

interface Listed {
  id: string;
  at: Date;
}

async function manifestsAt(destination: Destination): Promise<Map<string, Listed>> {
  const found = new Map<string, Listed>();
  for await (const { name, at } of destination.list('backups/')) {
    const id = MANIFEST.exec(name)?.[1];
    if (id) found.set(id, { id, at });
  }
  return found;
}

/**
 * Updates the rows from the manifests at the place: found, missing and present again. Throws `DestinationUnavailable`
 * and then changes no row.
 */
export async function listPlace(deps: PlaceDeps, place: PlaceRow, limitMs?: number): Promise<void> {
  const { db } = deps;
  const work = openPlace(deps, place).then(async (destination) => {
    const there = await manifestsAt(destination);
    return { destination, there, free: await destination.free() };
  });
  const { destination, there, free } = await (limitMs ? within(work, limitMs) : work);
  const ids = [...there.keys()];
  await db('backups')
    .where({ place_id: place.id })
    .whereIn('state', ['completed', 'verified', 'damaged'])
    .whereNotIn('id', ids)
    .update({ state: 'missing' });
  await db('backups') // also when the copy is here and the original is missing
    .where({ state: 'missing' })
    .whereIn('id', ids)
    .update({ state: 'completed', place_id: place.id });
  const known = new Set(await db('backups').whereIn('id', ids).pluck('id'));
  for (const listed of there.values()) {
    if (!known.has(listed.id)) await insertFound(db, { destination, place, listed });
  }
  await notePlace(db, place.id, {
    state: 'ok',
    state_reason: null,
    listed_at: new Date(),
    ...(free !== undefined && { free_bytes: free }),
  });
}

/** Lists every place in use; an unavailable one is recorded for the settings. */
export async function listPlaces(deps: PlaceDeps, limitMs?: number): Promise<void> {
  for (const place of await livePlaces(deps.db)) {
    try {
      await listPlace(deps, place, limitMs);
    } catch (error) {
      if (!(error instanceof DestinationUnavailable)) throw error;
      await recordUnavailable(deps.db, place.id, error);
      await notePlace(deps.db, place.id, { listed_at: new Date() });
    }
  }
}

interface Found {
  destination: Destination;
  place: PlaceRow;
  listed: Listed;
}

async function insertFound(db: Db, { destination, place, listed }: Found): Promise<void> {
  const read = await readManifest(destination, listed.id).catch((error: unknown) => {
    if (error instanceof BackupFault) return error;
    throw error;
  });
  const row = read instanceof BackupFault ? unreadable(read, listed) : readable(read);
  await db('backups')
    .insert({ id: listed.id, trigger: 'found', place_id: place.id, ...row })
    .onConflict('id')
    .ignore();
}

const readable = (manifest: BackupManifest) => ({
  ...columnsOf(manifest),
  state: 'completed' as const,
  started_at: new Date(manifest.startedAt),
  finished_at: new Date(manifest.finishedAt),
});

function unreadable({ code }: BackupFault, { at }: Listed) {
  return {
    state: 'damaged' as const,
    fault: code === 'other-format' ? code : ('damaged' as const),
    server_id: UNKNOWN_SERVER,
    server_name: '',
    server_version: '0',
    schema_version: '',
    objects_mode: 'kept' as const,
    started_at: at,
    finished_at: at,
  };
}
