import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { constants, createZstdDecompress } from 'node:zlib';
import {
  BACKUP_FORMAT,
  BackupManifest,
  type BackupObject,
  type BackupPart,
  isWhole,
  MANIFEST_MOST_BYTES,
  manifestName,
  objectName,
  PART_FREE_BYTES,
  PART_MOST_BYTES,
  PART_RATIO,
  partName,
} from '#platform/backup-manifest.ts';
import { type Destination, NotStored } from './destination.ts';
import { BackupFault } from './faults.ts';
import { type BackupKey, unsealing } from './sealing.ts';

const WINDOW_LOG = 23; // 8 MiB: most memory that a hostile frame can claim

/** Throws `incomplete` (there is no manifest), `other-format` or `damaged`. Does not check the version. */
export async function readManifest(destination: Destination, id: string): Promise<BackupManifest> {
  const bytes = await wholeOf(destination, manifestName(id));
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new BackupFault('damaged', 'The manifest is no JSON');
  }
  if ((json as { format?: unknown } | null)?.format !== BACKUP_FORMAT)
    throw new BackupFault('other-format', 'The manifest is of another format');
  if (!isWhole(json as object)) throw new BackupFault('damaged', 'The manifest is not as it was written');
  const read = BackupManifest.safeParse(json);
  if (!read.success) throw new BackupFault('damaged', 'The manifest is not as it is written');
  if (read.data.id !== id) throw new BackupFault('damaged', 'The manifest is of another backup');
  return read.data;
}

async function wholeOf(destination: Destination, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of (await stored(destination, name)) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MANIFEST_MOST_BYTES) throw new BackupFault('damaged', 'The manifest is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function stored(destination: Destination, name: string): Promise<Readable> {
  try {
    return await destination.read(name);
  } catch (error) {
    throw error instanceof NotStored ? new BackupFault('incomplete', `${name} is not there`) : error;
  }
}

/**
 * The uncompressed COPY text. A checksum mismatch fails the stream after its last byte, so use nothing before the end.
 * Throws `BackupFault`: incomplete, damaged, wrong-passphrase (no key for a sealed part).
 */
export async function openPart(
  destination: Destination,
  { manifest, part }: { manifest: BackupManifest; part: BackupPart },
  key?: BackupKey,
): Promise<Readable> {
  const name = partName(manifest.id, part);
  const sealed = name.endsWith('.enc');
  if (sealed && !key) throw new BackupFault('wrong-passphrase', 'The backup is sealed');
  if (sealed !== (manifest.encryption !== null))
    throw new BackupFault('damaged', `${part.name} is not sealed as the manifest states`);
  const steps: Transform[] = [measured({ bytes: part.storedBytes, sha256: part.sha256, what: part.name })];
  if (sealed && key) steps.push(unsealing(key, name));
  steps.push(createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG } }));
  const most = Math.min(PART_MOST_BYTES, Math.max(PART_FREE_BYTES, PART_RATIO * part.storedBytes));
  if (part.plainBytes > most) throw new BackupFault('damaged', `${part.name} is packed too tightly`);
  steps.push(measured({ bytes: part.plainBytes, what: part.name }));
  return chained(await stored(destination, name), steps);
}

/** The uncompressed bytes of an object, checked like those of a part. */
export async function openObject(
  destination: Destination,
  { manifest, object }: { manifest: BackupManifest; object: BackupObject },
  key?: BackupKey,
): Promise<Readable> {
  const name = objectName(object, manifest.encryption);
  if (manifest.encryption && !key) throw new BackupFault('wrong-passphrase', 'The backup is sealed');
  const steps: Transform[] = manifest.encryption && key ? [unsealing(key, name)] : [];
  steps.push(measured({ bytes: object.bytes, sha256: object.sha256, what: name }));
  return chained(await stored(destination, name), steps);
}

interface Measure {
  bytes: number;
  sha256?: string;
  what: string;
}

/** Passes exactly the expected bytes on; any difference is `damaged`. */
function measured({ bytes, sha256, what }: Measure): Transform {
  const hash = createHash('sha256');
  let size = 0;
  const damaged = (): BackupFault => new BackupFault('damaged', `${what} is not as it was written`);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (sha256) hash.update(chunk);
      done(size > bytes ? damaged() : null, chunk);
    },
    flush(done) {
      const same = size === bytes && (!sha256 || hash.digest('hex') === sha256);
      done(same ? null : damaged());
    },
  });
}

/** The last of the steps, which fails when any of them fails; errors of zstd become `damaged`. */
function chained(source: Readable, steps: readonly Transform[]): Readable {
  let last: Readable = source;
  for (const step of steps) {
    const before = last;
    before.on('error', (error) => step.destroy(asFault(error)));
    step.on('close', () => before.destroy());
    last = before.pipe(step);
  }
  return last;
}

function asFault(error: Error): Error {
  const unpacking = /^(ZSTD|ERR_ZSTD|Z_)/.test((error as { code?: string }).code ?? '');
  return unpacking ? new BackupFault('damaged', 'A part does not unpack') : error;
}
