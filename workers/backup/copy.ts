import { addAbortSignal } from 'node:stream';
import { findPlace, nameOf, openPlace, type PlaceRow, recordUnavailable } from '#areas/backup/public.ts';
import { type Destination, DestinationUnavailable } from '#platform/backup/destination.ts';
import { type BackupManifest, manifestName, objectName, partName } from '#platform/backup-manifest.ts';
import { type Run, reach } from './run.ts';
import { counted } from './write-part.ts';

export interface Copied {
  placeId: string;
  name: string;
  ok: boolean;
  at: string;
}

/** Copies the files to a second place, the manifest last. A failed copy leaves the backup good. */
export async function copyBackup(run: Run, manifest: BackupManifest, copyId: string): Promise<Copied> {
  const { work, deps } = run;
  const place: PlaceRow = await findPlace(deps.db, copyId);
  const copy = { placeId: place.id, name: nameOf(place) };
  try {
    await putFiles(run, manifest, await openPlace(deps, place));
    return { ...copy, ok: true, at: new Date().toISOString() };
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof DestinationUnavailable) await recordUnavailable(deps.db, place.id, error);
    work.log.warn({ err: error, place: copy.name }, 'the copy of the backup failed');
    return { ...copy, ok: false, at: new Date().toISOString() };
  }
}

async function putFiles(run: Run, manifest: BackupManifest, to: Destination): Promise<void> {
  const { destination: from, signal, pace } = run;
  const there = new Set<string>();
  for await (const { name } of to.list('objects/')) there.add(name);
  const parts = manifest.tables.flatMap((table) => table.parts.map((part) => partName(manifest.id, part)));
  const objects = new Set(manifest.objects.map((object) => objectName(object, manifest.encryption)));
  const names = [...parts, ...objects.difference(there), manifestName(manifest.id)];
  for (const [done, name] of names.entries()) {
    signal.throwIfAborted();
    if (done % 20 === 0) await reach(run, 'copy', done / names.length);
    const source = addAbortSignal(signal, await from.read(name));
    const meter = counted(pace);
    source.on('error', (error) => meter.destroy(error));
    await to.write(name, source.pipe(meter));
  }
}
