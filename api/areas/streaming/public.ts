import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';
import type { Settings } from '#platform/settings.ts';
import { findSource, versionOf } from './files/sources.view.ts';
import { choosePrerolls, type PrerollOptions, prerollRules } from './preroll/preroll.ts';
import { findClipsWithAge } from './preroll/preroll.view.ts';
import { planOf, type StreamOptions, type StreamPlan, segmentAt } from './segments/plan.ts';
import { announceStop, countWorkerSlots, offerSession } from './sessions/offers.store.ts';
import {
  countSlots,
  insertSession,
  lockOpenSession,
  pauseSessionsOf,
  replacePlan,
  stopSessionsOf,
} from './sessions/sessions.store.ts';
import { PrerollClip } from './streaming.schemas.ts';
import { differsInTextsAlone, renewedTexts, textsRevision, withTexts } from './text/plan-texts.ts';

export { type Cue, decodeText } from '#platform/subtitles/cues.ts';
export { sendRanged } from './files/file-answer.ts';
export { findOpenings, openSidecar, refuseUnavailableSource, storageUnavailable } from './files/sources.ts';
export {
  type FileSource,
  findItemSource,
  findPlaces,
  findSource,
  findTrackPlace,
  versionOf,
} from './files/sources.view.ts';
export {
  dropRemovedTrickplay,
  forgetRemovedTrickplay,
  removeTrickplay,
  saveTrickplay,
  trickplayKey,
} from './files/trickplay.store.ts';
export { countSent } from './metered.ts';
export { moveClips, settleClips } from './preroll/preroll.store.ts';
export { openToReceivers } from './receivers.ts';
export { h264Level, PEAK } from './segments/codecs.ts';
export type {
  AudioOptions,
  BurnIn,
  StreamOptions,
  StreamPlan,
  SubtitleOptions,
  VideoOptions,
} from './segments/plan.ts';
export {
  FRAME_SAMPLES,
  firstAudioFrame,
  firstFrame,
  renditionOf,
  SAMPLE_RATE,
  segmentAt,
  segmentCount,
  segmentStartMs,
  TRANSPORT_OFFSET_MS,
} from './segments/plan.ts';
export { sendObject } from './segments/segments.ts';
export { liveWorkers } from './sessions/offers.store.ts';
export { servePoolMetrics } from './sessions/pool-metrics.ts';
export { judgeItem } from './sessions/rights.ts';
export { tryEncoders } from './sessions/trials.store.ts';
export { readCues } from './text/cue-reader.ts';
export { keptKey } from './text/kept-texts.view.ts';
export {
  escapedText,
  fontKey,
  fontsKey,
  TELETEXT,
  TEXT_CODECS,
  textTrackKey,
  webvttBlock,
} from './text/text-tracks.ts';

/**
 * Opens a transcode session in the caller's transaction. Pass `offerTranscodeSession` to `call.afterCommit`, so that a
 * worker starts immediately; otherwise a worker finds the row within 2 seconds.
 */
export async function openTranscodeSession(db: Db, options: StreamOptions): Promise<{ id: string; url: string }> {
  const plan = await madePlan(db, options);
  const id = newId();
  await insertSession(db, {
    id,
    playback_session_id: options.playbackSessionId,
    account_id: options.accountId,
    profile_id: options.profileId,
    item_id: options.itemId,
    file_id: options.fileId,
    plan,
    wanted_segment: segmentAt(plan, plan.startMs),
  });
  return { id, url: await masterUrl(db, id, plan) };
}

/** Address of the master playlist, with the revision of its texts. */
async function masterUrl(db: Db, id: string, plan: StreamPlan): Promise<string> {
  const revision = await textsRevision(db, plan);
  return `/api/v1/stream/${id}/master.m3u8${revision ? `?texts=${revision}` : ''}`;
}

/**
 * Goes on with an open transcode session when only its texts are to change: nothing is encoded again, and the address has
 * the revision of the texts. Undefined when the session has ended or something else is to change.
 */
export async function renewTranscodeTexts(
  db: Db,
  sessionId: string,
  options: StreamOptions,
): Promise<{ id: string; url: string } | undefined> {
  const row = await lockOpenSession(db, sessionId);
  if (!row) return undefined;
  const plan = await madePlan(db, options);
  if (!differsInTextsAlone(row.plan, plan)) return undefined;
  const renewed = renewedTexts(row.plan, plan);
  await replacePlan(db, sessionId, renewed);
  return { id: sessionId, url: await masterUrl(db, sessionId, renewed) };
}

