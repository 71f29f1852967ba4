// Requests about many items: the count before a change, the change, and its undo.
import type { BulkRequest, BulkResult } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { type Before, type Change, undoOf } from '#core/editing/bulk.ts';
import { edited } from '#features/editing/editing.ts';
import * as m from '#messages/bulk.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';

/** The items of a selection, by their ids, or by the filter when they are too many for that. */
export interface Chosen {
  count: number;
  itemIds?: string[];
  filter?: NonNullable<BulkRequest['filter']>;
}

/** The server changes this many at once; more are changed by a job, which has no undo here. */
export const AT_ONCE = 200;
/** Ids in one request. */
export const MOST_IDS = 1000;
const TOGETHER = 6;

const of = ({ itemIds, filter }: Chosen) => ({ ...(itemIds ? { itemIds } : { filter }) }) as Partial<BulkRequest>;

/** Counts what a request would change. */
export const count = (chosen: Chosen, what: BulkRequest): Promise<BulkResult> =>
  api.changeItemsInBulk({ body: { ...what, ...of(chosen), expect: chosen.count, dryRun: true } });

/** Changes the items; `expect` is the number that the person saw. */
export const change = (chosen: Chosen, what: BulkRequest, expect: number): Promise<BulkResult> =>
  api.changeItemsInBulk({ body: { ...what, ...of(chosen), expect } });

/** Runs `work` for each entry, a few at a time. */
async function forEach<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: TOGETHER }, next));
}

/** What the items have before an edit of these fields; at most `AT_ONCE` items. */
export async function readBefore(itemIds: readonly string[], changes: readonly Change[]): Promise<Before[]> {
  const fields = changes.map(({ field }) => field);
  const query = { ids: itemIds.join(), limit: AT_ONCE, include: 'labels' };
  const { items } = await api.listItems({ query });
  const known = fields.includes('labels') ? (await api.listLabels({ query: { limit: 200 } })).items : [];
  const idsOf = (names: readonly string[]): string[] =>
    known.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  const before: Before[] = [];
  await forEach(items, async ({ id, lockedFields = [], labels = [] }) => {
    const keeps = lockedFields.some((name) => name === 'all' || fields.includes(name));
    const origins = keeps ? (await api.getItemFields({ params: { id } })).items : [];
    before.push({ itemId: id, lockedFields, fields: origins, labels: idsOf(labels) });
  });
  return before;
}

/** Gives the items back what they had; says how many. */
export async function undo(changes: readonly Change[], before: readonly Before[], changed: () => void): Promise<void> {
  const { bulk, items, people, locks } = undoOf(changes, before);
  try {
    for (const [at, edit] of bulk.entries())
      await api.changeItemsInBulk({ body: { action: 'edit', ...edit, itemIds: items[at] ?? [] } });
    await forEach(people, async ({ itemId, body }) => void (await api.updateItem({ params: { id: itemId }, body })));
    await forEach(locks, async ({ itemId, fields }) => {
      const params = { id: itemId };
      const { lockedFields } = await api.getItemFields({ params });
      await api.setItemLocks({ params, body: { fields: [...new Set([...lockedFields, ...fields])] } });
    });
    toast.show({ text: m.undone({ count: before.length }) });
  } catch (error) {
    toast.show({ text: m.notUndone({ reason: failureText(problemOf(error)).title }) });
  } finally {
    edited();
    changed();
  }
}
