import { setCustomValues, type Values } from '#areas/custom-fields/public.ts';
import { findCustomValues, findItemSummaries } from '#areas/items/public.ts';
import { reviseItems } from '#areas/libraries/public.ts';
import type { Principal } from '#identity/principal.ts';
import { ApiError, type Issue } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';

interface Editor {
  db: Db;
  who: Principal;
}

/** A field before and after an edit, for the audit log. */
export interface FieldChange {
  field: string;
  old: unknown;
  new: unknown;
}

/** Custom values of an item that the caller may see, by key. */
export async function customValuesOf({ db, who }: Editor, itemId: string): Promise<Record<string, unknown>> {
  const summary = (await findItemSummaries(db, who, [itemId])).get(itemId);
  return summary ? ((await findCustomValues(db, who, [summary])).get(itemId) ?? {}) : {};
}

/** Sets custom values of an item, and returns those that changed. Throws 400 with path `custom.<key>`. */
export async function changeCustom(editor: Editor, itemId: string, values: Values): Promise<FieldChange[]> {
  const before = await customValuesOf(editor, itemId);
  if (!(await setCustomValues(editor, itemId, values))) return [];
  await reviseItems(editor.db, [itemId]);
  const after = await customValuesOf(editor, itemId);
  return Object.keys(values).flatMap((key) => {
    const [old, now] = [before[key] ?? null, after[key] ?? null];
    return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ field: `custom.${key}`, old, new: now }];
  });
}

interface Many {
  who: Principal;
  values: Values | undefined;
  /** Nothing is kept. */
  dryRun: boolean;
}

interface Changed {
  /** By item. */
  changes: Map<string, FieldChange[]>;
  refused: { itemId: string; reason: 'type' | 'invalid' }[];
}

/** Sets custom values of several items. An item that is refused keeps its values and does not stop the rest. */
export async function changeCustomOfMany(
  db: Db,
  ids: readonly string[],
  { who, values, dryRun }: Many,
): Promise<Changed> {
  const done: Changed = { changes: new Map(), refused: [] };
  if (!values) return done;
  for (const itemId of ids) {
    try {
      const changes = await attempt(db, dryRun, (inside) => changeCustom({ db: inside, who }, itemId, values));
      if (changes.length > 0) done.changes.set(itemId, changes);
    } catch (error) {
      done.refused.push({ itemId, reason: reasonOf(error) });
    }
  }
  return done;
}

/** Runs `write` in a transaction inside the caller's, which a dry run rolls back. */
async function attempt<T>(db: Db, dryRun: boolean, write: (inside: Db) => Promise<T>): Promise<T> {
  const inside = await db.transaction();
  try {
    const result = await write(inside);
    await (dryRun ? inside.rollback() : inside.commit());
    return result;
  } catch (error) {
    if (!inside.isCompleted()) await inside.rollback();
    throw error;
  }
}

function reasonOf(error: unknown): 'type' | 'invalid' {
  if (!(error instanceof ApiError) || error.status !== 400) throw error;
  const { issues = [] } = error.details as { issues?: Issue[] };
  return issues.every(({ code }) => code === 'not_for_type') ? 'type' : 'invalid';
}
