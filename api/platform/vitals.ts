import type { Db } from './db.ts';
import { migrationsPending } from './migrate.ts';
import type { Objects } from './objects.ts';
import type { Redis } from './redis.ts';

export type Store = 'database' | 'redis' | 'objects';
export type StoreState = 'ok' | 'down';

/** What this process last saw of its stores. Answers come from memory, so a hung store never hangs a probe. */
export interface Vitals {
  state(store: Store): StoreState;
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

interface Steady {
  states: Record<Store, StoreState>;
  probe: (store: Store, work: () => Promise<unknown>) => Promise<void>;
}

/** States that change only after two looks agree; the first sight of Postgres counts at once. */
function steadyStates(): Steady {
  const states: Record<Store, StoreState> = { database: 'down', redis: 'ok', objects: 'ok' };
  const against: Record<Store, number> = { database: 0, redis: 0, objects: 0 };
  let seen = false;
  const note = (store: Store, state: StoreState): void => {
    against[store] = state === states[store] ? 0 : against[store] + 1;
    const first = store === 'database' && !seen && state === 'ok';
    if (!first && against[store] < HOLDS_FOR) return;
    states[store] = state;
    against[store] = 0;
    seen ||= first;
  };
  return {
    states,
    probe: async (store, work) => {
      const state = await withLimit(work()).then(
        () => 'ok' as const,
        () => 'down' as const,
      );
      note(store, state);
    },
  };
}

export function createVitals({ db, redis, objects }: { db: Db; redis: Redis; objects: Objects }): Vitals {
  const { states, probe } = steadyStates();
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
  const look = async (): Promise<void> => {
    await Promise.all([
      probe('database', database),
      probe('redis', () => redis.ping()),
      probe('objects', () => objects.stat('foyer-artwork', 'vitals')),
    ]);
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
    state: (store) => states[store],
    databaseSeen: () => databaseSeen,
    schemaCurrent: () => schemaCurrent,
    setupComplete: () => setupComplete,
    look,
    stop: () => clearInterval(timer),
  };
}
