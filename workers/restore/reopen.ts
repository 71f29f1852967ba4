import { setTimeout as sleep } from 'node:timers/promises';
import { requestScan } from '#areas/scanning/public.ts';
import { prepareServer } from '#areas/setup/public.ts';
import { connectDatabase, type Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';
import { APPLICATION } from './connection.ts';
import { emptyRedis, open } from './fence.ts';
import { putObject } from './put-objects.ts';
import { advance } from './record.ts';
import type { Restoring } from './work.ts';

const REDIS_TRIES = 20;
const REDIS_PAUSE_MS = 500;

/**
 * After the exchange: updates everything outside Postgres, then lets everyone in. Each step may be repeated, and none
 * keeps the server closed for ever.
 */
export async function reopen(work: Restoring): Promise<void> {
  const { client, record, config, keys, log } = work;
  await advance(client, record, { phase: 'reopening' });
  await putDiffering(work);
  await forgetRedis(work);
  const db = connectDatabase(config.databaseUrl, log, { max: 2, name: APPLICATION, unfenced: true });
  try {
    await prepareServer(db, config, keys);
    await db.transaction(requestScans);
  } finally {
    await db.destroy();
  }
  await client.query(
    `update foyer_restore.restores set state = 'completed', progress = 1, finished_at = now(), passphrase_sealed = null,
       objects = '[]' where id = $1`,
    [record.id],
  );
  await open(client);
}

async function putDiffering({ source, record, objects, log }: Restoring): Promise<void> {
  for (const object of source ? record.objects : [])
    await putObject(source as NonNullable<typeof source>, objects, object).catch((error: Error) =>
      log.warn({ err: error, bucket: object.bucket, key: object.key }, 'an object of the backup was not put in place'),
    );
}

async function forgetRedis({ redis, record, log }: Restoring): Promise<void> {
  for (let tries = 1; tries <= REDIS_TRIES; tries += 1) {
    try {
      return await emptyRedis(redis, record.switched_at ?? new Date());
    } catch (error) {
      if (tries === REDIS_TRIES) log.warn({ err: error }, 'redis is unavailable and was not emptied');
      else await sleep(REDIS_PAUSE_MS);
    }
  }
}

/** Requests a quick scan of every library, and resumes deletions that were running when the backup was made. */
async function requestScans(db: Db): Promise<void> {
  const libraries = await db('libraries').select('id', 'deleted_at');
  for (const { id: libraryId, deleted_at: deleted } of libraries) {
    if (deleted)
      await enqueue(db, 'library.delete', {
        payload: { libraryId },
        options: { key: `library.delete:${libraryId}`, libraryId },
      });
    else if (await isAvailable(db, libraryId)) await requestScan(db, { libraryId, mode: 'quick', trigger: 'schedule' });
  }
  const accounts = await db('accounts').whereNotNull('deleted_at').pluck('id');
  for (const accountId of accounts)
    await enqueue(db, 'user.purge', { payload: { accountId }, options: { key: `user.purge:${accountId}` } });
}

/** Whether one of its folders was listable when the backup was made; a storage that returns is scanned anyway. */
async function isAvailable(db: Db, libraryId: string): Promise<boolean> {
  const found = await db('library_folders as f')
    .join('storages as s', 's.id', 'f.storage_id')
    .where({ 'f.library_id': libraryId, 's.enabled': true, 's.state': 'available' })
    .first('f.id');
  return found !== undefined;
}
