// A recording whose file is not there yet: a growing HLS list from its beginning, of the parts in the object store.
import type { VisibleItem } from '#areas/items/public.ts';
import type { SessionRow } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { newId } from '#platform/ids.ts';
import type { Growing } from '#platform/live/recorded.store.ts';
import { decideLive, type LiveChoice, type LiveOptions } from '../decision/live.ts';
import type { PlaybackStart, StartPlayback } from '../playback.schemas.ts';
import { liveStart } from './change-live.ts';
import { growingSource, openPartsRendition } from './growing-source.ts';
import { liveAddress, openSession } from './open-session.ts';
import { toSession } from './session.view.ts';
import { drySession } from './start-answer.ts';

export interface GrowingStart {
  item: VisibleItem;
  growing: Growing;
  body: StartPlayback;
  options: LiveOptions;
  /** The profile as the client sent it. */
  given: object;
  startMs: number;
  resume: PlaybackStart['resume'];
  /** Takes a place under the limits. */
  admit: (decision: LiveChoice['decision']) => Promise<unknown>;
}

export async function startGrowing(call: Call, opening: GrowingStart): Promise<PlaybackStart> {
  const { item, growing, body, options, resume, admit } = opening;
  const choice = await decideLive(call, await growingSource(call, item.id, growing), options);
  const { decision } = choice;
  if (body.dryRun) {
    call.reply.status(200);
    const session = drySession(call, { itemId: item.id, fileId: item.id, durationMs: growing.lengthMs, decision });
    return { ...liveStart(session), resume, subtitles: choice.offered };
  }
  await admit(decision);
  await openPartsRendition(call, growing, choice);
  const row = await open(call, opening, choice);
  return { ...liveStart(toSession(row, call.who)), resume, subtitles: choice.offered };
}

async function open(call: Call, opening: GrowingStart, { decision, rendition }: LiveChoice): Promise<SessionRow> {
  const { item, growing, body, given, startMs } = opening;
  const { quality, maxBitrate, allow, subtitleStreamId } = body;
  const id = newId();
  return openSession(call, {
    ...{ id, item, decision, body, profile: given, url: liveAddress(id) },
    wish: { quality, maxBitrate, allow, ...(subtitleStreamId && { subtitleStreamId }) },
    position_ms: startMs,
    duration_ms: Math.round(growing.lengthMs),
    live: { channelId: growing.channelId ?? item.id, streamId: '', rendition, startMs, recordingId: growing.id },
  });
}
