import type { z } from 'zod';
import { getVisibleItem } from '#areas/items/public.ts';
import { emitState } from '#areas/playback/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, notFound } from '#kernel/errors.ts';
import { layoutInForce, rowsOf } from '../layout/in-force.ts';
import type { HideAnswer, HideChange, LayoutRow } from '../layout/layout.schemas.ts';
import { keyOf } from '../rows/cards.view.ts';
import { readers } from '../rows/kinds.ts';
import { type HiddenRecord, hideCard, showCard } from './hidden.store.ts';

/** The name under which a row's hidden cards are stored: rows to continue with share theirs, under a name that no row has. */
export const placeOf = ({ kind, rowId }: LayoutRow): string => {
  const family = readers[kind]?.family;
  return family ? FAMILY + family : rowId;
};
export const FAMILY = '~';

/** Keys of cards that are hidden in a row. */
export function hiddenIn(records: readonly HiddenRecord[], row: LayoutRow): string[] {
  const place = placeOf(row);
  return records.filter(({ row_id: at }) => at === '' || at === place).map(({ item_id: id }) => id);
}

/** Hides a card, or shows it again. Throws 404 for an item or a row that the caller does not have. */
export async function changeHidden(call: Call, change: HideChange): Promise<z.input<typeof HideAnswer>> {
  const { db, who } = call;
  const { hidden, rowId, until } = change;
  if (!who.profileId) throw new ApiError('FORBIDDEN', 'This key has no profile', { by: 'api-key' });
  const key = await keyToHide(call, change.hideKey ?? change.itemId ?? '');
  const { place, rows } = await placeToHide(call, rowId);
  const card = { profileId: who.profileId, itemId: key, rowId: place };
  if (hidden) await hideCard(db, { ...card, ...untilOf(call, until) });
  else await showCard(db, card);
  await emitState(call, { what: ['preferences'], itemIds: [key] });
  return {
    ...{ hideKey: key, hidden, rows },
    ...(rowId !== undefined && { rowId }),
    ...(hidden && { until: asWritten(until) }),
  };
}

async function keyToHide({ db, who }: Call, id: string): Promise<string> {
  const { parentId, grandparentId, ...item } = await getVisibleItem(db, who, id);
  return keyOf({ ...item, parentId: parentId ?? undefined, grandparentId: grandparentId ?? undefined });
}

/** The place of a row, or of every row, and the ids of the rows that change. Throws 404 for an unknown row. */
async function placeToHide(call: Call, rowId: string | undefined): Promise<{ place: string; rows: string[] }> {
  const rows = rowsOf((await layoutInForce(call)).layout);
  if (rowId === undefined) return { place: '', rows: rows.map((row) => row.rowId) };
  const row = rows.find((one) => one.rowId === rowId);
  if (!row) throw notFound();
  const place = placeOf(row);
  return { place, rows: rows.filter((one) => placeOf(one) === place).map((one) => one.rowId) };
}

const isWord = (until: string): until is 'played-again' | 'forever' => until === 'played-again' || until === 'forever';
const asWritten = (until: string): string => (isWord(until) ? until : new Date(until).toISOString());

function untilOf({ now }: Call, until: string): { until: HiddenRecord['until']; untilAt: Date | null } {
  if (isWord(until)) return { until, untilAt: null };
  const at = new Date(until);
  if (at <= now) throw invalid(['body', 'until'], 'past', 'is in the past');
  return { until: 'time', untilAt: at };
}
