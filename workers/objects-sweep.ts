import { forgetReplacedLogos } from '#areas/branding/public.ts';
import { heldIconHashes } from '#areas/icons/public.ts';
import { dropRemovedTrickplay } from '#areas/streaming/public.ts';
import { isAnyPutAside } from '#platform/backup/put-aside.ts';
import type { Db } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Bucket } from '#platform/objects.ts';
import { FinalFailure, type Work } from './work.ts';

const KEPT_MS = 7 * 24 * 3_600_000;
const BATCH = 1000;
/** Percentage of a bucket's objects: a lost table must not empty a bucket. */
const GUARD_PERCENT = 20;
/** This many are deleted whatever their percentage. */
const GUARD_MINIMUM = 20;

interface Kind {
  bucket: Bucket;
  /** The part of the key that rows reference; undefined for keys that are swept elsewhere. */
  nameOf: (key: string) => string | undefined;
  /** The names that rows still reference. */
  held: (db: Db, names: readonly string[]) => Promise<string[]>;
}

const kinds: readonly Kind[] = [
  {
    bucket: 'foyer-artwork',
    nameOf: (key) => /^[0-9a-f]{64}$/.exec(key)?.[0],
    held: (db, names) => db('images').whereIn('sha256', names).distinct().pluck('sha256'),
  },
  {
    bucket: 'foyer-artwork',
    nameOf: (key) => /^icons\/([0-9a-f]{64})$/.exec(key)?.[1],
    held: heldIconHashes,
  },
  {
    bucket: 'foyer-subtitles',
    nameOf: (key) => /^(?:tracks|fonts)\/([0-9a-f-]{36})\//.exec(key)?.[1],
    held: async (db, names) => db('media_files').whereIn('id', names).pluck('id'),
  },
  {
    bucket: 'foyer-subtitles',
    nameOf: (key) => /^kept\/([0-9a-f]{64})$/.exec(key)?.[1],
    held: (db, names) => db('kept_subtitles').whereIn('sha256', names).distinct().pluck('sha256'),
  },
  {
    bucket: 'foyer-derived',
    nameOf: (key) => /^trickplay\/([0-9a-f-]{36})\//.exec(key)?.[1],
    held: async (db, names) => db('media_files').whereIn('id', names).pluck('id'),
  },
  {
    bucket: 'foyer-live',
    nameOf: (key) => /^sources\/[0-9a-f-]{36}\.m3u$/.exec(key)?.[0],
    held: async (db, names) => {
      const rows = await db('live_tuners').whereIn('playlist_object', names).select('playlist_object');
      return rows.flatMap(({ playlist_object: key }) => key ?? []);
    },
  },
  {
    bucket: 'foyer-live',
    nameOf: (key) => /^sources\/guide\/([0-9a-f-]{36})\//.exec(key)?.[1],
    held: async (db, names) => (await db('guide_sources').whereIn('upload_id', names).pluck('upload_id')) as string[],
  },
];

/**
 * Job objects.sweep: deletes objects that no row has referenced for a week, logos replaced 30 days ago, and thumbnails
 * that a person deleted.
 */
export async function sweepObjects({ only }: JobPayload<'objects.sweep'>, work: Work): Promise<void> {
  if (await isAnyPutAside(work.db)) return; // a database put aside may come back, and then needs its objects
  await dropRemovedTrickplay(work.db, work.objects, work.signal);
  if (only) return;
  await forgetReplacedLogos(work.db, work.objects);
  for (const kind of kinds) await sweep(kind, work);
}

async function sweep(kind: Kind, { db, objects, signal }: Work): Promise<void> {
  const before = Date.now() - KEPT_MS;
  const unnamed: string[] = [];
  let count = 0;
  let batch: { key: string; name: string }[] = [];
  const judge = async (): Promise<void> => {
    const held = new Set(await kind.held(db, [...new Set(batch.map(({ name }) => name))]));
    unnamed.push(...batch.filter(({ name }) => !held.has(name)).map(({ key }) => key));
    batch = [];
  };
  for await (const { key, modifiedAt } of objects.list(kind.bucket, '')) {
    signal.throwIfAborted();
    const name = kind.nameOf(key);
    if (name === undefined) continue;
    count += 1;
    const age = modifiedAt.getTime();
    if (age > 0 && age < before) batch.push({ key, name }); // objects without a time stay
    if (batch.length === BATCH) await judge();
  }
  await judge();
  if (unnamed.length > GUARD_MINIMUM && unnamed.length * 100 > count * GUARD_PERCENT)
    throw new FinalFailure('guard', `${unnamed.length} of ${count} objects in ${kind.bucket} would go`);
  if (unnamed.length > 0) await objects.remove(kind.bucket, unnamed);
}
