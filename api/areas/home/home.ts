import { findItemSummaries, type ItemSummary, type LibraryRow } from '#areas/items/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { findHidden, type HiddenRecord } from './hidden/hidden.store.ts';
import { hiddenIn } from './hidden/hide.ts';
import type { Home, HomeCard, HomeQuery, HomeRow } from './home.schemas.ts';
import { HERO_ID, layoutInForce, rowsOf } from './layout/in-force.ts';
import type { HomeLayout, LayoutRow } from './layout/layout.schemas.ts';
import { cardOf, libraryCard } from './rows/card.ts';
import { pinnedRows } from './rows/kept-lists.ts';
import { readers } from './rows/kinds.ts';
import type { Found, Placed, RowReader } from './rows/reader.ts';

/** Rows that are read at the same time. */
const IN_FLIGHT = 6;
/** A row that takes longer, ms, is deferred. */
const PATIENCE_MS = 60;

/** A row of the layout that can be filled now. */
export interface OpenRow {
  row: LayoutRow;
  reader: RowReader;
  libraries: readonly LibraryRow[];
  hidden: readonly string[];
}

interface Screen {
  layout: HomeLayout;
  visible: readonly LibraryRow[];
  rows: OpenRow[];
}

/** The rows of the caller's layout whose kind and libraries are there for the caller. */
export async function openScreen(call: Call): Promise<Screen> {
  const [{ layout, libraries, visible }, records] = await Promise.all([
    layoutInForce(call),
    findHidden(call.db, call.who.profileId),
  ]);
  const all = [...rowsOf(layout), ...(await pinnedRows(call, layout))];
  const rows = all.flatMap((row) => openRow(call, row, { layout, libraries, records }));
  return { layout, visible, rows };
}

interface Around {
  layout: HomeLayout;
  libraries: readonly LibraryRow[];
  records: readonly HiddenRecord[];
}

function openRow({ who }: Call, row: LayoutRow, { layout, libraries, records }: Around): OpenRow[] {
  const reader = row.kind === 'hero' ? heroReader(layout.hero) : readers[row.kind];
  if (!reader || (reader.restriction && who.restrictions[reader.restriction] === 'deny')) return [];
  const wanted = row.source?.libraryIds;
  const of = wanted ? libraries.filter(({ id }) => wanted.includes(id)) : libraries;
  return of.length === 0 ? [] : [{ row, reader, libraries: of, hidden: hiddenIn(records, row) }];
}

function heroReader(hero: HomeLayout['hero']): RowReader | undefined {
  const kinds = { continue: 'continue', newest: 'recently-added', random: 'unwatched-random' } as const;
  const reader = readers[hero === 'off' ? 'recently-added' : kinds[hero]];
  return reader && { ...reader, styles: ['hero'] };
}

/** The first screen. A row that is late or fails is deferred, so that it does not hold up the others. */
export async function composeHome(call: Call, { device, rows: wanted, perRow }: HomeQuery): Promise<Home> {
  const { layout, visible, rows } = await openScreen(call);
  const shown = rows.filter(
    ({ row }) => (row.devices ?? [device]).includes(device) && (wanted ?? [row.rowId]).includes(row.rowId),
  );
  const found = await inLanes(shown, async (open) => inTime(call, open, perRow ?? open.row.size));
  const items = await summariesOf(call, found);
  const made = shown.map((open, i) => toRow(call, open, { found: found[i], items, limit: perRow ?? open.row.size }));
  const filled = made.filter(
    ({ items: cards, deferred, subtitle }) => deferred || subtitle !== undefined || cards.length > 0,
  );
  const hero = filled.find(({ rowId }) => rowId === HERO_ID);
  return {
    rows: filled.filter(({ rowId }) => rowId !== HERO_ID),
    ...(hero && { hero }),
    layoutRevision: layout.revision,
    generatedAt: call.now.toISOString(),
    notices: noticesOf(call, visible),
  };
}

