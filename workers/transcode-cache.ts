import { setTimeout as sleep } from 'node:timers/promises';
import { segmentStartMs } from '#areas/streaming/public.ts';
import {
  findOpenSessions,
  markPurged,
  sessionsToPurge,
  sweepSessions,
} from '#areas/streaming/sessions/sessions.store.ts';
import type { ListedObject } from '#platform/objects.ts';
import type { WorkerDeps } from './work.ts';

const BUCKET = 'foyer-transcode';
const EVERY_MS = 60_000;
/** Segments this far behind the last requested one may be deleted: seeking back encodes them again. */
const BEHIND_MS = 600_000;
/** Objects that no session owns any more, and that earlier sweeps missed. */
const FORGOTTEN_MS = 86_400_000;
const AT_ONCE = 500;

type Deps = Pick<WorkerDeps, 'db' | 'objects' | 'settings'>;

/**
 * Ends idle sessions, deletes objects of ended and lost sessions, and then, while the bucket exceeds
 * `transcode.cacheBytes` or its disk is full, the oldest segments far behind their viewers. Returns the number of
 * objects deleted in the last two steps.
 */
export async function trimTranscodeCache({ db, objects, settings }: Deps): Promise<number> {
  await sweepSessions(db); // transcode workers do the same while there are any
  for (const id of await sessionsToPurge(db)) {
    await objects.removePrefix(BUCKET, `${id}/`);
    await markPurged(db, id);
  }
  const all: ListedObject[] = [];
  for await (const one of objects.list(BUCKET, '')) all.push(one);
  const open = await findOpenSessions(db, [...new Set(all.map(({ key }) => sessionOf(key)))]);
  const before = Date.now() - FORGOTTEN_MS;
  const forgotten = all.filter((one) => !open.has(sessionOf(one.key)) && one.modifiedAt.getTime() < before);
  const gone = new Set(forgotten);
  let total = all.reduce((sum, one) => sum + (gone.has(one) ? 0 : one.size), 0);
  const limit = (await objects.isFull()) ? 0 : settings.get('transcode.cacheBytes');
  const behind = total > limit ? all.filter((one) => !gone.has(one) && isBehind(one.key, open)) : [];
  for (const one of behind.sort((a, b) => a.modifiedAt.getTime() - b.modifiedAt.getTime())) {
    if (total <= limit) break;
    total -= one.size;
    gone.add(one);
  }
  const keys = [...gone].map((one) => one.key);
  for (let i = 0; i < keys.length; i += AT_ONCE) await objects.remove(BUCKET, keys.slice(i, i + AT_ONCE));
  return keys.length;
}

const sessionOf = (key: string): string => key.slice(0, key.indexOf('/'));

type OpenSessions = Awaited<ReturnType<typeof findOpenSessions>>;

function isBehind(key: string, open: OpenSessions): boolean {
  const row = open.get(sessionOf(key));
  const [, number] = /\/(\d+)\.(?:m4s|ts)$/.exec(key) ?? [];
  if (!row || number === undefined) return false;
  return (
    segmentStartMs(row.plan, Math.max(row.wanted_segment, 0)) - segmentStartMs(row.plan, Number(number) + 1) > BEHIND_MS
  );
}

/** Every minute until aborted, in one worker at a time; an unavailable store is no reason to end. */
export async function keepTranscodeCache(deps: WorkerDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await deps.db
      .transaction(async (alone) => {
        const { rows } = await alone.raw<{ rows: { got: boolean }[] }>(
          `select pg_try_advisory_xact_lock(hashtext('foyer.transcode-cache')) as got`,
        );
        if (rows[0]?.got) await trimTranscodeCache(deps);
      })
      .catch((error: Error) => deps.log.warn({ err: error.message }, 'transcode cache not trimmed'));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
