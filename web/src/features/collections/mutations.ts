import type { Collection, CreateCollectionBody, UpdateCollectionBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { invalidate } from '#core/cache/query.ts';
import * as m from '#messages/collections.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';

const READERS = ['listCollections', 'getCollection', 'listCollectionItems', 'getHome', 'getHomeRow'] as const;

function stale(): void {
  for (const name of READERS) void invalidate(name);
}

/** Shows why a change was refused, and returns whether it was made. */
async function tried(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toast.show({ text: m.notChanged({ reason: failureText(problemOf(error)).title }) });
    return false;
  } finally {
    stale();
  }
}

export async function create(body: CreateCollectionBody): Promise<Collection> {
  const made = await api.createCollection({ body });
  stale();
  return made;
}

export async function change(id: string, body: UpdateCollectionBody): Promise<void> {
  await api.updateCollection({ params: { id }, body });
  stale();
}

export const remove = (id: string): Promise<boolean> => tried(() => api.deleteCollection({ params: { id } }));

/** Adds items at the end; a request takes 1,000. Returns how many were not there yet. */
export async function addItems(id: string, itemIds: readonly string[]): Promise<number> {
  let added = 0;
  for (let at = 0; at < itemIds.length; at += 1000) {
    const answer = await api.addCollectionItems({ params: { id }, body: { itemIds: itemIds.slice(at, at + 1000) } });
    added += answer.added;
  }
  stale();
  return added;
}

/** Takes an item out; it can be undone for 6 s. */
export async function takeOut(
  id: string,
  { item, after }: { item: { id: string; title: string }; after: string | null },
): Promise<void> {
  const done = await tried(() => api.changeCollectionItems({ params: { id }, body: { remove: [item.id] } }));
  if (!done) return;
  const undo = (): void =>
    void tried(() => api.addCollectionItems({ params: { id }, body: { itemIds: [item.id], afterItemId: after } }));
  toast.show({ text: m.takenOut({ title: item.title }), action: { label: m.undo(), run: undo } });
}

export const moveAfter = (id: string, itemId: string, afterItemId: string | null): Promise<boolean> =>
  tried(() => api.changeCollectionItems({ params: { id }, body: { move: { itemIds: [itemId], afterItemId } } }));
