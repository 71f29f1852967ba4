import { getVisibleItem } from '#areas/items/public.ts';
import { type SessionRow, takePlace, updateSession } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { findOpenStream } from '#platform/live/streams.store.ts';
import { profileOf } from '../decision/client-profile.ts';
import { decideLive } from '../decision/live.ts';
import type { ChangePlayback, ClientProfile, PlaybackStart } from '../playback.schemas.ts';
import { openRendition } from './live-rendition.ts';
import { toSession } from './session.view.ts';
import { KEEP_ALIVE_MS } from './start-answer.ts';

/** Another quality of a channel that is watched: its stream goes on, and the master playlist lists another rendition. */
export async function changeLive(call: Call, before: SessionRow, body: ChangePlayback): Promise<PlaybackStart> {
  const { db, who } = call;
  await getVisibleItem(db, who, before.item_id);
  const stream = await findOpenStream(db, before.item_id);
  if (!stream?.facts || !before.live) throw notFound();
  const sent = body.client ?? ((before.profile ?? undefined) as ClientProfile | undefined);
  const { given, profile } = await profileOf(call, sent, body.client === undefined);
  const options = optionsOf(before, body);
  const { bitrate } = before.decision as { bitrate: number };
  const source = { channelId: before.item_id, streams: stream.facts, bitrate };
  const { decision, rendition } = await decideLive(call, source, { ...options, profile });
  const encodes = decision.method === 'transcode';
  if (encodes && !before.encodes) await takeEncodingPlace(call, before);
  await openRendition(call, before.item_id, { decision, rendition });
  const row = await updateSession(db, before.id, {
    ...{ method: decision.method, decision: JSON.stringify(decision), encodes },
    ...{ profile: JSON.stringify(given), wish: JSON.stringify(options) },
    live: JSON.stringify({ ...before.live, rendition }),
    ...(body.positionMs !== undefined && { position_ms: body.positionMs }),
  });
  return liveStart(toSession(row, who));
}

const optionsOf = (
  { wish: stored }: SessionRow,
  body: ChangePlayback,
): Pick<ChangePlayback, 'quality' | 'maxBitrate'> => ({
  quality: body.quality ?? stored.quality,
  maxBitrate: body.maxBitrate ?? stored.maxBitrate,
});

async function takeEncodingPlace({ db, who, deps }: Call, { id }: SessionRow): Promise<void> {
  const serverCap = deps.settings.get('playback.maxStreams');
  await takePlace(db, who, { deviceId: undefined, replaces: id, encodes: true, serverCap });
}

/** The answer for a channel: a broadcast has no position, chapters or next item. */
export function liveStart(session: PlaybackStart['session'], warnings: PlaybackStart['warnings'] = []): PlaybackStart {
  return {
    session,
    resume: { positionMs: 0, watched: false },
    ...{ subtitles: [], audio: [], fonts: [], markers: [], chapters: [], preroll: [] },
    keepAliveMs: KEEP_ALIVE_MS,
    warnings,
  };
}
