import { basename, dirname, join } from 'node:path';
import { type StreamOptions, segmentAt } from '#areas/streaming/public.ts';
import { planOf } from '#areas/streaming/segments/plan.ts';
import { insertSession } from '#areas/streaming/sessions/sessions.store.ts';
import { type Config, readConfig } from '#platform/config.ts';
import { connectDatabase, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { encodeKeyframes } from '#platform/media.ts';
import { connectObjects, type Objects } from '#platform/objects.ts';
import { connectRedis, type Redis } from '#platform/redis.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { TranscodeWorker, type WorkerDeps } from '#workers/transcode/worker.ts';
import { type Looked, look, optionsFor, type StreamChoice } from './hls-render.ts';
import { atEnd, eventually, newDatabase, redisUrl, temporaryFolder } from './stores.ts';

export const FILMS = '01900000-0000-7000-8000-00000000f11a';

export interface Stage {
  config: Config;
  db: Db;
  redis: Redis;
  objects: Objects;
  /** Environment of a worker process on these stores. */
  environment: Record<string, string>;
}

/** Stores of its own, with one storage over `folder`. */
export async function stage(folder: string, more: Record<string, string> = {}): Promise<Stage> {
  const environment = {
    FOYER_DATABASE_URL: await newDatabase(),
    FOYER_REDIS_URL: await redisUrl(),
    FOYER_OBJECTS_URL: `file://${temporaryFolder('objects')}`,
    FOYER_KEYS_FILE: 'none',
    FOYER_MEDIA_ROOTS: JSON.stringify([{ id: FILMS, name: 'films', path: folder, readOnly: true }]),
    FOYER_LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
    ...more,
  };
  const config = readConfig(environment);
  const log = createLog(config.logLevel, 'test');
  const db = connectDatabase(config.databaseUrl, log);
  const redis = connectRedis(config.redisUrl, log);
  await redis.flushdb().catch(() => undefined); // some tests have none
  await db('storages').insert({ id: FILMS, name: 'films', root_name: 'films' }).onConflict('id').ignore();
  atEnd(async () => {
    redis.disconnect();
    await db.destroy();
  });
  return { config, db, redis, objects: connectObjects(config.objectsUrl), environment };
}

/** A worker in this process, stopped at the end of the run at the latest. */
export function worker(on: Stage, more: Partial<WorkerDeps> = {}): TranscodeWorker {
  const log = createLog(on.config.logLevel, 'test');
  const made = new TranscodeWorker({ ...on, log, encoder: SOFTWARE, threads: 1, ...more });
  made.start();
  let stopped = false;
  const stop = made.stop.bind(made);
  made.stop = async () => {
    if (!stopped) await stop();
    stopped = true;
  };
  atEnd(() => made.stop());
  return made;
}

export interface Film {
  looked: Looked;
  itemId: string;
  fileId: string;
}

/** Rows of a library with one film, as a scan would leave them. */
export async function film(db: Db, path: string, storageId: string = FILMS): Promise<Film> {
  const looked = await look(path);
  const [libraryId, folderId, itemId, fileId] = [newId(), newId(), newId(), newId()];
  await db('libraries').insert({ id: libraryId, name: libraryId, name_folded: libraryId, type: 'movies' });
  await db('library_folders').insert({ id: folderId, library_id: libraryId, storage_id: storageId, path: '' });
  const title = basename(path);
  const item = { id: itemId, library_id: libraryId, type: 'movie', identity_key: title, title, sort_title: title };
  await db('items').insert({ ...item, top: true });
  await db('media_files').insert({
    id: fileId,
    item_id: itemId,
    library_id: libraryId,
    folder_id: folderId,
    storage_id: storageId,
    path: title,
    size_bytes: 0,
    modified_ms: 0,
    duration_ms: looked.durationMs,
    start_ms: looked.source.startMs,
    probe: JSON.stringify({ container: looked.source.container, startMs: looked.source.startMs, streams: [] }),
    keyframes: encodeKeyframes(looked.source.keyframes),
  });
  return { looked, itemId, fileId };
}

/** A session's row, as Playback opens it. */
export async function openSession(
  db: Db,
  { looked, itemId, fileId }: Film,
  choice: StreamChoice & Partial<StreamOptions>,
): Promise<string> {
  const options = { ...optionsFor(looked, choice), itemId, fileId, ...pick(choice) };
  const plan = planOf(options, { ...looked.source, storageId: FILMS, path: basename(looked.file) });
  const id = newId();
  const [playback, account, profile] = [
    options.playbackSessionId || newId(),
    options.accountId || newId(),
    options.profileId || newId(),
  ];
  await insertSession(db, {
    id,
    playback_session_id: playback,
    account_id: account,
    profile_id: profile,
    item_id: itemId,
    file_id: fileId,
    plan,
    wanted_segment: segmentAt(plan, plan.startMs),
  });
  return id;
}

function pick(choice: Partial<StreamOptions>): Partial<StreamOptions> {
  const { playbackSessionId, accountId, profileId, video, audio, subtitles, durationMs } = choice;
  const given = { playbackSessionId, accountId, profileId, video, audio, subtitles, durationMs };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Waits until the object is there and gives its bytes. */
export async function stored(objects: Objects, key: string, limitMs?: number): Promise<Buffer> {
  await eventually(() => objects.stat('foyer-transcode', key), limitMs);
  const body = await objects.get('foyer-transcode', key);
  return Buffer.concat((await body.toArray()) as Buffer[]);
}

export const folderOf = (file: string): string => dirname(file);
export const siblingOf = (file: string, name: string): string => join(dirname(file), name);
