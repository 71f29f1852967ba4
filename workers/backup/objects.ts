import { createHash } from 'node:crypto';
import { addAbortSignal, pipeline, Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { sealing } from '#platform/backup/sealing.ts';
import { type BackupObject, objectName } from '#platform/backup-manifest.ts';
import { type Bucket, type ListedObject, ObjectMissing, type Objects } from '#platform/objects.ts';
import { type Run, reach } from './run.ts';
import { counted } from './write-part.ts';

interface Choice {
  bucket: Bucket;
  takes: (key: string) => boolean;
}

const everything = (): boolean => true;
/** Extracted from media files, so it can be extracted again. */
const TAKEN_OUT = /^(tracks|fonts)\//;
/** Temporary objects of tests. */
const TRIALS = /^(diagnostics|setup)\//;

/** Objects that cannot be created again. */
const kept: readonly Choice[] = [
  { bucket: 'foyer-artwork', takes: everything },
  { bucket: 'foyer-subtitles', takes: (key) => !TAKEN_OUT.test(key) },
  { bucket: 'foyer-games', takes: (key) => key.startsWith('saves/') },
  { bucket: 'foyer-support', takes: (key) => !key.startsWith('bundles/') },
];

/** Objects that can be created again, with time. */
const more: readonly Choice[] = [
  { bucket: 'foyer-subtitles', takes: (key) => TAKEN_OUT.test(key) },
  { bucket: 'foyer-derived', takes: (key) => !TRIALS.test(key) },
];

const faces: Choice = { bucket: 'foyer-faces', takes: everything };

export function choices(mode: 'kept' | 'all', includeFaces: boolean): Choice[] {
  return [...kept, ...(mode === 'all' ? more : []), ...(includeFaces ? [faces] : [])];
}

const BATCH = 500;
const AT_ONCE = 8;
/** Objects up to this size are held in memory while they are hashed and stored. */
const SMALL_BYTES = 4 * 2 ** 20;
const SHA256 = /^[0-9a-f]{64}$/;

export interface StoredObjects {
  objects: BackupObject[];
  newBytes: number;
}

/** Stores objects that are not at the destination yet, by hash. A resumed attempt skips those of the previous one. */
export async function storeObjects(run: Run): Promise<StoredObjects> {
  const { work, row, signal } = run;
  const storing = new Storing(run, await namesAt(run));
  for (const choice of choices(row.objects_mode, work.settings.get('backup.includeFaces'))) {
    let batch: ListedObject[] = [];
    for await (const listed of listing(work.objects, choice.bucket)) {
      signal.throwIfAborted();
      if (choice.takes(listed.key)) batch.push(listed);
      if (batch.length < BATCH) continue;
      await storing.take(choice.bucket, batch);
      batch = [];
    }
    await storing.take(choice.bucket, batch);
  }
  return { objects: storing.objects, newBytes: storing.newBytes };
}

/** A bucket that does not exist yet is empty. */
async function* listing(objects: Objects, bucket: Bucket): AsyncIterable<ListedObject> {
  try {
    yield* objects.list(bucket, '');
  } catch (error) {
    if ((error as { code?: string }).code !== 'NoSuchBucket') throw error;
  }
}

async function namesAt({ destination }: Run): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const { name } of destination.list('objects/')) names.add(name);
  return names;
}

interface Known {
  sha256: string;
  etag: string;
  bytes: number;
}

class Storing {
  readonly objects: BackupObject[] = [];
  newBytes = 0;
  readonly #run: Run;
  readonly #there: Set<string>;

  constructor(run: Run, there: Set<string>) {
    this.#run = run;
    this.#there = there;
  }

  async take(bucket: Bucket, batch: readonly ListedObject[]): Promise<void> {
    if (batch.length === 0) return;
    const known = await this.#known(bucket, batch);
    for (let at = 0; at < batch.length; at += AT_ONCE) {
      const some = batch.slice(at, at + AT_ONCE);
      const taken = await Promise.all(some.map((one) => this.#one(bucket, one, known.get(one.key))));
      this.objects.push(...taken.filter((object) => object !== undefined));
    }
    await this.#run.work.report(this.#run.work.db, { done: this.objects.length, unit: 'files' });
    await reach(this.#run, 'objects', this.objects.length / (this.objects.length + BATCH));
  }

  async #known(bucket: Bucket, batch: readonly ListedObject[]): Promise<Map<string, Known>> {
    const keys = batch.map(({ key }) => key);
    const rows = await this.#run.work
      .db('backup_hashes')
      .where({ bucket })
      .whereIn('key', keys)
      .select('key', 'sha256', 'etag', 'bytes');
    return new Map(rows.map((row) => [row.key, row]));
  }

  /** Undefined for an object that vanished in the meantime. */
  async #one(bucket: Bucket, listed: ListedObject, known: Known | undefined): Promise<BackupObject | undefined> {
    const { encryption } = this.#run;
    const etag = `${listed.modifiedAt.toISOString()}-${listed.size}`;
    const fresh = known?.etag === etag ? known.sha256 : undefined;
    const guess = fresh ?? (SHA256.test(listed.key) ? listed.key : undefined);
    if (guess && this.#there.has(objectName({ sha256: guess }, encryption)))
      return { bucket, key: listed.key, sha256: guess, bytes: listed.size };
    try {
      const { sha256, bytes } = await this.#store(bucket, listed);
      await this.#run.work
        .db('backup_hashes')
        .insert({ bucket, key: listed.key, etag, bytes, sha256 })
        .onConflict(['bucket', 'key'])
        .merge();
      return { bucket, key: listed.key, sha256, bytes };
    } catch (error) {
      if (error instanceof ObjectMissing) return undefined;
      throw error;
    }
  }

  async #store(bucket: Bucket, { key, size }: ListedObject): Promise<{ sha256: string; bytes: number }> {
    const { work } = this.#run;
    if (size <= SMALL_BYTES) {
      const bytes = await buffer(await work.objects.get(bucket, key));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await this.#write(sha256, bytes.length, () => Promise.resolve(Readable.from([bytes])));
      return { sha256, bytes: bytes.length };
    }
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of (await work.objects.get(bucket, key)) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    const sha256 = hash.digest('hex');
    await this.#write(sha256, bytes, async () => same(await work.objects.get(bucket, key), sha256));
    return { sha256, bytes };
  }

  async #write(sha256: string, bytes: number, open: () => Promise<Readable>): Promise<void> {
    const { destination, key, encryption, pace, signal } = this.#run;
    const name = objectName({ sha256 }, encryption);
    if (this.#there.has(name)) return;
    this.#there.add(name);
    const steps = key ? [sealing(key, name)] : [];
    const source = addAbortSignal(signal, await open());
    const body = pipeline([source, ...steps, counted(pace)], () => undefined) as unknown as Readable;
    await destination.write(name, body).catch((error: unknown) => {
      body.destroy();
      throw source.errored ?? error;
    });
    this.newBytes += bytes;
  }
}

/** Fails at its end when the bytes differ from those that were hashed. */
function same(source: Readable, sha256: string): Readable {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(hash.digest('hex') === sha256 ? null : new Error('the object changed while it was read'));
    },
  });
  return pipeline(source, check, () => undefined);
}
