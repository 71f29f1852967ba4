import type { Db } from './db.ts';
import { migrationsPending } from './migrate.ts';
import type { Objects } from './objects.ts';
import type { Redis } from './redis.ts';

export type Store = 'database' | 'redis' | 'objects';
/** What works behind the API; `off` is not configured and harms nothing. */
export type Part = 'queue' | 'transcode' | 'storage';
export type State = 'ok' | 'degraded' | 'down' | 'off';
export type Probes = Record<Part, () => Promise<State>>;

/** What this process last saw of its stores. Answers come from memory, so a hung store never hangs a probe. */
export interface Vitals {
  state(what: Store | Part): State;
  /** Postgres was reached since the start. */
  databaseSeen(): boolean;
  /** Every migration of this build has run. */
  schemaCurrent(): boolean;
  /** An owner exists; undefined until known. */
  setupComplete(): boolean | undefined;
  look(): Promise<void>;
  stop(): void;
}

const EVERY_MS = 5000;
const LIMIT_MS = 2000;
const HOLDS_FOR = 2; // looks before a state changes, so that it does not flap

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

export function createVitals(
  { db, redis, objects }: { db: Db; redis: Redis; objects: Objects },
  parts: Probes,
): Vitals {
  const steady = steadyStates();
  let databaseSeen = false;
  let schemaCurrent = false;
  let setupComplete: boolean | undefined;
  const database = async (): Promise<void> => {
    schemaCurrent ||= (await migrationsPending(db)).length === 0;
    databaseSeen = true;
    if (!schemaCurrent || setupComplete) return;
    const row = await db('server_state').first<{ setup_completed_at: Date | null } | undefined>('setup_completed_at');
    setupComplete = Boolean(row?.setup_completed_at);
  };
  const looks = Object.entries({
    database: () => database().then((): State => 'ok'),
    redis: () => redis.ping().then((): State => 'ok'),
    objects: () => objects.stat('foyer-artwork', 'vitals').then((): State => 'ok'),
    ...parts,
  }).map(([what, probe]) => ({ what: what as Watched, probe: lookAt(probe) }));
  const look = async (): Promise<void> => {
    await Promise.all(looks.map(async ({ what, probe }) => steady.note(what, await probe())));
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
  return {
    state: (what) => steady.state(what),
    databaseSeen: () => databaseSeen,
    schemaCurrent: () => schemaCurrent,
    setupComplete: () => setupComplete,
    look,
    stop: () => clearInterval(timer),
  };
}