async function madePlan(db: Db, options: StreamOptions): Promise<StreamPlan> {
  const source = await findSource(db, options.fileId);
  if (!source) throw new Error(`file ${options.fileId} does not exist`);
  const streams = source.probe?.streams ?? [];
  return planOf(await withTexts(db, options), {
    storageId: source.storageId,
    path: source.path,
    container: source.probe?.container ?? '',
    version: versionOf(source),
    startMs: source.probe?.startMs ?? 0,
    keyframes: source.keyframes,
    codecStrings: Object.fromEntries(streams.flatMap((one) => (one.codecString ? [[one.index, one.codecString]] : []))),
  });
}

/** Offers the session to the workers, after the commit. */
export async function offerTranscodeSession(redis: Redis, id: string): Promise<void> {
  await offerSession(redis, id);
}

/**
 * Stops every transcode session of a playback session, now or `afterMs` later; their segments are deleted 60 seconds
 * after that. Returns the ids stopped now, for `freeTranscoders`.
 */
export async function stopTranscodeSessions(
  db: Db,
  playbackSessionId: string,
  { afterMs = 0 }: { afterMs?: number } = {},
): Promise<string[]> {
  return stopSessionsOf(db, playbackSessionId, afterMs);
}

/** Notifies the workers of stopped sessions, after the commit. Otherwise each worker notices within 3 seconds. */
export async function freeTranscoders(redis: Redis, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => announceStop(redis, id)));
}

/** Records whether the viewer paused: a paused session waits 30 minutes instead of 90 seconds. */
export async function touchTranscode(
  db: Db,
  playbackSessionId: string,
  { paused }: { paused: boolean },
): Promise<void> {
  await pauseSessionsOf(db, playbackSessionId, paused);
}

export interface TranscodeSlots {
  total: number;
  used: number;
  waiting: number;
}

/** Slots of the live workers. `total` is at least `used` when Redis is unavailable. */
export async function transcodeSlots(db: Db, redis: Redis): Promise<TranscodeSlots> {
  const { used, waiting } = await countSlots(db);
  const total = await countWorkerSlots(redis);
  return { total: Math.max(total ?? 0, used), used, waiting };
}

/** `off` when no workers are configured, `down` when none is live or Redis is unavailable. */
export async function transcodeHealth({
  redis,
  settings,
}: {
  redis: Redis;
  settings: Settings;
}): Promise<'ok' | 'down' | 'off'> {
  if (settings.get('transcode.maxWorkers') === 0) return 'off';
  return (await countWorkerSlots(redis)) ? 'ok' : 'down';
}

export type PrerollQuery = Pick<PrerollOptions, 'libraryId' | 'itemType' | 'resumes'>;
export { PrerollClip };

/** The clips before an item, as `PrerollClip` records for `startPlayback`. */
export async function prerollsFor(
  call: Pick<Call, 'db' | 'deps' | 'who'>,
  options: PrerollQuery,
): Promise<PrerollClip[]> {
  const rules = prerollRules(call.deps.settings);
  if (!rules.enabled) return [];
  const key = `foyer:preroll:recent:${call.who.profileId}`;
  const { redis, settings } = call.deps;
  const day = new Intl.DateTimeFormat('en-CA', {
    timeZone: settings.get('server.timeZone'),
    month: '2-digit',
    day: '2-digit',
  });
  const chosen = choosePrerolls(rules, await findClipsWithAge(call.db), {
    ...options,
    day: day.format(new Date()).slice(-5),
    ageLimit: call.who.sees.ageLimit,
    recent: await withoutFail(() => redis.lrange(key, 0, 2), []),
    random: Math.random,
  });
  if (chosen.length > 0) {
    const ids = chosen.map((clip) => clip.id);
    await withoutFail(
      () =>
        redis
          .multi()
          .lpush(key, ...ids)
          .ltrim(key, 0, 9)
          .expire(key, 30 * 86_400)
          .exec(),
      null,
    );
  }
  return chosen.map((clip) => ({
    id: clip.id,
    itemId: clip.item_id,
    title: clip.title,
    durationMs: clip.duration_ms,
    url: `/api/v1/preroll/${clip.id}/stream`,
    skippableAfterMs: rules.skippableAfterMs,
  }));
}
