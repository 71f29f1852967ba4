import { fieldNames, hasField, type KnownItem } from '#areas/libraries/public.ts';
import type { FieldName } from '#platform/item-values.ts';

/** Fields of an edit form that no source describes. */
const OWN = ['labels', 'edition', 'chapters', 'addedAt', 'custom'] as const;

const isField = (name: string): name is FieldName => (fieldNames as string[]).includes(name);

/** The names that locks of this type may have, in the order of an edit form. */
export function lockable(type: string): string[] {
  return [...fieldNames.filter((name) => hasField(type, name)), 'addedAt'];
}

/** The described fields in an edit, and the names that items of this type lack. */
export function sortOut(type: string, edit: object): { fields: Map<FieldName, unknown>; wrong: string[] } {
  const entries = Object.entries(edit).filter(([, value]) => value !== undefined);
  const fields = new Map<FieldName, unknown>();
  const wrong: string[] = [];
  for (const [name, value] of entries) {
    if (isField(name) && hasField(type, name)) fields.set(name, value);
    else if (!(OWN as readonly string[]).includes(name)) wrong.push(name);
  }
  return { fields, wrong };
}

/** Values as the audit log and the list of origins show them. */
export function shownValue(item: Pick<KnownItem, 'shown'>, name: FieldName): unknown {
  return item.shown.get(name) ?? null;
}
