// Where Play leads: the item itself, or of a container the child to continue with.
import type { ItemDetail } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { playPath } from '#core/player/address.ts';
import { baseOf } from '#core/types.ts';
import * as m from '#messages/item.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';
import { goto } from '$app/navigation';

const PLAYED = ['movie', 'episode', 'video', 'track', 'audiobook', 'lesson', 'recording'];

export const isPlayed = (type: string): boolean => PLAYED.includes(type);

/** A film whose words can be searched. */
export const hasText = ({ files }: Pick<ItemDetail, 'files'>): boolean =>
  files.some(({ streams }) => streams.some(({ kind, pictures }) => kind === 'subtitle' && !pictures));

/** The shape of the picture of an item. */
export function shapeOf(type: string): 'poster' | 'landscape' | 'square' {
  if (['artist', 'album', 'track', 'audiobook', 'author', 'photo-album'].includes(type)) return 'square';
  return isPlayed(type) && type !== 'movie' ? 'landscape' : 'poster';
}

export async function play(item: { id: string; type: string; baseType?: string | undefined }): Promise<void> {
  const { id } = item;
  try {
    const target = isPlayed(baseOf(item)) ? id : (await api.getItem({ params: { id } })).next?.id;
    if (target) await goto(playPath(target));
    else toast.show({ text: m.nothingToPlay() });
  } catch (error) {
    toast.show({ text: failureText(problemOf(error)).title });
  }
}
