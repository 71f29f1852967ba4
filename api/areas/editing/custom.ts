import { setCustomValues, type Values } from '#areas/custom-fields/public.ts';
import { findCustomValues } from '#areas/items/public.ts';
import { noteSaves, reviseItems } from '#areas/libraries/public.ts';
import type { Principal } from '#identity/principal.ts';
import { type Issue, invalidAll } from '#kernel/errors.ts';
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

type Shown = Map<string, Record<string, unknown>>;

/** Custom values of an item that the caller may see, by key. */
export async function customValuesOf({ db, who }: Editor, itemId: string): Promise<Record<string, unknown>> {
  return (await findCustomValues(db, who, await heldBy(db, [itemId]))).get(itemId) ?? {};
}

/** The items as `findCustomValues` takes them. */
async function heldBy(db: Db, ids: readonly string[]): Promise<{ id: string; libraryId: string; type: string }[]> {
  return db('items')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .select('id', 'library_id as libraryId', db.raw('coalesce(own_type, type) as type'));
}

/** Sets custom values of an item, and returns those that changed. Throws 400 with path `custom.<key>`. */
export async function changeCustom({ db, who }: Editor, itemId: string, values: Values): Promise<FieldChange[]> {
  const { changes, refused } = await change({ db, who }, [itemId], { values, dryRun: false });
  if (refused[0]) throw invalidAll(refused[0].issues);
  return changes.get(itemId) ?? [];
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
  if (!values || ids.length === 0) return { changes: new Map(), refused: [] };
  const { changes, refused } = await change({ db, who }, ids, { values, dryRun });
  return { changes, refused: refused.map(({ itemId, issues }) => ({ itemId, reason: reasonOf(issues) })) };
}

async function change(editor: Editor, ids: readonly string[], { values, dryRun }: { values: Values; dryRun: boolean }) {
  const { db, who } = editor;
  const items = dryRun ? [] : await heldBy(db, ids);
  const before: Shown = await findCustomValues(db, who, items);
  const { changed, refused } = await setCustomValues(editor, ids, { values, dryRun });
  const others = new Set(changed);
  const after: Shown = await findCustomValues(
    db,
    who,
    items.filter(({ id }) => others.has(id)),
  );
  if (changed.length > 0) await reviseItems(editor.db, changed);
  await noteSaves(editor.db, changed, 'nfo');
  const changes = changed.map((id) => {
    const [old, now] = [before.get(id) ?? {}, after.get(id) ?? {}];
    return [id, Object.keys(values).flatMap((key) => changeOf(key, old[key] ?? null, now[key] ?? null))] as const;
  });
  return { changes: new Map(changes.filter(([, own]) => own.length > 0)), refused };
}

const changeOf = (key: string, old: unknown, now: unknown): FieldChange[] =>
  JSON.stringify(old) === JSON.stringify(now) ? [] : [{ field: `custom.${key}`, old, new: now }];

const reasonOf = (issues: readonly Issue[]): 'type' | 'invalid' =>
  issues.every(({ code }) => code === 'not_for_type') ? 'type' : 'invalid';
