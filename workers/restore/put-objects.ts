import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { BackupFault } from '#platform/backup/faults.ts';
import { openObject } from '#platform/backup/part.ts';
import type { BackupObject } from '#platform/backup-manifest.ts';
import type { Bucket, Objects } from '#platform/objects.ts';
import type { Report, Source } from './load.ts';

/** Buckets whose objects a backup may contain; not temporary ones or those of backups. */
const RESTORED_BUCKETS: readonly Bucket[] = [
  'foyer-artwork',
  'foyer-derived',
  'foyer-subtitles',
  'foyer-faces',
  'foyer-games',
  'foyer-support',
];

const isRestored = (bucket: string): bucket is Bucket => (RESTORED_BUCKETS as readonly string[]).includes(bucket);

/** Checked before anything is written, because the archive names the places. */
export function refuseObjects(objects: readonly BackupObject[]): void {
  const bad = objects.find(({ bucket }) => !isRestored(bucket));
  if (bad) throw new BackupFault('damaged', `${bad.bucket} holds nothing that is restored`);
}

/**
 * Stores missing objects after verifying their checksums. Returns objects whose place holds other bytes now: the
 * running server still needs those, so they are replaced after the switch.
 */
export async function putMissing(source: Source, objects: Objects, report: Report): Promise<BackupObject[]> {
  const differing: BackupObject[] = [];
  const all = source.manifest.objects;
  for (const [done, object] of all.entries()) {
    const standing = await standingOf(objects, object);
    if (standing === 'absent') await putObject(source, objects, object);
    if (standing === 'other') {
      await read(await openObject(source.destination, { manifest: source.manifest, object }, source.key)); // verified before the switch relies on it
      differing.push(object);
    }
    if (done % 20 === 0) await report(done / all.length);
  }
  return differing;
}

export async function putObject(source: Source, objects: Objects, object: BackupObject): Promise<void> {
  const { destination, manifest, key } = source;
  const bytes = await openObject(destination, { manifest, object }, key);
  await objects.put(object.bucket as Bucket, object.key, bytes);
}

async function standingOf(objects: Objects, object: BackupObject): Promise<'absent' | 'same' | 'other'> {
  const bucket = object.bucket as Bucket;
  const there = await objects.stat(bucket, object.key);
  if (!there) return 'absent';
  if (there.size !== object.bytes) return 'other';
  const hash = createHash('sha256');
  await read(await objects.get(bucket, object.key), (chunk) => hash.update(chunk));
  return hash.digest('hex') === object.sha256 ? 'same' : 'other';
}

async function read(bytes: Readable, take: (chunk: Buffer) => unknown = () => undefined): Promise<void> {
  for await (const chunk of bytes as AsyncIterable<Buffer>) take(chunk);
}
