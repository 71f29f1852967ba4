import { holdVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import { renewTranscodeTexts, stopTranscodeSessions } from '#areas/streaming/public.ts';
import { isBroadcast, type SessionRow, takePlace, updateSession } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Choice, choose, type PlayOptions } from '../decision/choose.ts';
import { profileOf } from '../decision/client-profile.ts';
import type { ChangePlayback, ClientProfile, PlaybackStart } from '../playback.schemas.ts';
import { findState } from '../progress/progress.store.ts';
import { changeLive } from './change-live.ts';
import { growingOf } from './growing-source.ts';
import { type Places, placesOf, refuseFull } from './places.ts';
import { ownOpenSession } from './report.ts';
import { openStream, streamOptions, withinFile } from './start.ts';
import { toStart } from './start-answer.ts';
import { rememberTracks } from './track-choices.ts';

const OLD_STREAM_LIVES_MS = 10_000;

/** Decides again inside the same session. After any error the previous stream still plays. */
export async function change(call: Call, id: string, body: ChangePlayback): Promise<PlaybackStart> {
  const { db, who } = call;
  const before = await ownOpenSession(call, id);
  if (before.live && (isBroadcast(before) || (await growingOf(call, before.item_id, body.fileId))))
    return changeLive(call, before, body);
  const item = await holdVisibleItem(db, who, before.item_id);
  const sent = body.client ?? ((before.profile ?? undefined) as ClientProfile | undefined);
  const { given, profile } = await profileOf(call, sent, body.client === undefined);
  const options = await withPresentSubtitle(call, preferencesOf(before, body), body);
  const choice = await choose(call, item, { profile, options });
  const places = await keepRoom(call, before, choice);
  const row = await move(call, { before, item, choice, body, options, profile: given });
  if (body.remember) {
    await rememberTracks(db, { profileId: before.profile_id, item, tracks: choice.file.tracks, named: body });
  }
  const state = await findState(db, before.profile_id, item.id);
  return toStart(call, {
    item,
    choice,
    row,
    places,
    resume: { positionMs: row.position_ms, watched: state?.watched ?? false },
  });
}

/** The session keeps its place; a session that starts to encode needs an encoding place too. */
async function keepRoom(call: Call, before: SessionRow, choice: Choice): Promise<Places | undefined> {
  const { db, who, deps } = call;
  const encodes = choice.decision.method === 'transcode';
  const serverCap = deps.settings.get('playback.maxStreams');
  if (encodes && !before.encodes) {
    await takePlace(db, who, { deviceId: undefined, replaces: before.id, encodes, serverCap });
  }
  if (!choice.stream) return undefined;
  const places = await placesOf(call);
  if (before.transcode_session_id === null) refuseFull(places);
  return places;
}

/** A chosen subtitle that was removed meanwhile is none. */
async function withPresentSubtitle({ db }: Call, options: PlayOptions, body: ChangePlayback): Promise<PlayOptions> {
  const id = options.subtitleStreamId;
  if (!id || body.subtitleStreamId) return options;
  const there = await db('media_streams').where({ id }).first('id');
  return there ? options : { ...options, subtitleStreamId: null };
}

/** Absent members keep their value, except the tracks when another file is chosen. */
function preferencesOf(before: SessionRow, body: ChangePlayback): PlayOptions {
  // The parts of a recording have tracks of their own.
  const current = (before.live ? {} : before.decision) as {
    audio?: { streamId: string };
    subtitle?: { streamId: string };
  };
  const kept = body.fileId
    ? {}
    : { audioStreamId: current.audio?.streamId, subtitleStreamId: current.subtitle?.streamId ?? null };
  const fileId = before.live ? undefined : before.file_id;
  const named = {
    ...(body.audioStreamId && { audioStreamId: body.audioStreamId }),
    ...(body.subtitleStreamId !== undefined && { subtitleStreamId: body.subtitleStreamId }),
  };
  return {
    fileId: body.fileId ?? fileId,
    ...kept,
    ...named,
    ...boundsOf(before, body),
  };
}

const ALL_ALLOWED = { directPlay: true, directStream: true, transcode: true };

function boundsOf(
  { wish: stored }: SessionRow,
  body: ChangePlayback,
): Pick<PlayOptions, 'quality' | 'maxBitrate' | 'allow'> {
  return {
    quality: body.quality ?? stored.quality,
    maxBitrate: body.maxBitrate ?? stored.maxBitrate,
    allow: stored.allow ?? ALL_ALLOWED,
  };
}

interface Move {
  before: SessionRow;
  item: VisibleItem;
  choice: Choice;
  body: ChangePlayback;
  options: PlayOptions;
  profile: object;
}

type Opening = Parameters<typeof openStream>[1];

/** The stream goes on when only its texts change. */
async function renewed(call: Call, before: SessionRow, opening: Opening): ReturnType<typeof openStream> {
  const { transcode_session_id: id } = before;
  const options = streamOptions(call, opening);
  return id && options ? renewTranscodeTexts(call.db, id, options) : undefined;
}

async function reopened(call: Call, opening: Opening): ReturnType<typeof openStream> {
  await stopTranscodeSessions(call.db, opening.id, { afterMs: OLD_STREAM_LIVES_MS });
  return openStream(call, opening);
}

/** The previous stream continues for 10 seconds, so that playback does not break while the player loads the new one. */
async function move(call: Call, { before, item, choice, body, options, profile }: Move): Promise<SessionRow> {
  const { db } = call;
  const startMs = withinFile(body.positionMs ?? before.position_ms, choice.file);
  const { quality, maxBitrate, allow } = options;
  const opening = { id: before.id, item, choice, startMs };
  const stream = (await renewed(call, before, opening)) ?? (await reopened(call, opening));
  return updateSession(db, before.id, {
    file_id: choice.file.id,
    method: choice.decision.method,
    decision: JSON.stringify(choice.decision),
    profile: JSON.stringify(profile),
    wish: JSON.stringify({ quality, maxBitrate, allow }),
    url: stream?.url ?? `/api/v1/files/${choice.file.id}/stream?session=${before.id}`,
    transcode_session_id: stream?.id ?? null,
    encodes: choice.decision.method === 'transcode',
    position_ms: startMs,
    duration_ms: choice.file.durationMs || null,
    live: null,
  });
}
