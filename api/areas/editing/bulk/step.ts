import { changeItems } from '#areas/labels/public.ts';
import {
  editFields,
  type FieldEdits,
  findKnownItems,
  type KnownItem,
  lockKnown,
  lockTypes,
  raiseChangesOfItems,
  refusedMoves,
  type ServerPlace,
  setAddedAt,
  trashFiles,
  trashItems,
  writeLocks,
} from '#areas/libraries/public.ts';
import type { Principal } from '#identity/principal.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import { recordMany } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { FieldName, NamedCredit } from '#platform/item-values.ts';
import { announce, announceDeleted } from '../announce.ts';
import { changeCustomOfMany, type FieldChange } from '../custom.ts';
import { refuseMovers } from '../delete-item.ts';
import { lockable, sortOut } from '../item-fields.ts';
import { ALL } from '../locks.ts';
import type { BulkRequest, Lists, refusals } from './bulk.schemas.ts';

/** A request whose labels are numbers, so that a job needs no rights to read them. */
export interface Change extends Pick<BulkRequest, 'set' | 'fields' | 'delete'> {
  action: Exclude<BulkRequest['action'], 'refresh'>;
  add: Omit<Lists, 'labels'>;
  remove: Omit<Lists, 'labels'>;
  labels: { add: number[]; remove: number[] };
}

export interface Refused {
  itemId: string;
  reason: (typeof refusals)[number];
}

export interface Outcome {
  changed: number;
  refused: Refused[];
}

export interface Doer {
  change: Change;
  who: Principal;
  place: ServerPlace;
  /** Events that may still be emitted for this request. */
  events: number;
  dryRun?: boolean;
  /** In the transaction of the change. */
  enqueue: Call['enqueue'];
}

/** Applies a change to at most 500 items, in the caller's transaction. Items that are refused do not stop the rest. */
export async function changeSome(db: Db, ids: readonly string[], by: Doer): Promise<Outcome> {
  const visible = new Set(await visibleItemIds(db, by.who, ids));
  const hidden = ids.filter((id) => !visible.has(id)).map((itemId): Refused => ({ itemId, reason: 'not-found' }));
  const { action } = by.change;
  const seen = [...visible];
  const done = action === 'delete' ? await remove(db, seen, by) : await changeKnown(db, seen, by);
  return { changed: done.changed, refused: [...hidden, ...done.refused] };
}

async function changeKnown(db: Db, ids: readonly string[], by: Doer): Promise<Outcome> {
  if (!by.dryRun) await raiseChangesOfItems(db, ids);
  if (!by.dryRun && isCustomAlone(by.change)) return edit(db, await lockTypes(db, ids), by);
  const items = await (by.dryRun ? findKnownItems : lockKnown)(db, ids, by.place);
  return by.change.action === 'edit' ? edit(db, items, by) : relock(db, items, by);
}

/** Whether it sets custom values and nothing else, so that no shown value of an item matters. */
function isCustomAlone({ action, set = {}, add, remove: removed, labels }: Change): boolean {
  const given = (one: object): string[] =>
    Object.entries(one).flatMap(([key, value]) => (value === undefined ? [] : key));
  const lists = [...given(add), ...given(removed), ...labels.add, ...labels.remove];
  return action === 'edit' && lists.length === 0 && given(set).join() === 'custom';
}

/** An item as far as an edit depends on it. */
type Editable = Pick<KnownItem, 'id' | 'type' | 'shown'>;

async function remove(
  db: Db,
  ids: readonly string[],
  { who, events, dryRun, change, enqueue }: Doer,
): Promise<Outcome> {
  const files = change.delete?.files ?? 'keep';
  refuseMovers(who, { files });
  const refused = files === 'trash' ? await refusedMoves(db, ids) : [];
  const kept = new Set(refused.map(({ itemId }) => itemId));
  const chosen = new Set(ids.filter((id) => !kept.has(id)));
  const outcome = { refused: refused.map(({ itemId, reason }) => ({ itemId, reason })) };
  if (dryRun) return { changed: chosen.size, ...outcome };
  const trashed = await trashItems(db, [...chosen], who.accountId || null);
  if (files === 'trash') await trashFiles(db, { itemIds: trashed.map(({ id }) => id) }, enqueue);
  const own = trashed.filter(({ id }) => chosen.has(id));
  await announceDeleted(db, own.slice(0, events));
  await record(db, who, { action: 'item.deleted', entries: own.map(({ id }) => ({ itemId: id, files })) });
  return { changed: own.length, ...outcome };
}

/** Locks or unlocks fields. An item whose type lacks a field to lock is refused. */
async function relock(db: Db, items: readonly KnownItem[], { change, who, events, dryRun }: Doer): Promise<Outcome> {
  const { fields = [], action } = change;
  const unfit = action === 'lock' ? items.filter(({ type }) => !fields.every((one) => isLockable(type, one))) : [];
  const refused = unfit.map(({ id }): Refused => ({ itemId: id, reason: 'type' }));
  const changes = items
    .filter((item) => !unfit.includes(item))
    .map((item) => ({ item, locked: locksAfter(item, change) }))
    .filter(({ item, locked }) => locked.symmetricDifference(item.locked).size > 0);
  if (dryRun) return { changed: changes.length, refused };
  const locks = new Map(changes.map(({ item, locked }) => [item.id, [...locked].sort()]));
  await writeLocks(db, locks);
  const entries = changes.map(({ item: { id, locked: old } }) => ({ itemId: id, old: [...old], new: locks.get(id) }));
  await record(db, who, { action: 'item.locked', entries });
  const changed = [...locks.keys()].slice(0, events).map((id) => ({ id, changed: ['lockedFields'] }));
  await announce(db, changed);
  return { changed: changes.length, refused };
}

