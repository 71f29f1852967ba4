import type { Bytes, Call } from '#kernel/endpoint.ts';
import { noSpace, notFound } from '#kernel/errors.ts';
import type { Bucket, Objects } from '#platform/objects.ts';
import { sendRanged } from '../files/file-answer.ts';
import { announceWant, offerSession, type Want } from '../sessions/offers.store.ts';
import type { SessionRow } from '../sessions/sessions.store.ts';
import { noteRead, wantSegment, withdrawWant } from '../sessions/wants.store.ts';
import { segmentCount } from './plan.ts';
import { endUnopened, requireSource } from './unopened.ts';
import { refuseFailed, waitUntil } from './waiting.ts';

const TYPES: Record<string, string> = { m4s: 'video/mp4', mp4: 'video/mp4', ts: 'video/mp2t' };

/** The number in a segment's name; -1 is the init segment. Throws 404 for a name that is not in the plan. */
export function segmentOf(row: SessionRow, rendition: string, name: string): number {
  const { plan } = row;
  const type = rendition.startsWith('s') ? 'vtt' : plan.container === 'ts' ? 'ts' : 'm4s';
  if (name === 'init.mp4' && type === 'm4s') return -1;
  const [, digits, suffix] = /^(0|[1-9]\d{0,6})\.([a-z0-9]+)$/.exec(name) ?? [];
  if (digits === undefined || suffix !== type || Number(digits) >= segmentCount(plan)) throw notFound();
  return Number(digits);
}

/** A segment of video or audio: immediately when it is stored, else after a worker made it. */
export async function sendSegment(
  call: Call,
  row: SessionRow,
  requested: { rendition: string; name: string },
): Promise<Bytes> {
  const { rendition, name } = requested;
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

/** Sends an object with ranges. Throws 404 when it does not exist. */
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

async function waitForSegment(call: Call, row: SessionRow, { want, key }: { want: Want; key: string }): Promise<void> {
  refuseFailed(row);
  await refuseFull(call.deps.objects);
  await Promise.all([requestSegment(call, row.id, want), requireSource(call, row)]);
  await waitUntil(call, row.id, {
    named: { name: key, withdraw: () => withdraw(call, row.id, want) },
    look: () => call.deps.objects.stat('foyer-transcode', key),
    onMiss: async (now) => {
      await requireSource(call, now); // the storage may become unavailable while the request waits
      await endUnopened(call, now);
      await refuseFull(call.deps.objects);
      if (isForgotten(now)) await requestSegment(call, row.id, want);
    },
  });
}

/** Throws when the object storage is full, because no further segment can be stored. */
export async function refuseFull(objects: Objects): Promise<void> {
  if (await objects.isFull()) throw noSpace();
}

/** The worker is gone, or another request withdrew the same want. */
function isForgotten({ state, lease_until: until, wanted_rendition: wanted }: SessionRow): boolean {
  const isHeld = until !== null && until.getTime() > Date.now();
  return wanted === null || (state === 'idle' && !isHeld);
}

async function requestSegment({ db, deps }: Call, id: string, want: Want): Promise<void> {
  const answer = await wantSegment(db, { id, rendition: want.rendition, segment: want.segment });
  if (!answer) return;
  if (answer.offer) await offerSession(deps.redis, id);
  else await announceWant(deps.redis, id, want);
}

async function withdraw({ deps }: Call, id: string, want: Want): Promise<void> {
  await withdrawWant(deps.db, { id, rendition: want.rendition, segment: want.segment });
  await announceWant(deps.redis, id, { ...want, withdrawn: true });
}
