import type { Bytes, Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import type { Bucket } from '#platform/objects.ts';
import { arrivalsOf } from './arrivals.ts';
import { sendRanged } from './file-answer.ts';
import { announceWant, offerSession, type Want } from './offers.store.ts';
import { segmentCount } from './plan.ts';
import { findSession, noteRead, type SessionRow, wantSegment } from './sessions.store.ts';
import { refuseAwaySource } from './sources.ts';

const WAIT_MS = 30_000;
const MOST_WAITING = 8;
const TYPES: Record<string, string> = { m4s: 'video/mp4', mp4: 'video/mp4', ts: 'video/mp2t' };

/** The number and kind that a segment's name says: -1 is the init segment. 404 for a name that the plan does not have. */
export function segmentOf(row: SessionRow, rendition: string, name: string): number {
  const { plan } = row;
  const type = rendition.startsWith('s') ? 'vtt' : plan.container === 'ts' ? 'ts' : 'm4s';
  if (name === 'init.mp4' && type === 'm4s') return -1;
  const [, digits, suffix] = /^(0|[1-9]\d{0,6})\.([a-z0-9]+)$/.exec(name) ?? [];
  if (digits === undefined || suffix !== type || Number(digits) >= segmentCount(plan)) throw notFound();
  return Number(digits);
}

/** A segment of picture or sound: at once when it is stored, else once a worker has made it. */
export async function sendSegment(
  call: Call,
  row: SessionRow,
  asked: { rendition: string; name: string },
): Promise<Bytes> {
  const { rendition, name } = asked;
  const want = { rendition, segment: segmentOf(row, rendition, name) };
  const key = `${row.id}/${rendition}/${name}`;
  const { objects, redis } = call.deps;
  if (await objects.stat('foyer-transcode', key)) {
    await announceWant(redis, row.id, { ...want, stored: true });
    if (want.segment >= 0) await noteRead(call.db, row.id, want);
  } else await waitForSegment(call, row, { want, key });
  const type = rendition.startsWith('a') ? 'audio/mp4' : TYPES[name.slice(name.lastIndexOf('.') + 1)];
  return sendObject(call, {
    bucket: 'foyer-transcode',
    key,
    type: type ?? 'video/mp4',
    cacheControl: 'private, max-age=3600',
  });
}

export interface StoredThing {
  bucket: Bucket;
  key: string;
  type: string;
  cacheControl: string;
}

/** An object with ranges; 404 when it is not there. */
export async function sendObject(call: Call, { bucket, key, type, cacheControl }: StoredThing): Promise<Bytes> {
  const { objects } = call.deps;
  const found = await objects.stat(bucket, key);
  if (!found) throw notFound();
  const { size, etag, modifiedAt } = found;
  return sendRanged(call, {
    size,
    etag,
    modifiedAt,
    type,
    cacheControl,
    read: (range) => objects.get(bucket, key, range),
  });
}

/** Requests of this process that wait, by session, oldest first. */
const waiting = new Map<string, Set<AbortController>>();

/** A place among the waiting; the oldest loses its own when there are too many. */
function takePlace(id: string): { lost: AbortSignal; leave: () => void } {
  const place = new AbortController();
  const places = waiting.get(id) ?? new Set();
  waiting.set(id, places);
  places.add(place);
  if (places.size > MOST_WAITING) {
    const [oldest] = places;
    if (oldest) places.delete(oldest);
    oldest?.abort();
  }
  return {
    lost: place.signal,
    leave: () => {
      places.delete(place);
      if (places.size === 0 && waiting.get(id) === places) waiting.delete(id);
    },
  };
}

const busy = (retryAfterSec: number): ApiError =>
  new ApiError('TRANSCODE_LIMIT_REACHED', 'No worker made the segment in time', { retryAfterSec });

async function waitForSegment(call: Call, row: SessionRow, { want, key }: { want: Want; key: string }): Promise<void> {
  refuseFailed(row);
  const arrivals = arrivalsOf(call.deps.redis);
  const place = takePlace(row.id);
  const silence = await arrivals.listen(row.id);
  try {
    await Promise.all([ask(call, row.id, want), refuseAwaySource(call, row.plan.source)]);
    const gone = AbortSignal.any([place.lost, call.signal]);
    const end = Date.now() + WAIT_MS;
    for (;;) {
      const heard = arrivals.heard(row.id);
      if (await call.deps.objects.stat('foyer-transcode', key)) return;
      if (gone.aborted) throw busy(1);
      if (Date.now() > end) throw busy(5);
      const now = await findSession(call.db, row.id);
      refuseFailed(now);
      if (now?.state === 'idle' && now.lease_holder === null) await ask(call, row.id, want); // its worker left meanwhile
      await arrivals.next(row.id, { heard, gone });
    }
  } finally {
    silence();
    place.leave();
  }
}

async function ask({ db, deps }: Call, id: string, want: Want): Promise<void> {
  const answer = await wantSegment(db, { id, rendition: want.rendition, segment: want.segment });
  if (!answer) return;
  if (answer.offer) await offerSession(deps.redis, id);
  else await announceWant(deps.redis, id, want);
}

function refuseFailed(row: SessionRow | undefined): void {
  if (!row || row.state === 'stopped') throw notFound();
  if (row.state !== 'failed') return;
  const { reason = 'decode', segment = 0 } = row.error ?? {};
  throw new ApiError('TRANSCODE_FAILED', 'The file could not be transcoded', { reason, segment });
}