function locksAfter({ locked, type }: KnownItem, { action, fields = [] }: Change): Set<string> {
  if (action === 'unlock') return new Set(locked).difference(new Set(fields));
  return new Set([...locked, ...fields, ...(fields.includes(ALL) ? lockable(type) : [])]);
}

const isLockable = (type: string, field: string): boolean => field === ALL || lockable(type).includes(field);

async function edit(db: Db, items: readonly Editable[], by: Doer): Promise<Outcome> {
  const edits = items.map((item) => editOf(item, by.change));
  const refused = edits.flatMap(({ itemId, wrong }): Refused[] => (wrong ? [{ itemId, reason: 'type' }] : []));
  const custom = await changeCustomOfMany(
    db,
    edits.filter(({ wrong }) => !wrong).map(({ itemId }) => itemId),
    { who: by.who, values: by.change.set?.custom, dryRun: by.dryRun ?? false },
  );
  refused.push(...custom.refused);
  const out = new Set(refused.map(({ itemId }) => itemId));
  const fit = edits.filter(({ itemId }) => !out.has(itemId));
  if (by.dryRun) return { changed: fit.length, refused };
  const lock = { accountId: by.who.accountId || null, lock: true, place: by.place };
  const settled = await editFields(db, fit, lock);
  const changed = new Map(settled.map((one) => [one.id, one.changed]));
  for (const id of await editRest(db, fit, by.change)) if (!changed.has(id)) changed.set(id, ['labels']);
  await recordEdits(db, by.who, { items, changed, edits: fit, custom: custom.changes });
  for (const id of custom.changes.keys()) changed.set(id, [...(changed.get(id) ?? []), 'custom']);
  const all = [...changed].map(([id, names]) => ({ id, changed: names }));
  await announce(db, all.slice(0, by.events));
  return { changed: changed.size, refused };
}

/** Labels and the time of addition, which are no fields of sources. Returns the items that changed. */
async function editRest(db: Db, fit: readonly Edit[], { set, labels }: Change): Promise<string[]> {
  const ids = fit.map(({ itemId }) => itemId);
  if (set?.addedAt !== undefined) for (const id of ids) await setAddedAt(db, id, set.addedAt);
  for (const number of labels.add) await changeItems(db, number, { add: ids, remove: [] });
  for (const number of labels.remove) await changeItems(db, number, { add: [], remove: ids });
  return set?.addedAt !== undefined || labels.add.length + labels.remove.length > 0 ? ids : [];
}

interface Edit extends FieldEdits {
  wrong: boolean;
}

function editOf(item: Editable, { set = {}, add, remove: removed }: Change): Edit {
  const { fields, wrong } = sortOut(item.type, set);
  for (const name of ['genres', 'tags'] as const) {
    const list = changedList((item.shown.get(name) ?? []) as string[], add[name], removed[name]);
    if (list) fields.set(name, list);
  }
  const people = changedPeople((item.shown.get('people') ?? []) as NamedCredit[], add.people, removed.people);
  if (people) fields.set('people', people);
  return { itemId: item.id, fields, wrong: wrong.length > 0 };
}

const fold = (name: string): string => name.toLowerCase();

/** The list after the change; undefined when it stays as it is. */
function changedList(
  held: readonly string[],
  add: readonly string[] = [],
  drop: readonly string[] = [],
): string[] | undefined {
  const gone = new Set(drop.map(fold));
  const kept = held.filter((name) => !gone.has(fold(name)));
  const known = new Set(kept.map(fold));
  const added = add.filter((name) => !known.has(fold(name)));
  return added.length === 0 && kept.length === held.length ? undefined : [...kept, ...added];
}

type Credits = NonNullable<Lists['people']>;

function changedPeople(held: readonly NamedCredit[], add: Credits = [], drop: Credits = []): NamedCredit[] | undefined {
  const same = (one: NamedCredit) => (other: Credits[number]) =>
    one.role === other.role &&
    (other.personId === undefined ? fold(one.name) === fold(other.name ?? '') : one.personId === other.personId);
  const kept = held.filter((one) => !drop.some(same(one)));
  const added = add.filter((one) => !kept.some((other) => same(other)(one)));
  if (added.length === 0 && kept.length === held.length) return undefined;
  return [...kept, ...(added as NamedCredit[])];
}

interface Edited {
  items: readonly Editable[];
  changed: ReadonlyMap<string, string[]>;
  edits: readonly Edit[];
  /** By item. */
  custom: ReadonlyMap<string, readonly FieldChange[]>;
}

async function recordEdits(db: Db, who: Principal, { items, changed, edits, custom }: Edited): Promise<void> {
  const set = new Map(edits.map(({ itemId, fields }) => [itemId, fields]));
  const entries = items.flatMap((item) => {
    const names = changed.get(item.id) ?? [];
    const own = custom.get(item.id) ?? [];
    if (names.length + own.length === 0) return [];
    const changes = names.map((name) => ({
      field: name,
      old: item.shown.get(name as FieldName) ?? null,
      new: set.get(item.id)?.get(name as FieldName) ?? null,
    }));
    return [{ itemId: item.id, changes: [...changes, ...own] }];
  });
  await record(db, who, { action: 'item.edited', entries });
}

async function record(
  db: Db,
  who: Principal,
  { action, entries }: { action: string; entries: readonly object[] },
): Promise<void> {
  await recordMany(
    db,
    entries.map((details) => ({ id: newId(), accountId: who.accountId || null, action, details })),
  );
}
