import { getVisibleItem } from '#areas/items/public.ts';
import { type SessionRow, takePlace, updateSession } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { findRecorded, type Growing } from '#platform/live/recorded.store.ts';
import { findOpenStream } from '#platform/live/streams.store.ts';
import { profileOf } from '../decision/client-profile.ts';
import { decideLive, type LiveSource } from '../decision/live.ts';
import type { ChangePlayback, ClientProfile, PlaybackStart } from '../playback.schemas.ts';
import { growingSource, openPartsRendition } from './growing-source.ts';
import { openRendition } from './live-rendition.ts';
import { toSession } from './session.view.ts';
import { KEEP_ALIVE_MS } from './start-answer.ts';

/** Another quality of a channel that is watched: its stream goes on, and the master playlist lists another rendition. */
export async function changeLive(call: Call, before: SessionRow, body: ChangePlayback): Promise<PlaybackStart> {
  const { db, who } = call;
  await getVisibleItem(db, who, before.item_id);
  const { live } = before;
  if (!live) throw notFound();
  const growing = await growingBy(call, live.recordingId);
  const source = growing ? await growingSource(call, before.item_id, growing) : await broadcastOf(call, before);
  const sent = body.client ?? ((before.profile ?? undefined) as ClientProfile | undefined);
  const { given, profile } = await profileOf(call, sent, body.client === undefined);
  const options = optionsOf(before, body);
  const choice = await decideLive(call, source, { ...options, profile });
  const { decision, rendition } = choice;
  const encodes = decision.method === 'transcode';
  if (encodes && !before.encodes) await takeEncodingPlace(call, before);
  if (growing) await openPartsRendition(call, growing, choice);
  else await openRendition(call, before.item_id, choice);
  const row = await updateSession(db, before.id, {
    ...{ method: decision.method, decision: JSON.stringify(decision), encodes },
    ...{ profile: JSON.stringify(given), wish: JSON.stringify(options) },
    live: JSON.stringify({ ...live, rendition }),
    // Players load another address.
    ...(growing && { url: `/api/v1/live/sessions/${before.id}/master.m3u8?rendition=${rendition}` }),
    ...(body.positionMs !== undefined && { position_ms: body.positionMs }),
  });
  return { ...liveStart(toSession(row, who)), subtitles: choice.offered };
}

/** Of a session that plays the parts of a recording. Throws 404 once those are gone. */
async function growingBy({ db }: Call, recordingId: string | undefined): Promise<Growing | undefined> {
  if (recordingId === undefined) return undefined;
  const growing = await findRecorded(db, recordingId);
  if (!growing) throw notFound();
  return growing;
}

async function broadcastOf({ db }: Call, { item_id: channelId, decision }: SessionRow): Promise<LiveSource> {
  const stream = await findOpenStream(db, channelId);
  if (!stream?.facts) throw notFound();
  const { bitrate } = decision as { bitrate: number };
  return { channelId, streams: stream.facts, bitrate, reason: 'live-source' };
}

const optionsOf = (
  { wish: stored }: SessionRow,
  body: ChangePlayback,
): Pick<ChangePlayback, 'quality' | 'maxBitrate' | 'subtitleStreamId'> => ({
  quality: body.quality ?? stored.quality,
  maxBitrate: body.maxBitrate ?? stored.maxBitrate,
  subtitleStreamId: body.subtitleStreamId === undefined ? stored.subtitleStreamId : body.subtitleStreamId,
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
