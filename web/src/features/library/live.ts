// Items that other devices, or the server, changed: read again in batches, for the lists that are on screen.
import { api } from '#core/api/client.ts';
import { onEvent } from '#features/session/live.ts';
import type { Listed } from './listing.svelte.ts';

const GATHER_MS = 1000;
const MOST = 200;

/** Reads items again, and hands each batch on. */
export async function readAgain(ids: readonly string[], handle: (items: readonly Listed[]) => void): Promise<void> {
  for (let at = 0; at < ids.length; at += MOST) {
    const batch = ids.slice(at, at + MOST).join();
    handle((await api.listItems({ query: { ids: batch, limit: MOST } })).items);
  }
}

/** Calls `handle` with each batch of items that changed in a library, or whose own state did. */
export function followItems(handle: (items: readonly Listed[]) => void): () => void {
  const ids = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function read(): Promise<void> {
    timer = undefined;
    const batch = [...ids].slice(0, MOST);
    for (const id of batch) ids.delete(id);
    if (ids.size > 0) timer = setTimeout(() => void read(), GATHER_MS);
    await readAgain(batch, handle);
  }

  const stop = onEvent((event) => {
    if (event.event === 'item.updated') ids.add(event.payload.itemId);
    else if (event.event === 'state.changed') for (const id of event.payload.itemIds) ids.add(id);
    if (ids.size > 0) timer ??= setTimeout(() => void read().catch(() => undefined), GATHER_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
