import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import {
  decideLive,
  type LiveChoice,
  liveAddress,
  liveStart,
  openRendition,
  openSession,
  type PlaybackStart,
  profileOf,
  toSession,
} from '#areas/playback/public.ts';
import { refuseRemote, type SessionRow, stopSession, takePlace } from '#areas/viewing/public.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call, Release } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { listSegments, recentBitrate } from '#platform/live/segments.ts';
import { endReservation, findOpenStream } from '#platform/live/streams.store.ts';
import { refuseAge } from './age.ts';
import { getChannelRow } from './channel.view.ts';
import { programmesOf } from './programmes.ts';
import { type LiveStream, receive, streamOf } from './receive.ts';
import { liveSessionOf } from './session.view.ts';
import type { WatchLive } from './watching.schemas.ts';

/** Tunes to a channel before its session is opened, outside a transaction: it waits for the tuner. */
export async function tuneFor(call: Call, channelId: string, body: WatchLive): Promise<Release | undefined> {
  if (body.dryRun) return undefined;
  await watchable(call, channelId);
  await profileOf(call, body.client, true);
  refuseRemote(call);
  const stream = await receive(call, channelId, body);
  return () => endReservation(call.deps.db, stream);
}

/** Opens a session for a channel that is on. */
export async function watch(call: Call, channelId: string, body: WatchLive): Promise<PlaybackStart> {
  const item = await watchable(call, channelId);
  const { given, profile } = await profileOf(call, body.client, body.dryRun);
  if (body.dryRun) return dryWatch(call, item, { ...body, profile });
  const stream = await streamOf(call, channelId);
  const bitrate = await bitrateOf(call, channelId);
  const source = { channelId, streams: stream.facts, bitrate, reason: 'live-source' as const };
  const choice = await decideLive(call, source, { ...body, profile });
  await admit(call, choice);
  await openRendition(call, channelId, choice);
  const row = await open(call, { item, choice, stream, body, given });
  const session = { ...toSession(row, call.who), live: await liveSessionOf(call, row) };
  return { ...liveStart(session), subtitles: choice.offered };
}

async function watchable({ db, who }: Call, channelId: string): Promise<VisibleItem> {
  requireAllowed(who, 'liveTv');
  const item = await getVisibleItem(db, who, channelId);
  if (item.type !== 'channel') throw notFound();
  const { drm } = await getChannelRow(db, who, channelId);
  if (drm) throw new ApiError('MEDIA_NOT_PLAYABLE', 'This channel is encrypted', { reason: 'drm' });
  await refuseAge(db, who, channelId);
  return item;
}

const bitrateOf = async ({ deps }: Call, channelId: string): Promise<number> =>
  recentBitrate(await listSegments(deps, channelId));

/** A place under the limits. */
async function admit(call: Call, { decision }: LiveChoice): Promise<void> {
  const { db, who, deps } = call;
  const encodes = decision.method === 'transcode';
  const serverCap = deps.settings.get('playback.maxStreams');
  for (const id of await takePlace(db, who, { deviceId: who.deviceId, encodes, serverCap }))
    await stopSession(db, id, { reason: 'replaced' });
}

interface Opening {
  item: VisibleItem;
  choice: LiveChoice;
  stream: LiveStream;
  body: WatchLive;
  given: object;
}

async function open(call: Call, { item, choice, stream, body, given }: Opening): Promise<SessionRow> {
  const id = newId();
  const startMs = await startOf(call, item.id, body.startAt);
  const { subtitle } = choice.decision;
  const { quality, maxBitrate } = body;
  const started = startMs !== undefined && { startMs };
  return openSession(call, {
    ...{ id, item, body, decision: choice.decision, profile: given, url: liveAddress(id) },
    wish: { quality, maxBitrate, ...(subtitle && { subtitleStreamId: subtitle.streamId }) },
    position_ms: startMs ?? call.now.getTime(),
    duration_ms: null,
    live: { channelId: item.id, streamId: stream.id, rendition: choice.rendition, ...started },
  });
}

/** Where playback begins, Unix ms, as far as the buffer reaches; undefined at the live edge. */
async function startOf(
  { deps, db, who, now }: Call,
  channelId: string,
  at: WatchLive['startAt'],
): Promise<number | undefined> {
  if (at === 'live') return undefined;
  const [first] = await listSegments(deps, channelId);
  if (!first) return undefined;
  if (at === 'buffer') return first.startMs;
  const [onAir] = await programmesOf(db, who, { channelId, from: now, to: now });
  return onAir && Math.max(first.startMs, Date.parse(onAir.startAt));
}

/** The decision for a channel that is on; nothing is tuned for it. */
async function dryWatch(
  call: Call,
  item: VisibleItem,
  options: WatchLive & Pick<Parameters<typeof decideLive>[2], 'profile'>,
): Promise<PlaybackStart> {
  const stream = await findOpenStream(call.db, item.id);
  if (!stream?.facts) throw conflict('not-tuned', 'The channel is not on, so its streams are not known');
  const bitrate = await bitrateOf(call, item.id);
  const source = { channelId: item.id, streams: stream.facts, bitrate, reason: 'live-source' as const };
  const { decision } = await decideLive(call, source, options);
  call.reply.status(200);
  const { who, client, now } = call;
  const at = now.toISOString();
  return liveStart({
    id: '00000000-0000-0000-0000-000000000000',
    ...{ userId: who.accountId, profileId: who.profileId, itemId: item.id, mediaFileId: item.id },
    ...{ state: 'stopped', positionMs: now.getTime(), durationMs: null, rate: 1, decision, url: '' },
    transcodeSessionId: null,
    client: { deviceId: who.deviceId ?? null, name: client.name ?? null, platform: null },
    ...{ isRemote: !client.local, castDeviceId: null, roomId: null, queueId: null },
    ...{ startedAt: at, lastReportAt: at, stoppedAt: null, stopReason: null },
  });
}
