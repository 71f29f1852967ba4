import { renameLabelInRules } from '#areas/collections/public.ts';
import { renameLabelInFilters } from '#areas/saved-filters/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { moveAccess, sightChanged } from './access.store.ts';
import { carriersOf, listedWith, relabel, touchCarriers } from './label-items.store.ts';
import type { LabelChange } from './labels.schemas.ts';
import { getLabel, type LabelRow, updateLabelRow } from './labels.store.ts';
import { requireAccess } from './rights.ts';

const EVERY = 10_000_000;

/** Returns the id of the label, or of the label that it was merged into. */
export async function changeLabel(call: Call, label: LabelRow, change: LabelChange): Promise<string> {
  const { mergeInto, ...own } = change;
  const renamed = own.name !== undefined && own.name !== label.name;
  if (renamed || mergeInto !== undefined) requireAccess(call, label);
  if (mergeInto !== undefined) return merge(call, label, { mergeInto, change: own });
  await updateLabelRow(call.db, label.number, own);
  if (renamed) await touchCarriers(call.db, label.number);
  await audit(call, 'label.changed', { labelId: label.id, name: label.name, change: own });
  return label.id;
}

interface Merge {
  mergeInto: string;
  change: Omit<LabelChange, 'mergeInto'>;
}

/** Moves items and access to the other label, and applies the rest of the change to it. */
async function merge(call: Call, label: LabelRow, { mergeInto, change }: Merge): Promise<string> {
  const { db, who } = call;
  if (mergeInto === label.id) throw invalid(['body', 'mergeInto'], 'itself', 'a label is not merged into itself');
  const into = await getLabel(db, who, mergeInto);
  requireAccess(call, into);
  await db.raw(`set local statement_timeout = '10min'`); // a label on a whole library takes longer than the default
  const closed = await listedWith(db, label.number, EVERY);
  const direct = await carriersOf(db, label.number, EVERY);
  await relabel(db, [...new Set([...direct, ...closed])], async () => {
    await db.raw(
      'insert into item_labels (item_id, label) select item_id, ? from item_labels where label = ? on conflict do nothing',
      [into.number, label.number],
    );
    await moveAccess(db, label.number, into.number);
    await renameLabelInFilters(db, label.id, into.id);
    await renameLabelInRules(db, label.id, into.id);
    await db('labels').where({ number: label.number }).delete();
  });
  await updateLabelRow(db, into.number, change);
  await sightChanged(db);
  await audit(call, 'label.merged', { labelId: label.id, name: label.name, into: into.id });
  return into.id;
}
