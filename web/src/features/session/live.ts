// Live updates of this tab: the events of the server, gathered so that a burst refetches once.
import { api, locks, session } from '#core/api/client.ts';
import type { Key } from '#core/api/keys.ts';
import { tabChannel } from '#core/browser/tabs.ts';
import { holds } from '#core/cache/items.ts';
import { queryClient } from '#core/cache/query.ts';
import { type Effect, effectOf } from '#core/events/effects.ts';
import { followEvents, type StreamEvent } from '#core/events/leader.ts';

const GATHER_MS = 400;
const MINUTE = 60_000;
/** Of the 15 minutes that a token lasts. */
const AHEAD_MS = 12 * MINUTE;

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const listeners = new Set<(event: StreamEvent) => void>();
/** Calls `handle` with each event of the server, for a page that shows more than its answers. */
export function onEvent(handle: (event: StreamEvent) => void): () => void {
  listeners.add(handle);
  return () => listeners.delete(handle);
}

let waiting: Effect[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

function apply(): void {
  const effects = waiting;
  waiting = [];
  timer = undefined;
  if (effects.some(({ all }) => all)) return void queryClient.invalidateQueries();
  const whole = new Set(effects.flatMap(({ names, itemIds, whole: all = [] }) => [...all, ...(itemIds ? [] : names)]));
  const items = effects
    .filter(({ itemIds }) => itemIds)
    .map(({ names, itemIds }) => ({ names: new Set(names), ids: new Set(itemIds) }));
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, state }) => {
      const key = queryKey as unknown as Key;
      return whole.has(key[0]) || items.some(({ names, ids }) => names.has(key[0]) && holds(key, state.data, ids));
    },
  });
}

function take(event: StreamEvent): void {
  const effect = effectOf(event);
  if (effect) {
    waiting.push(effect);
    timer ??= setTimeout(apply, GATHER_MS);
  }
  for (const handle of listeners) handle(event);
}

/** Refreshes before the token ends, so that pictures and films never meet an old cookie; on waking before anything else. */
function keepFresh(): () => void {
  const refresh = (): void =>
    void session
      .refreshAhead((key) => api.refreshSession({ body: {}, headers: { 'idempotency-key': key } }), AHEAD_MS)
      .catch(() => undefined);
  const wake = (): void => {
    if (document.visibilityState === 'visible') refresh();
  };
  const every = setInterval(refresh, MINUTE);
  document.addEventListener('visibilitychange', wake);
  return () => {
    clearInterval(every);
    document.removeEventListener('visibilitychange', wake);
  };
}

/** Follows the server for a person who is signed in; the result ends it. */
export function goLive(): () => void {
  const leaving = new AbortController();
  const { channel, close } = tabChannel<StreamEvent>('foyer-events');
  const open = (options: { lastEventId?: string; signal: AbortSignal }): AsyncIterable<StreamEvent> =>
    api.events(options);
  void followEvents({ locks, channel, open, sleep }, take, leaving.signal);
  const stop = keepFresh();
  return () => {
    leaving.abort();
    stop();
    close();
  };
}