function noticesOf({ who }: Call, visible: readonly LibraryRow[]): Home['notices'] {
  if (visible.length > 0) return [];
  return may(who, 'library:manage')
    ? [{ code: 'no-libraries', text: 'There is no library yet', url: '/libraries' }]
    : [{ code: 'nothing-shared', text: 'No library is shared with you yet' }];
}

/**
 * Runs `work` on each in order, at most six at a time. Work that is late goes on by itself, so its lane takes no more:
 * one screen never has more than six statements in flight. The rest stays undefined.
 */
async function inLanes<T, R>(list: readonly T[], work: (one: T) => Promise<R | undefined>): Promise<(R | undefined)[]> {
  const results = new Array<R | undefined>(list.length).fill(undefined);
  const rest = list.entries();
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      const [i, one] = next.value;
      results[i] = await work(one);
      if (results[i] === undefined) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, list.length) }, lane));
  return results;
}

async function inTime(call: Call, open: OpenRow, limit: number): Promise<Found | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  const reading = readRow(call, open, limit + 1).catch((err: unknown) => {
    call.log.warn({ err, kind: open.row.kind }, 'a row of Home failed');
    return undefined;
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ids of the cards of a row, in order. A row whose filter no longer fits, such as one of a deleted field, is empty. */
export async function readRow(call: Call, { row, reader, libraries, hidden }: OpenRow, limit: number): Promise<Found> {
  try {
    return await reader.read({ call, row, libraries, hidden, limit });
  } catch (error) {
    if (error instanceof ApiError) return { cards: [] };
    throw error;
  }
}

async function summariesOf(
  { db, who }: Call,
  found: readonly (Found | undefined)[],
): Promise<Map<string, ItemSummary>> {
  const ids = new Set(found.flatMap((one) => one?.cards.map(({ id }) => id) ?? []));
  return findItemSummaries(db, who, [...ids]);
}

interface Filling {
  found: Found | undefined;
  items: ReadonlyMap<string, ItemSummary>;
  limit: number;
}

function toRow(call: Call, open: OpenRow, { found, items, limit }: Filling): HomeRow {
  const cards = found ? cardsOf(call, open, { cards: found.cards.slice(0, limit), items }) : [];
  return { ...headOf(open, found), items: cards, hasMore: (found?.cards.length ?? 0) > limit };
}

/** Everything of a row but its cards. */
export function headOf(
  { row, reader, libraries }: OpenRow,
  found: Found | undefined,
): Omit<HomeRow, 'items' | 'hasMore'> {
  return {
    ...{ rowId: row.rowId, kind: row.kind, title: row.title ?? titleFrom(found) ?? reader.title },
    ...{ style: row.style ?? reader.styles[0], deferred: found === undefined },
    ...goneOr(found, found?.seeAll ?? reader.seeAll?.(libraries, row)),
    ...(found?.reason && { reason: found.reason }),
  };
}

const titleFrom = (found: Found | undefined): string | undefined =>
  found?.reason ? `Because you watched ${found.reason.title}` : found?.title;

/** Why the row shows nothing, or the address of its whole list. */
function goneOr(found: Found | undefined, seeAll: string | undefined): Pick<HomeRow, 'subtitle' | 'seeAll'> {
  if (found?.gone !== undefined) return { subtitle: found.gone };
  return seeAll === undefined ? {} : { seeAll };
}

interface Placing {
  cards: readonly Placed[];
  items: ReadonlyMap<string, ItemSummary>;
}

/** Cards of the visible items of a row. */
export function cardsOf(call: Call, { row, reader, libraries }: OpenRow, { cards, items }: Placing): HomeCard[] {
  if (row.kind === 'libraries')
    return cards.flatMap(({ id }) => libraries.filter((library) => library.id === id).map(libraryCard));
  return cards.flatMap(({ id, fresh }) => {
    const item = items.get(id);
    return item ? [cardOf(item, { target: reader.target, isNew: fresh ?? false, now: call.now })] : [];
  });
}
