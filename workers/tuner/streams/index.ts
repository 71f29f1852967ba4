import { join } from 'node:path';
import type { Config } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { endReplaced, whenReplaced } from '#platform/fence.ts';
import { ringOf } from '#platform/keys.ts';
import { listen } from '#platform/listen.ts';
import { LIVE_BUCKET } from '#platform/live/segments.ts';
import { LIVE_STREAMS } from '#platform/live/streams.store.ts';
import { reportTuner, type TunerReport } from '#platform/live/tuners.ts';
import type { Log } from '#platform/log.ts';
import { connectObjects } from '#platform/objects.ts';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { connectRedis } from '#platform/redis.ts';
import { createSettings } from '#platform/settings.ts';
import { trimBuffer } from './buffer.ts';
import { DatabaseClock } from './clock.ts';
import { StreamKeeper } from './keeper.ts';
import { TunerLease } from './lease.ts';
import { passStreams, waitForNext } from './leaving.ts';
import { Spool } from './spool.ts';

/** Changes are announced: it looks for streams that are wanted no longer. */
const LOOK_MS = 2000;
const LEASE_EVERY_MS = 3000;
const REPORT_MS = 5000;
const TRIM_MS = 30_000;
const CLOCK_MS = 10_000;
/** For segments that are not uploaded yet; the next process takes the rest. */
const DRAIN_MS = 5000;

export interface StreamsSetting {
  tunerId: string;
  config: Config;
  log: Log;
  /** Networks that the resource names. */
  networks: readonly string[];
  /** Own space for segments that the object store has not taken. */
  space: { folder: string; bytes: number };
  /** Slots of the device, and how many of them others use. */
  slots: () => { total: number; foreign: number };
  /** Starts of this process by its supervisor. */
  restarts: number;
  /** How long it goes on at its end with streams that only it can receive. */
  leaveMs: number;
}

/** Receives the streams of one tuner until the returned function is called. */
export async function serveStreams(setting: StreamsSetting): Promise<() => Promise<void>> {
  const { tunerId, config, log } = setting;
  const stores = await connectStores(setting);
  const { db, redis, settings } = stores;
  const lease = new TunerLease(redis, { tunerId, pod: config.pod });
  const { keeper, spool } = await openKeeper(setting, stores);
  let held: boolean | undefined;
  let leaving = false;
  const hold = async (): Promise<void> => {
    const before = held;
    held = await lease.hold();
    if (held || before === false) return;
    log.warn('another pod has this tuner');
    await keeper.rest();
  };
  const look = async (): Promise<void> => {
    if (held === false) await hold();
    if (held) await keeper.look();
  };
  const report = (): Promise<void> =>
    reportTuner(redis, tunerId, { at: stores.clock.now(), ...reportOf(keeper, setting, held === true && !leaving) });
  await hold();
  await report();
  const rounds: [number, () => Promise<void>][] = [
    [LEASE_EVERY_MS, hold],
    [LOOK_MS, look],
    [REPORT_MS, report],
    [TRIM_MS, () => trim(stores)],
    [CLOCK_MS, () => stores.clock.look()],
  ];
  const timers = rounds.map(([ms, work]) => every(ms, work, log));
  const stopListening = listenFor(setting, look);
  return async () => {
    leaving = true;
    await report(); // no other stream comes here now
    const leaver = { db, redis, log, tunerId };
    if (held) await waitForNext(leaver, lease, setting.leaveMs);
    for (const timer of timers) clearInterval(timer);
    stopListening();
    await keeper.leave();
    await spool.drain(DRAIN_MS);
    if (held) await passStreams(leaver);
    await lease.release();
    settings.stop();
    redis.disconnect();
    await db.destroy();
  };
}

async function connectStores({ config, log }: StreamsSetting) {
  whenReplaced(() => endReplaced(log));
  const db = connectDatabase(config.databaseUrl, log, { max: 4, name: 'foyer-tuner' });
  const redis = connectRedis(config.redisUrl, log);
  const objects = connectObjects(config.objectsUrl);
  const keys = await ringOf(config.keysFile);
  const settings = createSettings({ config, db, redis, log });
  await settings.reload().catch(() => undefined);
  await objects.prepare([LIVE_BUCKET]).catch((error: Error) => log.warn({ err: error.message }, 'no object store yet'));
  const clock = new DatabaseClock(db, log);
  await clock.look().catch((error: Error) => log.warn({ err: error.message }, 'no database yet'));
  return { db, redis, objects, keys, settings, clock };
}

type Stores = Awaited<ReturnType<typeof connectStores>>;

function trim({ db, redis, objects, settings, clock }: Stores): Promise<void> {
  const limits = { minutes: settings.get('live.bufferMinutes'), bytes: settings.get('live.bufferBytes') };
  return trimBuffer({ db, redis, objects, now: clock.now }, limits);
}

async function openKeeper({ tunerId, config, log, space, networks }: StreamsSetting, stores: Stores) {
  const { db, redis, objects, keys, settings, clock } = stores;
  const folder = join(space.folder, tunerId);
  const spool = new Spool({ redis, objects, log, folder, mostBytes: space.bytes });
  await spool.open();
  const closed = { deny: [...config.clusterNetworks, ...config.apiServerNetworks] };
  const keeper = new StreamKeeper({
    ...{ db, redis, objects, keys, log, spool, folder, tunerId },
    send: createOutboundStream(closed),
    connect: createOutboundSocket(closed),
    networks: () => ({ allow: settings.get('live.allowedNetworks'), always: networks }),
    releaseSec: () => settings.get('live.releaseSec'),
    now: clock.now,
  });
  return { keeper, spool };
}

/** Looks as soon as the streams of the tuner change. */
function listenFor({ tunerId, config }: StreamsSetting, look: () => Promise<void>): () => void {
  const leaving = new AbortController();
  const heard = (payload: string): void => {
    if (payload === tunerId) void look();
  };
  const connected = (): void => void look();
  void listen(config.databaseUrl, { channel: LIVE_STREAMS, heard, connected, signal: leaving.signal });
  return () => leaving.abort();
}

function reportOf(keeper: StreamKeeper, setting: StreamsSetting, ready: boolean): Omit<TunerReport, 'at'> {
  const { total, foreign } = setting.slots();
  const tuned = new Map(keeper.takeSlots().map((slot) => [slot.index, slot]));
  const others = Math.max(0, foreign - tuned.size);
  let left = others;
  const slots = Array.from({ length: Math.max(total, ...[...tuned.keys()].map((index) => index + 1)) }, (_, index) => {
    const own = tuned.get(index);
    if (own) return tunedSlot(own);
    left -= 1;
    return { index, state: left >= 0 ? ('foreign' as const) : ('free' as const) };
  });
  const { pod: name, node } = setting.config;
  return { ready, slots, pod: { name, node, ready, restarts: setting.restarts } };
}

const tunedSlot = ({ index, bitrate, quality }: ReturnType<StreamKeeper['takeSlots']>[number]) => ({
  ...{ index, state: 'tuned' as const },
  ...(bitrate !== undefined && { bitrate }),
  ...(quality !== undefined && { qualityPercent: quality }),
});

/** Runs the work at intervals, one run at a time. */
function every(ms: number, work: () => Promise<void>, log: Log): NodeJS.Timeout {
  let busy = false;
  return setInterval(() => {
    if (busy) return;
    busy = true;
    work()
      .catch((error: Error) => log.warn({ err: error.message }, 'tuner'))
      .finally(() => {
        busy = false;
      });
  }, ms);
}
