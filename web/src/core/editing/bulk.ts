// Changes of many items at once, as the server takes them, and the requests that take an edit back.
import type { BulkRequest, FieldOrigin, ItemEdit } from '../../../../api/client/index.ts';
import type { Person } from './fields.ts';

/** `back` returns a field to its sources. */
export type How = 'add' | 'remove' | 'set' | 'back';

export interface Change {
  field: string;
  how: How;
  value: unknown;
}

const LIST: readonly How[] = ['add', 'remove', 'set', 'back'];
const PLAIN: readonly How[] = ['set', 'back'];
const MEMBERS: readonly How[] = ['add', 'remove'];

/** What can be done with each field of many items. */
export const BULK_FIELDS: Readonly<Record<string, readonly How[]>> = {
  ...{ genres: LIST, tags: LIST, labels: MEMBERS, people: MEMBERS, studios: PLAIN, year: PLAIN, ageRating: PLAIN },
  ...{ countries: PLAIN, originalLanguage: PLAIN, status: PLAIN, publisher: PLAIN, platform: PLAIN },
};

/** Fields that a person unlocks in many items. */
export const LOCKED_FIELDS: readonly string[] = [
  ...['title', 'sortTitle', 'overview', 'tagline', 'rating', 'releasedOn', 'externalIds'],
  ...Object.keys(BULK_FIELDS).filter((field) => field !== 'labels'),
];

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const isComplete = ({ how, value }: Change): boolean => how === 'back' || !isEmpty(value);

const credit = ({ personId, name, role, character, job }: Person): object => ({
  ...(personId ? { personId } : { name }),
  ...{ role, ...(character && { character }), ...(job && { job }) },
});

const sent = ({ field, value }: Change): unknown => (field === 'people' ? (value as Person[]).map(credit) : value);

export type Edit = Pick<BulkRequest, 'set' | 'add' | 'remove'>;

/** The members of a request; undefined while a change has no value, or a field is changed in two ways. */
export function editOf(changes: readonly Change[]): Edit | undefined {
  const keys = changes.map(({ field, how }) => `${field} ${how}`);
  const whole = changes.filter(({ how }) => how === 'set' || how === 'back').map(({ field }) => field);
  const twice = whole.some((field) => changes.filter((one) => one.field === field).length > 1);
  const complete = changes.length > 0 && changes.every(isComplete);
  if (!complete || twice || new Set(keys).size < keys.length) return undefined;
  const part = (how: readonly How[]): object | undefined => {
    const own = changes.filter((one) => how.includes(one.how));
    if (own.length === 0) return undefined;
    return Object.fromEntries(own.map((one) => [one.field, one.how === 'back' ? null : sent(one)]));
  };
  const [set, add, remove] = [part(['set', 'back']), part(['add']), part(['remove'])];
  return { ...(set && { set }), ...(add && { add }), ...(remove && { remove }) } as Edit;
}

/** What an item had before an edit. */
export interface Before {
  itemId: string;
  lockedFields: readonly string[];
  /** Origins of the fields that are edited; only of items that lock one of them. */
  fields: readonly FieldOrigin[];
  /** Those labels of the edit that the item had. */
  labels: readonly string[];
}

export interface Undo {
  /** The same call with the former values; null where none was a person's. */
  bulk: Edit[];
  /** The items of each of these calls. */
  items: string[][];
  /** Credits, which the call has no former value for. */
  people: { itemId: string; body: ItemEdit }[];
  /** Locks of values that were no edits. */
  locks: { itemId: string; fields: string[] }[];
}

/** The requests that give every field back what it had. */
export function undoOf(changes: readonly Change[], before: readonly Before[]): Undo {
  const fields = [...new Set(changes.map(({ field }) => field))];
  const plain = fields.filter((field) => field !== 'labels' && field !== 'people');
  const calls = new Map<string, { edit: Edit; ids: string[] }>();
  const put = (edit: Edit, id: string): void => {
    const key = JSON.stringify(edit);
    const known = calls.get(key);
    if (known) known.ids.push(id);
    else calls.set(key, { edit, ids: [id] });
  };
  for (const one of before) {
    if (plain.length > 0)
      put({ set: Object.fromEntries(plain.map((field) => [field, formerOf(one, field)])) }, one.itemId);
    for (const edit of labelsBack(changes, one)) put(edit, one.itemId);
  }
  const people = fields.includes('people')
    ? before.map((one) => ({ itemId: one.itemId, body: { people: peopleOf(one) } as ItemEdit }))
    : [];
  const locks = before.flatMap((one) => {
    const kept = fields.filter((field) => one.lockedFields.includes(field) && formerOf(one, field) === null);
    return kept.length > 0 ? [{ itemId: one.itemId, fields: kept }] : [];
  });
  const all = [...calls.values()];
  return { bulk: all.map(({ edit }) => edit), items: all.map(({ ids }) => ids), people, locks };
}

/** The value that a person had given; null for one of the sources. */
function formerOf({ fields }: Before, field: string): unknown {
  const origin = fields.find((one) => one.field === field);
  return origin?.source === 'person' ? (origin.value ?? null) : null;
}

function peopleOf(one: Before): object[] | null {
  const former = formerOf(one, 'people');
  return former === null ? null : (former as Person[]).map(credit);
}

function labelsBack(changes: readonly Change[], { labels }: Before): Edit[] {
  const own = (how: How, had: boolean): string[] =>
    changes
      .filter((one) => one.field === 'labels' && one.how === how)
      .flatMap(({ value }) => value as string[])
      .filter((id) => labels.includes(id) === had);
  const [add, remove] = [own('remove', true), own('add', false)];
  if (add.length === 0 && remove.length === 0) return [];
  return [
    { ...(add.length > 0 && { add: { labels: add } }), ...(remove.length > 0 && { remove: { labels: remove } }) },
  ];
}
