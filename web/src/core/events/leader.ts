// One event stream for all tabs of a browser: one tab reads it and passes each event on. A device may have few streams, and over
// HTTP/1.1 a browser has six connections for all of its tabs.
import type { FoyerEvent, Reset } from '../../../../api/client/index.ts';
import type { Locks } from '../api/lock.ts';

export type StreamEvent = FoyerEvent | Reset;

export interface StreamHome {
  locks: Locks;
  /** To and from the other tabs; `listen` returns its end. */
  channel: { post(event: StreamEvent): void; listen(handle: (event: StreamEvent) => void): () => void };
  /** Opens the stream after an event; it survives lost connections and throws when the sign-in has ended. */
  open(options: { lastEventId?: string; signal: AbortSignal }): AsyncIterable<StreamEvent>;
  sleep(ms: number): Promise<void>;
}

const LOCK = 'foyer-events';
const AGAIN_MS = 5000;

/** Calls `handle` with each event once, in every tab, until `signal`. */
export async function followEvents(
  home: StreamHome,
  handle: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let lastId: string | undefined;
  const take = (event: StreamEvent): void => {
    lastId = event.id;
    handle(event);
  };
  signal.addEventListener('abort', home.channel.listen(take));

  async function lead(lost: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([signal, lost]);
    for await (const event of home.open({ ...(lastId && { lastEventId: lastId }), signal: ending })) {
      if (ending.aborted) return;
      home.channel.post(event);
      take(event);
    }
  }

  while (!signal.aborted) {
    await home.locks.hold(LOCK, lead, signal).catch(() => undefined); // refused or aborted; the loop knows which
    if (!signal.aborted) await home.sleep(AGAIN_MS);
  }
}
