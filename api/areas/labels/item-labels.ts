import { visibleItemIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalidAll } from '#kernel/errors.ts';
import { changeItems } from './label-items.store.ts';
import { type LabelRow, lockLabel, selectLabels } from './labels.store.ts';
import { requireAccess } from './rights.ts';

interface Change {
  itemId: string;
  /** Ids of the labels that the item itself carries afterwards. */
  labels: readonly string[];
  /** Allows labels that hide the item from the caller. */
  confirm: boolean;
}

/**
 * Gives an item exactly these labels; inherited ones stay. Returns whether any changed. Throws 400 for an unknown label, 403
 * for one that restricts without `user:manage`, 409 `hides-from-you` unless confirmed.
 */
export async function setLabelsOfItem(call: Call, { itemId, labels, confirm }: Change): Promise<boolean> {
  const { db, who } = call;
  const wanted = new Map((await known(call, labels)).map((row) => [row.number, row]));
  const carried = (await db('item_labels').where({ item_id: itemId }).pluck('label')) as number[];
  const added = [...wanted.values()].filter(({ number }) => !carried.includes(number));
  const held = (await selectLabels(db, who).whereIn('l.number', carried)) as LabelRow[];
  const dropped = held.filter(({ number }) => !wanted.has(number));
  for (const label of [...added, ...dropped]) requireAccess(call, label);
  for (const { number } of added) await changeItems(db, number, { add: [itemId], remove: [] });
  for (const { number } of dropped) await changeItems(db, number, { add: [], remove: [itemId] });
  const changes = added.length + dropped.length;
  if (!confirm && changes > 0 && (await visibleItemIds(db, who, [itemId])).length === 0)
    throw conflict('hides-from-you', 'The labels hide the item from you; repeat with confirm=true');
  return changes > 0;
}

async function known({ db, who }: Call, ids: readonly string[]): Promise<LabelRow[]> {
  const rows: LabelRow[] = [];
  const unknown: number[] = [];
  for (const [at, id] of ids.entries()) {
    try {
      rows.push(await lockLabel(db, who, id));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error;
      unknown.push(at);
    }
  }
  if (unknown.length === 0) return rows;
  const fault = { code: 'unknown_label', message: 'the label does not exist' };
  throw invalidAll(unknown.map((at) => ({ path: ['body', 'labels', at], ...fault })));
}

interface Named {
  add: readonly string[];
  remove: readonly string[];
  /** The whole list of labels that the items carry afterwards. */
  set: readonly string[] | null | undefined;
  itemIds: readonly string[];
}

/**
 * Numbers of the labels to add to items and to remove from them. Throws 400 for an unknown label, 403 for one that restricts
 * without `user:manage`.
 */
export async function labelNumbers(call: Call, named: Named): Promise<{ add: number[]; remove: number[] }> {
  const { db, who } = call;
  const add = await known(call, [...named.add, ...(named.set ?? [])]);
  const remove = await known(call, named.remove);
  if (named.set !== undefined) {
    const carried = db('item_labels')
      .whereRaw('item_id = any(?::uuid[])', [[...named.itemIds]])
      .distinct('label');
    const held = (await selectLabels(db, who).whereIn('l.number', carried)) as LabelRow[];
    remove.push(...held.filter(({ number }) => !add.some((one) => one.number === number)));
  }
  for (const label of [...add, ...remove]) requireAccess(call, label);
  return { add: add.map(({ number }) => number), remove: remove.map(({ number }) => number) };
}
