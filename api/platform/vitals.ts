import type { Db } from './db.ts';
import { migrationsPending } from './migrate.ts';
import type { Objects } from './objects.ts';
import { notePeer } from './peers.ts';
import type { Redis } from './redis.ts';

export type Store = 'database' | 'redis' | 'objects';
/** Components behind the API; `off` means not configured and does no harm. */
export type Part = 'queue' | 'transcode' | 'subtitles' | 'storage' | 'mail' | 'keys';
export type State = 'ok' | 'degraded' | 'down' | 'off';
export type Probes = Record<Part, () => Promise<State>>;

/** The last observed state of the stores. Read from memory, so that a hung store never hangs a probe. */
export interface Vitals {
  state(what: Store | Part): State;
  /** Several checks of Postgres failed while another process reached it, so only this process is cut off. */
  cutOff(): boolean;
  /** The event loop was blocked for ten seconds a moment ago. */
  stoodStill(): boolean;
  /** Postgres was reached at least once since the start. */
  databaseReached(): boolean;
  /** Every migration of this build has run. */
  schemaCurrent(): boolean;
  /**
   * Whether an owner exists; reads Postgres until one does, because another process may run the setup. Rejects while it
   * is unavailable.
   */
  setupComplete(): Promise<boolean>;
  look(): Promise<void>;
  stop(): void;
}

const EVERY_MS = 5000;
const LIMIT_MS = 2000;
const HOLDS_FOR = 2; // checks before a state changes, so that it does not flap
const CUT_OFF_AFTER = 3;
const REACHED_KEY = 'foyer:database-seen';
/** Shorter than the failed checks, so that a mark found then was set by another process. */
const REACHED_SECONDS = 12;
const BEAT_MS = 1000;
const STILL_MS = 10_000;

function withLimit<T>(work: Promise<T>): Promise<T> {
  const limit = new Promise<never>((_, fail) => {
    setTimeout(() => fail(new Error('no answer in time')), LIMIT_MS).unref();
  });
  return Promise.race([work, limit]);
}

type Watched = Store | Part;

interface Steady {
  state(what: Watched): State;
  note(what: Watched, state: State): void;
}

/** States that change only after two equal checks; the first check of each component counts at once. */
function steadyStates(): Steady {
  const known = new Map<Watched, { state: State; against: number }>();
  return {
    state: (what) => known.get(what)?.state ?? (what === 'database' ? 'down' : 'ok'),
    note: (what, state) => {
      const before = known.get(what);
      const against = before && before.state !== state ? before.against + 1 : 0;
      if (!before || against >= HOLDS_FOR) known.set(what, { state, against: 0 });
      else known.set(what, { state: before.state, against });
    },
  };
}

/** Whether only this process cannot reach Postgres; false unless another process marked success in Redis. */
function watchConnection(
  redis: Redis,
  pod: string,
): { isCutOff: () => boolean; note: (state: State) => Promise<void> } {
  let failed = 0;
  let cutOff = false;
  return {
    isCutOff: () => cutOff,
    note: async (state) => {
      failed = state === 'down' ? failed + 1 : 0;
      if (state !== 'down') await redis.set(REACHED_KEY, pod, 'EX', REACHED_SECONDS).catch(() => 'OK');
      const other = failed < CUT_OFF_AFTER ? null : await redis.get(REACHED_KEY).catch(() => null);
      cutOff = other !== null && other !== pod;
    },
  };
}

/** Detects timers that run ten seconds late. */
export function createPulse(now: () => number = () => performance.now()): {
  beat: () => void;
  stoodStill: () => boolean;
} {
  let last = now();
  let stillUntil = Number.NEGATIVE_INFINITY;
  return {
    beat: () => {
      if (now() - last >= BEAT_MS + STILL_MS) stillUntil = now() + STILL_MS;
      last = now();
    },
    stoodStill: () => now() < stillUntil || now() - last >= BEAT_MS + STILL_MS,
  };
}

/** One check at a time: a hanging store or disk is down, and no second check waits behind the first. */
function lookAt(look: () => Promise<State>): () => Promise<State> {
  let hanging = false;
  return async () => {
    if (hanging) return 'down';
    hanging = true;
    const looked = look()
      .catch((): State => 'down')
      .finally(() => {
        hanging = false;
      });
    return withLimit(looked).catch((): State => 'down');
  };
}

async function lookAtRedis(redis: Redis, pod: string): Promise<State> {
  await redis.ping();
  await notePeer(redis, pod);
  return 'ok';
}

/** Reads until the setup is complete, which never changes back. */
function setupReader(db: Db): () => Promise<boolean> {
  let complete = false;
  return async () => {
    if (complete) return true;
    const row = await db('server_state').first('setup_completed_at');
    complete = Boolean(row?.setup_completed_at);
    return complete;
  };
}

interface Stores {
  db: Db;
  redis: Redis;
  objects: Objects;
  /** Name of this process among its replicas. */
  pod: string;
}

export function createVitals({ db, redis, objects, pod }: Stores, parts: Probes): Vitals {
  const steady = steadyStates();
  const connection = watchConnection(redis, pod);
  const pulse = createPulse();
  let databaseReached = false;
  let schemaCurrent = false;
  const setupComplete = setupReader(db);
  const database = async (): Promise<void> => {
    schemaCurrent ||= (await migrationsPending(db)).length === 0;
    databaseReached = true;
    if (schemaCurrent) await setupComplete();
  };
  const looks = Object.entries({
    database: () => database().then((): State => 'ok'),
    redis: () => lookAtRedis(redis, pod),
    objects: () => objects.stat('foyer-artwork', 'vitals').then((): State => 'ok'),
    ...parts,
  }).map(([what, probe]) => ({ what: what as Watched, probe: lookAt(probe) }));
  const look = async (): Promise<void> => {
    const one = async ({ what, probe }: (typeof looks)[number]): Promise<void> => {
      const state = await probe();
      steady.note(what, state);
      if (what === 'database') await connection.note(state);
    };
    await Promise.all(looks.map(one));
  };
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => {
      looking = false;
    });
  }, EVERY_MS);
  timer.unref();
  const beating = setInterval(pulse.beat, BEAT_MS).unref();
  return {
    cutOff: connection.isCutOff,
    stoodStill: pulse.stoodStill,
    state: (what) => steady.state(what),
    databaseReached: () => databaseReached,
    schemaCurrent: () => schemaCurrent,
    setupComplete,
    look,
    stop: () => void [timer, beating].map(clearInterval),
  };
}
