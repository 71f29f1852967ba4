// Edits of an item that are not saved yet. A draft keeps the value that each changed field had, so that a change of
// somebody else to the same field is found.
import { entryOf, type Person } from './fields.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Draft {
  /** The new values; null returns a field to its sources. */
  changes: Values;
  /** What the item had when each field was changed first. */
  base: Values;
}

export const UNCHANGED: Draft = { changes: {}, base: {} };

/** An empty field has no value, no text, no member. */
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' ? Object.keys(value).length === 0 : value === '');

export const same = (one: unknown, other: unknown): boolean =>
  (isEmpty(one) && isEmpty(other)) || JSON.stringify(one) === JSON.stringify(other);

function without({ changes, base }: Draft, field: string): Draft {
  const { [field]: _change, ...otherChanges } = changes;
  const { [field]: _base, ...others } = base;
  return { changes: otherChanges, base: others };
}

const withValue = (
  { changes, base }: Draft,
  field: string,
  { value, held }: { value: unknown; held: unknown },
): Draft => ({
  changes: { ...changes, [field]: value },
  base: field in base ? base : { ...base, [field]: held },
});

/** The draft with a value that the person entered; one that the item has already is no change. */
export const entered = (draft: Draft, field: string, values: { value: unknown; held: unknown }): Draft =>
  same(values.value, values.held) ? without(draft, field) : withValue(draft, field, values);

/** The draft in which a field returns to its sources. */
export const returned = (draft: Draft, field: string, held: unknown): Draft =>
  withValue(draft, field, { value: null, held });

/** The draft without a change of a field: the value of the item stands. */
export const dropped = without;

/** The draft in which the person's value stands against what the item has now. */
export const kept = (draft: Draft, field: string, held: unknown): Draft => ({
  ...draft,
  base: { ...draft.base, [field]: held },
});

export const isChanged = ({ changes }: Draft): boolean => Object.keys(changes).length > 0;

/** The draft without changes that somebody else made in the same way, and the fields that they changed in another way. */
export function compared(draft: Draft, held: Values): { draft: Draft; conflicts: string[] } {
  const fields = Object.keys(draft.changes).filter((field) => field in held && !same(draft.base[field], held[field]));
  const equal = fields.filter((field) => draft.changes[field] !== null && same(draft.changes[field], held[field]));
  return {
    draft: equal.reduce(without, draft),
    conflicts: fields.filter((field) => !equal.includes(field)),
  };
}

/** Ids that are new or other, and null for those that are gone. */
function changedIds(value: Values, held: Values): Values {
  const gone = Object.keys(held).filter((provider) => !(provider in value));
  const set = Object.entries(value).filter(([provider, id]) => held[provider] !== id);
  return Object.fromEntries([...gone.map((provider) => [provider, null] as const), ...set]);
}

const credit = ({ personId, name, ...rest }: Person): object => ({ ...(personId ? { personId } : { name }), ...rest });

/** Fields of one file: `edition:<fileId>` and `chapters:<fileId>`. */
const OF_FILE = /^(edition|chapters):(.+)$/;

/** The body that saves a draft. */
export function bodyOf({ changes, base }: Draft): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(changes)) {
    const [, member, fileId] = OF_FILE.exec(field) ?? [];
    if (member && fileId) body[member] = { ...(body[member] as object), [fileId]: value };
    else if (value === null) body[field] = null;
    else if (entryOf(field) === 'people') body[field] = (value as Person[]).map(credit);
    else if (field === 'externalIds') body[field] = changedIds(value as Values, (base[field] ?? {}) as Values);
    else body[field] = value;
  }
  return body;
}
