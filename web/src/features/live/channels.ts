// The channel list: its pages, the channel of a number, and how a channel is opened.
import type { LiveChannel } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';
import { printFilter } from '#core/filter/parse.ts';
import { pagesOf } from '#features/people/queries.ts';

const PAGE = 200;
const MINUTE = 60_000;

export interface Narrowed {
  group: string;
  favorites: boolean;
}

/** The channels by number with the current and the next programme, page by page. */
export function channelPages({ group, favorites }: Narrowed) {
  const filter = printFilter([
    ...(group ? [{ field: 'group', op: 'eq', values: [group] }] : []),
    ...(favorites ? [{ field: 'favorite', op: 'eq', values: ['true'] }] : []),
  ]);
  const query = { limit: PAGE, include: 'now,next', ...(filter && { filter }) };
  return { ...pagesOf('listLiveChannels', { query }), refetchInterval: MINUTE };
}

/** The channel that has the number, whether or not its page is loaded. */
export async function channelOf(number: string, loaded: readonly LiveChannel[]): Promise<LiveChannel | undefined> {
  const isIt = (channel: LiveChannel): boolean => channel.number === number;
  let found = loaded.find(isIt);
  for (let cursor: string | null = ''; !found && cursor !== null; ) {
    const { items, page } = await api.listLiveChannels({
      query: { q: number, limit: PAGE, ...(cursor && { cursor }) },
    });
    found = items.find(isIt);
    cursor = page.cursor;
  }
  return found;
}

export async function toggleFavorite({ id, favorite }: LiveChannel): Promise<void> {
  await (favorite ? api.removeLiveFavorite({ params: { id } }) : api.addLiveFavorite({ params: { id } }));
  await invalidate('listLiveChannels');
}

/** The share of a programme that is over, 0 to 1. */
export function passedOf({ startAt, endAt }: { startAt: string; endAt: string }, now: number): number {
  const start = Date.parse(startAt);
  return Math.min(1, Math.max(0, (now - start) / (Date.parse(endAt) - start)));
}
