// Themes in the memory of this process, so that serving a stylesheet needs no store. Redis notifies of changes; reading
// the rows again finds those that it missed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Deps } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { builtInOf, DEFAULT } from './document/built-in.ts';
import { readServerChoice, toServerTheme } from './selection.store.ts';
import { type Compiled, compiledOf } from './stylesheet/compiled.ts';
import { chainOf, type Source } from './stylesheet/resolve.ts';
import type { ServerTheme } from './themes.schemas.ts';
import { chainRows, type Edge, listEdges } from './themes.store.ts';

const CHANNEL = 'foyer:themes';
/** Age after which a read checks the rows again. */
const HOLDS_MS = 5000;
/** The same for requests with an unknown version. */
const DOUBTED_MS = 500;
const PATIENCE_MS = 2000;

interface Known {
  edges: ReadonlyMap<string, Edge>;
  server: ServerTheme;
}

export interface ThemeMemory {
  /** Themes as known; waits at most two seconds for Postgres. `doubted`: there may be a newer version. */
  known(doubted?: boolean): Promise<Known>;
  /** Makes the next read check the rows again. */
  stale(): void;
  /** Undefined if there is no such theme, or its rows are unavailable. */
  compiled(id: string, known: Known): Promise<Compiled | undefined>;
}

const memories = new WeakMap<Deps, ThemeMemory>();

/** One for each process, created on first use. */
export function themesOf(deps: Deps): ThemeMemory {
  const made = memories.get(deps) ?? createMemory(deps);
  memories.set(deps, made);
  return made;
}

/** Notifies every replica after the commit; without Redis they notice within five seconds. */
export function announce({ deps, afterCommit }: Call): void {
  afterCommit(() => {
    themesOf(deps).stale();
    return deps.redis.publish(CHANNEL, '');
  });
}

const nothing: Known = {
  edges: new Map(),
  server: { themeId: DEFAULT, mode: 'dark', allowChoice: true },
};

const MOST_KEPT = 200;

function createMemory(deps: Deps): ThemeMemory {
  const { db, log, redis, draining } = deps;
  let known = nothing;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const began = performance.now();
    const [edges, choice] = await Promise.all([listEdges(db), readServerChoice(db)]);
    known = { edges, server: toServerTheme(choice) };
    readAt = began;
  };
  const quietly = (): Promise<void> =>
    read()
      .catch((error: Error) => log.debug({ err: error.message }, 'themes not read'))
      .finally(() => {
        reading = undefined;
      });
  const subscriber = redis.duplicate({ enableOfflineQueue: true });
  const stale = (): void => {
    readAt = Number.NEGATIVE_INFINITY;
  };
  subscriber.on('error', () => undefined); // connectRedis logs a lost server
  subscriber.on('ready', () => void subscriber.subscribe(CHANNEL).then(stale, () => undefined));
  subscriber.on('message', stale);
  draining.addEventListener('abort', () => subscriber.disconnect());
  return {
    stale,
    async known(doubted = false) {
      const holds = doubted ? DOUBTED_MS : HOLDS_MS;
      if (performance.now() - readAt < holds || deps.vitals.state('database') !== 'ok') return known;
      reading ??= quietly();
      await Promise.race([reading, sleep(PATIENCE_MS, undefined, { ref: false })]);
      return known;
    },
    compiled: compiler(db),
  };
}

/** Caches rows by their revisions. */
function compiler(db: Db): ThemeMemory['compiled'] {
  const kept = new Map<string, Source[]>();
  const sourcesOf = async (id: string): Promise<Source[] | undefined> =>
    chainOf<Source>(id, builtInOf(id) ? new Map() : await chainRows(db, id));
  return async (id, { edges }) => {
    const chain = chainOf(id, edges);
    if (!chain) return undefined;
    const key = chain.map((one) => `${one.id}:${one.revision}`).join();
    const sources = kept.get(key) ?? (await sourcesOf(id).catch(() => undefined));
    if (!sources) return undefined;
    kept.set(key, sources);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return compiledOf(sources);
  };
}
