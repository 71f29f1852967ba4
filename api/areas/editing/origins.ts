import { fieldsOfItem } from '#areas/custom-fields/public.ts';
import { fieldNames, findKnownItems, givenBy, hasField, type KnownItem } from '#areas/libraries/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { FieldName } from '#platform/item-values.ts';
import { customValuesOf } from './custom.ts';
import { placeOf } from './edit-item.ts';
import type { FieldOrigin } from './editing.schemas.ts';

interface EditRow {
  field: string;
  account_id: string | null;
  display_name: string | null;
  at: Date;
}

interface Origins {
  items: FieldOrigin[];
  lockedFields: string[];
  revision: number;
}

/** Every editable field of an item with its origin, in the order of an edit form. */
export async function originsOf(call: Call, id: string): Promise<Origins> {
  const [item] = await findKnownItems(call.db, [id], placeOf(call));
  if (!item) throw notFound();
  const rows: EditRow[] = await call
    .db('item_edits as e')
    .leftJoin('accounts as a', 'a.id', 'e.account_id')
    .where('e.item_id', id)
    .select('e.field', 'e.account_id', 'a.display_name', 'e.at');
  const edits = new Map(rows.map((row) => [row.field, row]));
  const given = givenBy(item, item.ranking);
  const names = fieldNames.filter((name) => hasField(item.type, name));
  const own = names.map((name) => originOf(item, name, { given: given.get(name)?.value, edit: edits.get(name) }));
  return {
    items: [...own, ...(await customOrigins(call, id))],
    lockedFields: [...item.locked].sort(),
    revision: item.revision,
  };
}

/** Only persons and naming patterns set custom values, and nothing replaces them. */
async function customOrigins({ db, who }: Call, id: string): Promise<FieldOrigin[]> {
  const fields = await fieldsOfItem({ db, who }, id);
  const values = fields.length > 0 ? await customValuesOf({ db, who }, id) : {};
  return fields.map(({ key }) => ({
    field: `custom.${key}`,
    value: values[key] ?? null,
    locked: false,
    source: values[key] === undefined ? 'default' : 'person',
  }));
}

/** What a refresh would set is shown when the field holds something else. */
function originOf(
  item: KnownItem,
  name: FieldName,
  { given, edit }: { given: unknown; edit: EditRow | undefined },
): FieldOrigin {
  const value = item.shown.get(name) ?? null;
  const differs = given !== undefined && JSON.stringify(given) !== JSON.stringify(value);
  return {
    field: name,
    value,
    locked: item.locked.has(name),
    ...sourceOf(item.origins[name]),
    ...(item.origins[name] === 'person' && edit && changeOf(edit)),
    ...(differs && (item.locked.has(name) || item.edits.has(name)) && { agentValue: given }),
  };
}

function changeOf({ account_id: id, display_name: displayName, at }: EditRow): Partial<FieldOrigin> {
  return { ...(id !== null && displayName !== null && { changedBy: { id, displayName } }), changedAt: iso(at) };
}

const PLAIN = ['person', 'nfo', 'embedded', 'file-name'] as const;

function sourceOf(source: string | undefined): Pick<FieldOrigin, 'source' | 'agent'> {
  if (source === undefined || source === 'default') return { source: 'default' };
  const plain = PLAIN.find((one) => one === source);
  return plain ? { source: plain } : { source: 'agent', agent: source };
}
