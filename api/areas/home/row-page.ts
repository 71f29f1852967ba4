import { randomUUID } from 'node:crypto';
import { findItemSummaries } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { type Page, readCursor, writeCursor } from '#kernel/page.ts';
import type { HomeCard, HomeRow } from './home.schemas.ts';
import { cardsOf, headOf, type OpenRow, openScreen, readRow } from './home.ts';
import type { Found } from './rows/reader.ts';

/** Most cards of a row. */
const MOST = 500;
/** How long a row keeps its order for a reader of its pages. */
const KEPT_SECONDS = 600;

interface Query {
  limit: number;
  cursor?: string | undefined;
}

interface RowPage {
  items: HomeCard[];
  page: Page;
  row: Omit<HomeRow, 'items'>;
}

/** One row further, or a deferred one. Throws 404 for a row that the caller's layout does not have. */
export async function pageOfRow(call: Call, rowId: string, { limit, cursor }: Query): Promise<RowPage> {
  const { rows } = await openScreen(call);
  const open = rows.find(({ row }) => row.rowId === rowId);
  if (!open) throw notFound();
  const scope = `getHomeRow|${rowId}|${call.who.profileId}`;
  const from = cursor === undefined ? undefined : readCursor(call.deps.keys, scope, cursor);
  const [order, at] = from ? [String(from.values[0]), Number(from.values[1])] : [randomUUID(), 0];
  const found = await ordered(call, open, { order, limit });
  // Without the kept order, the page begins after the last card that the reader had.
  const last = from ? found.cards.findIndex(({ id }) => id === from.id) : -1;
  const begin = last >= 0 ? last + 1 : at;
  const cards = found.cards.slice(begin, begin + limit);
  const items = await findItemSummaries(
    call.db,
    call.who,
    cards.map(({ id }) => id),
  );
  const end = cards.at(-1);
  const hasMore = begin + limit < found.cards.length;
  const next =
    hasMore && end ? writeCursor(call.deps.keys, scope, { values: [order, begin + limit], id: end.id }) : null;
  return {
    items: cardsOf(call, open, { cards, items }),
    page: { cursor: next, hasMore, ...(from ? {} : { total: found.cards.length }) },
    row: { ...headOf(open, found), hasMore },
  };
}

/** All cards of a row in the order that the reader began with, for as long as Redis keeps it. */
async function ordered(call: Call, open: OpenRow, { order, limit }: { order: string; limit: number }): Promise<Found> {
  const { redis } = call.deps;
  const key = `home:order:${call.who.profileId}:${order}`;
  const kept = await redis.get(key).catch(() => null);
  if (kept !== null) return JSON.parse(kept) as Found;
  const found = await readRow(call, open, MOST);
  if (found.cards.length > limit)
    await redis.set(key, JSON.stringify(found), 'EX', KEPT_SECONDS).catch(() => undefined);
  return found;
}
