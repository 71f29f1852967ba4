// The person's own marks of items: shown at once, put back with the error's text when the server refuses, undone for 6 s.
import type { UserState } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { invalidate, query, queryClient } from '#core/cache/query.ts';
import * as m from '#messages/item.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';
import { applyPatches, type Patches, type StatePatch } from './patch.ts';

export interface Marked {
  id: string;
  title: string;
  userState: Pick<UserState, 'watched' | 'progress'> & Partial<UserState>;
}

/** The members of a state that a change touches, as they were. */
const before = ({ userState }: Marked, patch: StatePatch): StatePatch =>
  Object.fromEntries(Object.keys(patch).map((key) => [key, userState[key as keyof UserState]]));

const stale = (): void => {
  for (const name of ['getHome', 'listItems', 'getItemTree', 'getItem', 'listLibraries', 'getLibraryFacets'] as const)
    void invalidate(name);
};

const refused = (error: unknown): void =>
  toast.show({ text: m.notSaved({ reason: failureText(problemOf(error)).title }) });

interface Change {
  items: readonly Marked[];
  patch: StatePatch;
  text: string;
  send: () => Promise<unknown>;
  undo?: () => void;
}

/** Returns whether the server took the change. */
export async function change({ items, patch, text, send, undo }: Change): Promise<boolean> {
  const old: Patches = new Map(items.map((item) => [item.id, before(item, patch)]));
  applyPatches(new Map(items.map(({ id }) => [id, patch])));
  try {
    await send();
  } catch (error) {
    applyPatches(old);
    refused(error);
    return false;
  }
  toast.show({ text, ...(undo && { action: { label: m.undo(), run: undo } }) });
  stale();
  return true;
}

export function setWatched(item: Marked, watched: boolean, mayUndo = true): Promise<boolean> {
  const params = { id: item.id };
  const was = { ...item, userState: { ...item.userState, watched } };
  return change({
    items: [item],
    patch: watched ? { watched, progress: 0, positionMs: 0 } : { watched },
    text: watched ? m.watchedNow({ title: item.title }) : m.unwatchedNow({ title: item.title }),
    send: () => (watched ? api.markWatched({ params }) : api.unmarkWatched({ params })),
    ...(mayUndo && { undo: () => void unset(item, was) }),
  });
}

/** The mark as it was, and the place in the film with it. */
async function unset(item: Marked, now: Marked): Promise<void> {
  const { watched, positionMs = 0, progress } = item.userState;
  if (!(await setWatched(now, watched, false)) || watched || positionMs === 0) return;
  try {
    await api.setItemProgress({ params: { id: item.id }, body: { positionMs } });
    applyPatches(new Map([[item.id, { positionMs, progress }]]));
  } catch (error) {
    refused(error);
  }
}

export function setFavorite(item: Marked, favorite: boolean, mayUndo = true): Promise<boolean> {
  const was = { ...item, userState: { ...item.userState, favorite } };
  return change({
    items: [item],
    patch: { favorite },
    text: favorite ? m.favoriteNow({ title: item.title }) : m.notFavoriteNow({ title: item.title }),
    send: () => api.setItemRating({ params: { id: item.id }, body: { favorite } }),
    ...(mayUndo && { undo: () => void setFavorite(was, !favorite, false) }),
  });
}

export const favoriteQuery = (id: string) => query('getItem', { params: { id } });

/** The other state of the mark; an item without it, such as a card of a grid, is read first. */
export async function toggleFavorite(item: Marked): Promise<boolean> {
  try {
    const favorite =
      item.userState.favorite ?? (await queryClient.fetchQuery(favoriteQuery(item.id))).userState.favorite;
    return await setFavorite({ ...item, userState: { ...item.userState, favorite } }, !favorite);
  } catch (error) {
    refused(error);
    return false;
  }
}

export function setRating(item: Marked, value: number | null): Promise<boolean> {
  const old = item.userState.rating ?? null;
  const was = { ...item, userState: { ...item.userState, ...(value !== null && { rating: value }) } };
  const send = (): Promise<unknown> => api.setItemRating({ params: { id: item.id }, body: { value } });
  return change({
    items: [item],
    patch: { rating: value as number },
    text: value === null ? m.ratingCleared({ title: item.title }) : m.ratedNow({ title: item.title, value }),
    send,
    ...(old !== value && { undo: () => void setRating(was, old) }),
  });
}
