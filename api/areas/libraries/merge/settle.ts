import { isDeepStrictEqual } from 'node:util';
import { ageYears } from '#platform/age-ratings.ts';
import type { Db } from '#platform/db.ts';
import type { FieldName } from '#platform/item-values.ts';
import { sortTitle } from '#platform/sort-title.ts';
import { noteSaves } from '../saving/saves.store.ts';
import { FIELDS, fieldNames, hasField } from './fields.ts';
import { type KnownItem, lockKnown, type ServerPlace } from './known.store.ts';
import { givenBy, type Merged, merge } from './merge.ts';
import { dropEdits, type FieldWrite, writeFields, writeLocks } from './write.store.ts';

/**
 * How far shown values follow the sources. `settle`: a person's value first, then sources. `missing`: only fields that
 * are empty. `update`: sources replace unlocked values of persons. `replace`: unlocked values of persons are dropped.
 * Locked fields never change.
 */
export type SettleMode = 'settle' | 'missing' | 'update' | 'replace';

/** An item whose shown values changed. */
export interface Settled {
  id: string;
  libraryId: string;
  /** Names of the fields. */
  changed: string[];
}

/** Fields of an item that an edit may change although they are locked, and those of them that are locked afterwards. */
export interface Relock {
  open: readonly FieldName[];
  locked: readonly FieldName[];
}

interface Settling {
  place: ServerPlace;
  mode?: SettleMode;
  /** The only fields that may change, next to a sort title that follows its title; absent is all. */
  only?: ReadonlySet<FieldName>;
  /** By item; written with its values, because each write of a row costs an entry in every index. */
  relocks?: ReadonlyMap<string, Relock>;
}

/** An index entry holds 2,704 bytes. */
export const MAX_TITLE = 300;

/**
 * Makes the shown values of items what their sources and persons say, in the caller's transaction, which has raised the
 * change numbers of their libraries. Returns the items that changed.
 */
export async function settleItems(
  db: Db,
  ids: readonly string[],
  { place, mode = 'settle', only, relocks = new Map() }: Settling,
): Promise<Settled[]> {
  if (ids.length === 0) return [];
  const locked = await lockKnown(db, ids, place);
  const items = locked.map((item) => opened(item, relocks.get(item.id)));
  if (mode !== 'settle' && mode !== 'missing')
    await dropEdits(
      db,
      items.flatMap((item) => droppedBy(item, mode)),
    );
  const writes = items.flatMap((item) => changeOf(narrowed(item, only), mode) ?? []);
  const relocked = relockedOf(locked, relocks);
  await writeFields(
    db,
    writes.map((write) => ({ ...write, lockedFields: relocked.get(write.item.id) })),
  );
  for (const { item } of writes) relocked.delete(item.id);
  await writeLocks(db, relocked);
  await noteSaves(
    db,
    writes.flatMap(({ item, values }) => (values.size > 0 ? [item.id] : [])),
    'nfo',
  );
  return writes.map(({ item: { id, libraryId }, values }) => ({ id, libraryId, changed: [...values.keys()] }));
}

/** An item without the locks of edited fields. */
function opened(item: KnownItem, relock: Relock | undefined): KnownItem {
  return relock ? { ...item, locked: item.locked.difference(new Set(relock.open)) } : item;
}

/** The new locks of those items whose locks change. */
function relockedOf(items: readonly KnownItem[], relocks: ReadonlyMap<string, Relock>): Map<string, string[]> {
  return new Map(
    items.flatMap((item) => {
      const locked = opened(item, relocks.get(item.id)).locked.union(new Set(relocks.get(item.id)?.locked));
      return locked.symmetricDifference(item.locked).size === 0 ? [] : [[item.id, [...locked].sort()] as const];
    }),
  );
}

/** An item whose other fields are locked. */
function narrowed(item: KnownItem, only: ReadonlySet<FieldName> | undefined): KnownItem {
  if (!only) return item;
  const open = (name: FieldName): boolean => only.has(name) || (name === 'sortTitle' && only.has('title'));
  return { ...item, locked: new Set([...item.locked, ...fieldNames.filter((name) => !open(name))]) };
}

