// The slot of a recording: a stream of its channel, shared with its viewers.
import { type HeldRecording, type RecordingRow, tunersOfChannels } from '#areas/live-tv/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { stopSession } from '#areas/viewing/public.ts';
import type { Db } from '#platform/db.ts';
import { keepStreamWanted, lockArbitration, type Tuned, tune } from '#platform/live/streams.store.ts';
import { presentTuners } from '#platform/live/tuners.ts';
import { findVictim, hasFreeSlot, lastFault, markYielding, takeYielded } from '#platform/live/yielding.store.ts';
import type { WorkerDeps } from '#workers/work.ts';

type Deps = Pick<WorkerDeps, 'db' | 'redis' | 'settings' | 'log'>;
export type Missing = Exclude<RecordingRow['state_reason'], null>;

/** A viewer is notified so long before the stream ends. */
const NOTICE_MS = 60_000;
/** A channel is tuned so long before its recording, so that its first picture is not late. */
const AHEAD_MS = 8000;

/** Keeps the channel tuned. Returns why it is not. */
export async function holdSlot(deps: Deps, channelId: string): Promise<Missing | undefined> {
  const fault = await lastFault(deps.db, channelId);
  const tuned = await takeSlot(deps, channelId);
  if (tuned === 'kept') return undefined;
  if (tuned.kind === 'open') return fault === undefined ? undefined : missingOf(fault);
  if (tuned.kind === 'none') return tuned.drm ? 'drm' : 'tuner-unreachable';
  if (deps.settings.get('dvr.viewersYield')) await yieldFor(deps, channelId, new Date(Date.now() + NOTICE_MS));
  return 'tuners-busy';
}

/** The stream of the channel, open for a recording, if there is a slot. */
async function takeSlot(deps: Deps, channelId: string): Promise<Tuned | 'kept'> {
  if (await keepStreamWanted(deps.db, channelId, 'recording')) return 'kept';
  const tuned = await openSlot(deps, channelId);
  if (tuned.kind === 'open') await keepStreamWanted(deps.db, channelId, 'recording');
  return tuned;
}

/** Streams that yield end only where no slot is free, and one by one until one is. */
async function openSlot({ db, redis }: Deps, channelId: string): Promise<Tuned> {
  const tuners = (await tunersOfChannels(db, [channelId])).get(channelId) ?? [];
  const present = await presentTuners(redis, tuners);
  return db.transaction(async (tx) => {
    for (;;) {
      const tuned = await tune(tx, channelId, present);
      const sessions = tuned.kind === 'busy' ? await takeYielded(tx, tuners) : undefined;
      if (!sessions) return tuned;
      for (const sessionId of sessions) await stopSession(tx, sessionId, { reason: 'limit' });
    }
  });
}

/** Before a recording: tunes its channel where a slot is free, else notifies viewers in time that it will need theirs. */
export async function prepareSlot(deps: Deps, row: HeldRecording): Promise<void> {
  const { channel_id: channelId, planned_from: from, now } = row;
  if (channelId === null || from === null) return;
  if (await hasFreeSlot(deps.db, channelId)) {
    if (from.getTime() - now.getTime() <= AHEAD_MS) await takeSlot(deps, channelId);
  } else if (deps.settings.get('dvr.viewersYield')) await yieldFor(deps, channelId, from);
}

/** The stream with the fewest viewers and no recording ends at that time; its viewers are notified once. */
async function yieldFor({ db }: Deps, channelId: string, at: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await lockArbitration(tx);
    const victim = await findVictim(tx, channelId);
    if (!victim || victim.yieldsAt) return;
    await markYielding(tx, victim.id, at);
    await notifyViewers(tx, victim, at);
  });
}

async function notifyViewers(
  db: Db,
  { channelId, channelName, profileIds }: { channelId: string; channelName: string; profileIds: string[] },
  at: Date,
): Promise<void> {
  if (profileIds.length === 0) return;
  await notify(db, {
    ...{ kind: 'live-yielding', to: { profileIds }, itemId: channelId },
    ...{ target: { kind: 'channel', id: channelId }, data: { channel: channelName, at: at.toISOString() } },
    ...{ url: `/live/watch/${channelId}`, expiresAt: new Date(at.getTime() + NOTICE_MS).toISOString() },
  });
}

const REASONS: Readonly<Record<string, Missing>> = { busy: 'tuners-busy', 'no-signal': 'no-signal', drm: 'drm' };
const missingOf = (fault: string): Missing => REASONS[fault] ?? 'tuner-unreachable';
