import { stopTranscodeSessions } from '#areas/streaming/public.ts';
import { findSession, stopSession, takePlace } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import { arrivalsOf } from '#platform/arrivals.ts';
import type { InUse } from '#platform/live/in-use.store.ts';
import { liveNews } from '#platform/live/segments.ts';
import {
  endReservation,
  findOpenStream,
  findStream,
  giveUpStream,
  type StreamRow,
  tune,
} from '#platform/live/streams.store.ts';
import { presentTuners } from '#platform/live/tuners.ts';
import type { ProbedStream } from '#platform/media.ts';
import { tunersOf } from './sources.view.ts';

/** Until then a source has to give data. */
const FIRST_DATA_MS = 15_000;

export type LiveStream = StreamRow & { facts: ProbedStream[] };

const busy = (inUse: readonly InUse[]): ApiError => conflict('tuners-busy', 'Every tuner is in use', { inUse });
const encrypted = (): ApiError => new ApiError('MEDIA_NOT_PLAYABLE', 'This channel is encrypted', { reason: 'drm' });
const silent = (tried: readonly { tunerId: string; reason: string }[]): ApiError =>
  new ApiError('PROVIDER_UNAVAILABLE', 'No source of this channel gives data', { tried });

/**
 * Opens or joins the stream of a channel and waits for its first segment. The session that it replaces, and the choice of
 * a slot, are committed at once, because the process of the tuner reads them. Run it outside a transaction.
 */
export async function receive(
  call: Call,
  channelId: string,
  { replaces }: { replaces?: string | undefined },
): Promise<LiveStream> {
  const { deps } = call;
  const present = await presentTuners(deps.redis, await tunersOf(deps.db, channelId));
  const outcome = await deps.db.transaction(async (db) => {
    await makeRoom({ ...call, db }, replaces);
    return tune(db, channelId, present);
  });
  if (outcome.kind === 'busy') throw busy(outcome.inUse);
  if (outcome.kind === 'none') throw outcome.drm ? encrypted() : silent([]);
  try {
    return await firstData(call, outcome.stream);
  } catch (error) {
    await endReservation(deps.db, outcome.stream);
    throw error;
  }
}

/** Checks the limits and ends the sessions that the new one replaces. */
async function makeRoom(call: Call, replaces: string | undefined): Promise<void> {
  const { db, who, deps } = call;
  const serverCap = deps.settings.get('playback.maxStreams');
  const replaced = await takePlace(db, who, { deviceId: who.deviceId, replaces, encodes: false, serverCap });
  if (replaces && !replaced.includes(replaces)) {
    const row = await findSession(db, replaces);
    if (row?.account_id !== who.accountId) throw notFound();
  }
  for (const id of replaced) {
    await stopSession(db, id, { reason: 'replaced' });
    await stopTranscodeSessions(db, id);
  }
}

/** The stream of a channel that is on. Throws 502 when it ended since. */
export async function streamOf({ db }: Call, channelId: string): Promise<LiveStream> {
  const stream = await findOpenStream(db, channelId);
  if (stream?.facts) return stream as LiveStream;
  throw silent([]);
}

async function firstData(call: Call, stream: StreamRow): Promise<LiveStream> {
  if (stream.state === 'live' && stream.facts) return stream as LiveStream;
  return whenLive(call, stream);
}

async function whenLive(call: Call, stream: StreamRow): Promise<LiveStream> {
  const { db, redis } = call.deps;
  const { id, channel_id: channelId } = stream;
  const arrivals = arrivalsOf(redis);
  const channel = liveNews(channelId);
  const silence = await arrivals.listen(channel);
  try {
    for (const end = Date.now() + FIRST_DATA_MS; ; ) {
      const heard = arrivals.heard(channel);
      const row = await findStream(db, id);
      if (!row || row.ended_at) throw refusalOf(row);
      if (row.state === 'live' && row.facts) return row as LiveStream;
      if (Date.now() > end || call.signal.aborted) await gaveUp(call, stream, row);
      await arrivals.next(channel, { heard, gone: call.signal });
    }
  } finally {
    silence();
  }
}

/** Throws 502. Another request may still wait for the stream of one that went. */
async function gaveUp({ deps, signal }: Call, stream: StreamRow, row: StreamRow): Promise<never> {
  if (!signal.aborted) await giveUpStream(deps.db, stream);
  throw silent([...row.tried, { tunerId: row.tuner_id, reason: 'no-data' }].map(toTried));
}

const toTried = ({ tunerId, reason }: { tunerId: string; reason: string }) => ({ tunerId, reason });

function refusalOf(row: StreamRow | undefined): ApiError {
  const tried = (row?.tried ?? []).map(toTried);
  if (tried.length > 0 && tried.every(({ reason }) => reason === 'drm')) return encrypted();
  if (tried.length > 0 && tried.every(({ reason }) => reason === 'busy')) return busy([]);
  return silent(tried);
}
