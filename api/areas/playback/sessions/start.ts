import { firstToPlay, holdVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import {
  freeTranscoders,
  offerTranscodeSession,
  openTranscodeSession,
  type StreamOptions,
  stopTranscodeSessions,
} from '#areas/streaming/public.ts';
import { findSession, refuseRemote, type SessionRow, stopSession, takePlace } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { type Choice, choose } from '../decision/choose.ts';
import { profileOf } from '../decision/client-profile.ts';
import type { Profile } from '../decision/profiles.ts';
import type { PlaybackStart, StartPlayback } from '../playback.schemas.ts';
import { findState } from '../progress/progress.store.ts';
import { type GrowingStart, startGrowing } from './growing.ts';
import { growingOf } from './growing-source.ts';
import { openSession } from './open-session.ts';
import { type Places, placesOf, refuseFull } from './places.ts';
import { dryStart, toStart } from './start-answer.ts';
import { rememberTracks } from './track-choices.ts';

const PLAYABLE = ['movie', 'episode', 'video', 'track', 'audiobook', 'lesson', 'recording'];

/**
 * Opens a playback session in the caller's transaction: the decision, a place under the limits, and a transcode session
 * if needed.
 */
export async function start(call: Call, itemId: string, body: StartPlayback): Promise<PlaybackStart> {
  const { db, who } = call;
  const item = await playable(call, itemId);
  const { given, profile } = await profileOf(call, body.client, body.dryRun);
  const { resume, fileId: begun } = await storedPosition(call, item);
  const growing = await growingOf(call, item.id, body.fileId);
  if (growing) return grow(call, { item, growing, body, resume, given, profile });
  const resumed = body.startMs === undefined ? begun : undefined;
  const choice = await choose(call, item, { options: { ...body, resumed }, profile });
  const requested = body.startMs ?? Math.max(0, resume.positionMs - choice.preferences.rewindOnResumeMs);
  const startMs = withinFile(requested, choice.file);
  if (body.dryRun) {
    call.reply.status(200);
    return dryStart(call, { item, choice, resume });
  }
  refuseRemote(call);
  const places = await makeRoom(call, choice, body.replaces);
  const row = await open(call, { item, choice, startMs, profile: given, body });
  await rememberTracks(db, { profileId: who.profileId, item, tracks: choice.file.tracks, named: body });
  const preroll = body.preroll && choice.preferences.preroll;
  return toStart(call, { item, choice, resume, row, preroll, resumes: startMs > 0, places });
}

type Growth = Pick<GrowingStart, 'item' | 'growing' | 'body' | 'resume' | 'given'> & { profile: Profile };

/** The recording has no file yet. */
async function grow(call: Call, { profile, ...growth }: Growth): Promise<PlaybackStart> {
  const { growing, body, resume } = growth;
  if (!body.dryRun) refuseRemote(call);
  return startGrowing(call, {
    ...growth,
    options: {
      ...{ profile, quality: body.quality, maxBitrate: body.maxBitrate },
      subtitleStreamId: body.subtitleStreamId,
    },
    startMs: withinFile(body.startMs ?? resume.positionMs, { durationMs: growing.lengthMs }),
    admit: async (decision) => makeRoom(call, { decision, stream: undefined }, body.replaces),
  });
}

/** A position beyond the end is the end. */
export function withinFile(positionMs: number, { durationMs }: { durationMs: number }): number {
  return durationMs > 0 ? Math.min(positionMs, durationMs) : positionMs;
}

/** The stored position of the profile, and its file. */
async function storedPosition(
  { db, who }: Call,
  { id }: VisibleItem,
): Promise<{ resume: PlaybackStart['resume']; fileId: string | undefined }> {
  const state = await findState(db, who.profileId, id);
  const positionMs = state?.position_ms ?? 0;
  return {
    resume: { positionMs, watched: state?.watched ?? false },
    fileId: positionMs > 0 ? (state?.file_id ?? undefined) : undefined,
  };
}

/** The item itself, or the next unplayed child of a container. A completely played container starts again. */
async function playable(call: Call, id: string): Promise<VisibleItem> {
  const { db, who } = call;
  const item = await holdVisibleItem(db, who, id);
  if (!item.container) {
    if (PLAYABLE.includes(item.type)) return item;
    throw new ApiError('MEDIA_NOT_PLAYABLE', 'This item is not playable', { reason: 'type' });
  }
  const child = await firstToPlay(db, who, { containerId: id, types: PLAYABLE });
  if (!child) throw new ApiError('MEDIA_NOT_PLAYABLE', 'This container has no playable items', { reason: 'type' });
  return holdVisibleItem(db, who, child);
}

/**
 * Takes a place under the limits and a worker slot. Throws when either is full. Returns the worker slots for a decision
 * that needs one.
 */
async function makeRoom(
  call: Call,
  choice: Pick<Choice, 'decision' | 'stream'>,
  replaces: string | undefined,
): Promise<Places | undefined> {
  const { db, who, deps } = call;
  const encodes = choice.decision.method === 'transcode';
  const serverCap = deps.settings.get('playback.maxStreams');
  const replaced = await takePlace(db, who, { deviceId: who.deviceId, replaces, encodes, serverCap });
  if (replaces && !replaced.includes(replaces)) await refuseForeignSession(call, replaces);
  for (const id of replaced) {
    await stopSession(db, id, { reason: 'replaced' });
    const freed = await stopTranscodeSessions(db, id);
    call.afterCommit(() => freeTranscoders(deps.redis, freed));
  }
  if (!choice.stream) return undefined;
  const places = await placesOf(call);
  refuseFull(places);
  return places;
}

/** A replaced session may have ended already, but must be the caller's. */
async function refuseForeignSession({ db, who }: Call, sessionId: string): Promise<void> {
  const row = await findSession(db, sessionId);
  if (row?.account_id !== who.accountId) throw notFound();
}

interface Opening {
  item: VisibleItem;
  choice: Choice;
  startMs: number;
  profile: object;
  body: StartPlayback;
}

async function open(call: Call, { item, choice, startMs, profile, body }: Opening): Promise<SessionRow> {
  const id = newId();
  const { decision, file } = choice;
  const stream = await openStream(call, { id, item, choice, startMs });
  return openSession(call, {
    ...{ id, item, decision, profile, body, fileId: file.id, transcodeSessionId: stream?.id },
    wish: { quality: body.quality, maxBitrate: body.maxBitrate, allow: body.allow },
    url: stream?.url ?? `/api/v1/files/${file.id}/stream?session=${id}`,
    position_ms: startMs,
    duration_ms: file.durationMs || null,
  });
}

interface StreamOpening {
  /** Of the playback session. */
  id: string;
  item: VisibleItem;
  choice: Choice;
  startMs: number;
}

/** What a stream of this decision needs; undefined without one. */
export function streamOptions({ who }: Call, { id, item, choice, startMs }: StreamOpening): StreamOptions | undefined {
  return (
    choice.stream && {
      ...choice.stream,
      playbackSessionId: id,
      accountId: who.accountId,
      profileId: who.profileId,
      itemId: item.id,
      fileId: choice.file.id,
      durationMs: choice.file.durationMs,
      startMs,
    }
  );
}

/** Opens the transcode session of an HLS decision; its worker is notified after the commit. */
export async function openStream(call: Call, open: StreamOpening): Promise<{ id: string; url: string } | undefined> {
  const { choice } = open;
  if (choice.decision.reasons.includes('keyframes-unknown')) await enqueueKeyframes(call, choice.file.id);
  const options = streamOptions(call, open);
  if (!options) return undefined;
  const stream = await openTranscodeSession(call.db, options);
  call.afterCommit(() => offerTranscodeSession(call.deps.redis, stream.id));
  return stream;
}

/** With keyframes, the next playback of the file can copy its video. */
async function enqueueKeyframes(call: Call, fileId: string): Promise<void> {
  const options = { key: `media.keyframes:${fileId}`, target: { kind: 'file', id: fileId } };
  await call.enqueue('media.keyframes', { fileId }, options);
}