/** Values of persons that a refresh removes. */
function droppedBy(item: KnownItem, mode: SettleMode): { item_id: string; field: string }[] {
  const given = givenBy(item, item.ranking);
  return [...item.edits.keys()]
    .filter((name) => !item.locked.has(name) && (mode === 'replace' || given.has(name)))
    .map((field) => ({ item_id: item.id, field }));
}

/** The fields that change, and what else the row gets with them; undefined when nothing does. */
function changeOf(item: KnownItem, mode: SettleMode): FieldWrite | undefined {
  const merged = wanted(item, mode);
  const values = new Map<FieldName, unknown>();
  const origins: Record<string, string> = { ...item.origins };
  for (const [name, { value, source }] of merged) {
    if (!isOpen(item, name, mode)) continue;
    origins[name] = source;
    if (!isSame(name, item.shown.get(name), value)) values.set(name, value);
  }
  for (const name of gone(item, merged, mode)) {
    delete origins[name];
    if (item.shown.has(name)) values.set(name, undefined);
  }
  if (values.size === 0 && isDeepStrictEqual(origins, item.origins)) return undefined;
  return { item, values, origins, ageYears: agesOf(item, values) };
}

function isOpen(item: KnownItem, name: FieldName, mode: SettleMode): boolean {
  if (item.locked.has(name) || !hasField(item.type, name)) return false;
  const held = item.shown.get(name);
  return mode !== 'missing' || held === undefined || held === '';
}

function wanted(item: KnownItem, mode: SettleMode): Map<FieldName, Merged> {
  const strongest = mode === 'update' || mode === 'replace' ? 'source' : 'person';
  const kept = mode === 'replace' ? [...item.edits].filter(([name]) => item.locked.has(name)) : item.edits;
  const known = { layers: item.layers, edits: new Map(kept) };
  const merged = merge(known, item.ranking, (name) => (item.locked.has(name) ? 'person' : strongest));
  const title = item.locked.has('title') ? item.shown.get('title') : merged.get('title')?.value;
  if (!merged.has('sortTitle') && typeof title === 'string')
    merged.set('sortTitle', { value: sortTitle(title, item.language).slice(0, MAX_TITLE), source: 'default' });
  return merged;
}

/** Fields whose source no longer says anything. A value that came from elsewhere, as an age limit of a former item, stays. */
function gone(item: KnownItem, merged: ReadonlyMap<FieldName, Merged>, mode: SettleMode): FieldName[] {
  if (mode === 'missing') return [];
  return (Object.keys(item.origins) as FieldName[]).filter(
    (name) => name in FIELDS && !merged.has(name) && !item.locked.has(name) && name !== 'title',
  );
}

function agesOf(item: KnownItem, values: ReadonlyMap<FieldName, unknown>): number | null | undefined {
  if (!values.has('ageRating')) return undefined;
  const rating = values.get('ageRating');
  return typeof rating === 'string' && rating !== '' ? ageYears(rating, item.country) : null;
}

const folded = (names: unknown): string[] => (names as string[]).map((one) => one.toLowerCase()).sort();

/** Lists of tags have no order of their own. */
function isSame(name: FieldName, held: unknown, value: unknown): boolean {
  if (held === undefined) return value === undefined || (Array.isArray(value) && value.length === 0);
  const { place } = FIELDS[name];
  if (place.in === 'tags') return isDeepStrictEqual(folded(held), folded(value));
  if (place.in === 'credits') return isDeepStrictEqual((held as object[]).map(bare), (value as object[]).map(bare));
  return isDeepStrictEqual(held, value);
}

/** A credit without what identifies the person, whose name may have been spelt otherwise at first. */
function bare(credit: object): object {
  const { personId: _id, ids: _ids, name, ...rest } = credit as Record<string, unknown>;
  return { ...rest, name: String(name).toLowerCase() };
}
