import type { Db } from './db.ts';
import { migrationsPending } from './migrate.ts';
import type { Objects } from './objects.ts';
import { notePeer } from './peers.ts';
import type { Redis } from './redis.ts';

export type Store = 'database' | 'redis' | 'objects';
/** What works behind the API; `off` is not configured and harms nothing. */
export type Part = 'queue' | 'transcode' | 'storage' | 'mail' | 'keys';
export type State = 'ok' | 'degraded' | 'down' | 'off';
export type Probes = Record<Part, () => Promise<State>>;

/** What this process last saw of its stores. Answers come from memory, so a hung store never hangs a probe. */
export interface Vitals {
  state(what: Store | Part): State;
  /** Several looks at Postgres failed while another process reached it: it is this one that is cut off. */
  cutOff(): boolean;
  /** The event loop stood still for ten seconds just now. */
  stoodStill(): boolean;
  /** Postgres was reached since the start. */
  databaseSeen(): boolean;
  /** Every migration of this build has run. */
  schemaCurrent(): boolean;
  /** Whether an owner exists; asks Postgres until one does, as another process may have seen the setup. Rejects when it is away. */
  setupComplete(): Promise<boolean>;
  look(): Promise<void>;
  stop(): void;
}

const EVERY_MS = 5000;
const LIMIT_MS = 2000;
const HOLDS_FOR = 2; // looks before a state changes, so that it does not flap
const CUT_OFF_AFTER = 3;
const SEEN_KEY = 'foyer:database-seen';
/** Shorter than the looks that fail: what is found then was noted by another. */
const SEEN_SECONDS = 12;
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

/** States that change only after two looks agree; the first sight of each counts at once. */
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

/** Whether this process alone cannot reach Postgres; without a note of another in Redis nobody says so. */
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
      if (state !== 'down') await redis.set(SEEN_KEY, pod, 'EX', SEEN_SECONDS).catch(() => 'OK');
      const other = failed < CUT_OFF_AFTER ? null : await redis.get(SEEN_KEY).catch(() => null);
      cutOff = other !== null && other !== pod;
    },
  };
}

/** Notices when timers come ten seconds late. */
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

/** One look at a time: a store or a disk that hangs is down, and no second look is hung up behind the first. */
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

/** Asks until the setup is complete; from then on it stays so. */
function setupSeen(db: Db): () => Promise<boolean> {
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
  /** Name of this process among the others. */
  pod: string;
}

export function createVitals({ db, redis, objects, pod }: Stores, parts: Probes): Vitals {
  const steady = steadyStates();
  const connection = watchConnection(redis, pod);
  const pulse = createPulse();
  let databaseSeen = false;
  let schemaCurrent = false;
  const setupComplete = setupSeen(db);
  const database = async (): Promise<void> => {
    schemaCurrent ||= (await migrationsPending(db)).length === 0;
    databaseSeen = true;
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
    databaseSeen: () => databaseSeen,
    schemaCurrent: () => schemaCurrent,
    setupComplete,
    look,
    stop: () => void [timer, beating].map(clearInterval),
  };
}
