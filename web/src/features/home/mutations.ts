import type { Home, HomeCard, HomeLayoutRow, SetHomeLayoutBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { invalidate, query, queryClient } from '#core/cache/query.ts';
import * as m from '#messages/home.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';
import { titleOf } from './cards.ts';

const stale = (): void => {
  for (const name of ['getHome', 'getHomeRow', 'getHomeLayout'] as const) void invalidate(name);
};

const refused = (error: unknown): void =>
  toast.show({ text: m.notHidden({ reason: failureText(problemOf(error)).title }) });

/** Takes a card out of a row until it is played again; it can be undone for 6 s. */
export async function hide(card: HomeCard, rowId: string): Promise<void> {
  const { hideKey } = card;
  if (!hideKey) return;
  queryClient.setQueryData<Home>(query('getHome').queryKey, (home) => home && without(home, rowId, card.url));
  try {
    await api.hideFromHome({ body: { hideKey, hidden: true, rowId } });
    toast.show({
      text: m.hidden({ title: titleOf(card) }),
      action: { label: m.undo(), run: () => void show(hideKey, rowId) },
    });
  } catch (error) {
    refused(error);
  }
  stale();
}

const without = (home: Home, rowId: string, url: string): Home => ({
  ...home,
  rows: home.rows.map((row) =>
    row.rowId === rowId ? { ...row, items: row.items.filter((card) => card.url !== url) } : row,
  ),
});

/** Shows a hidden card again; without a row in every row. */
export async function show(hideKey: string, rowId?: string): Promise<void> {
  try {
    await api.hideFromHome({ body: { hideKey, hidden: false, ...(rowId !== undefined && { rowId }) } });
  } catch (error) {
    refused(error);
  }
  stale();
}

type Rows = NonNullable<SetHomeLayoutBody['rows']>;

/** Saves the layout of the profile, or with null returns it to the server's. */
export async function saveRows(rows: readonly HomeLayoutRow[] | null, revision: number): Promise<void> {
  await api.setHomeLayout({ body: { rows: rows && ([...rows] as Rows), revision } });
  stale();
}
