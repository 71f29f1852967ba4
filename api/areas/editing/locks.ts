import { getVisibleItem } from '#areas/items/public.ts';
import { raiseChanges, setLocks } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Issue, invalidAll } from '#kernel/errors.ts';
import { announce } from './announce.ts';
import { lockable } from './item-fields.ts';

/** The entry that also locks artwork, the identity of children and markers. */
export const ALL = 'all';

/** Replaces the locks of an item. Throws 400 for a field that its type lacks. */
export async function replaceLocks(call: Call, id: string, fields: readonly string[]): Promise<string[]> {
  const { db, who } = call;
  const item = await getVisibleItem(db, who, id);
  const known = lockable(item.type);
  refuseUnknown(fields, known);
  await raiseChanges(db, [id]);
  const locked = fields.includes(ALL) ? [ALL, ...known] : fields;
  const wanted = [...new Set(locked)].sort();
  const row = await db('items').where({ id }).forUpdate().first('locked_fields');
  const before = [...(row?.locked_fields ?? [])].sort();
  if (before.join() === wanted.join()) return wanted;
  await setLocks(db, id, wanted);
  await audit(call, 'item.locked', { itemId: id, old: before, new: wanted });
  await announce(db, [{ id, changed: ['lockedFields'] }]);
  return wanted;
}

function refuseUnknown(fields: readonly string[], known: readonly string[]): void {
  const issues = fields.flatMap((field, at): Issue[] => {
    const path = ['body', 'fields', at];
    if (field === ALL) return fields.length === 1 ? [] : [{ path, code: 'exclusive', message: '`all` stands alone' }];
    return known.includes(field)
      ? []
      : [{ path, code: 'unknown_lock', message: 'items of this type have no such field' }];
  });
  if (issues.length > 0) throw invalidAll(issues);
}
