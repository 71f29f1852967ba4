import { may, type Principal } from '#identity/principal.ts';
import { ageSql, onlyKnownLabels, visibleItemIds } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { FieldName, NamedCredit } from '#platform/item-values.ts';
import { emitMany } from '#platform/outbox.ts';
import type { Row } from '#platform/typed-query.ts';
import { raiseLabelsOfItems } from '../libraries.store.ts';
import { editFields } from '../merge/edit.ts';
import { lockKnown } from '../merge/known.store.ts';
import { raiseChanges } from '../touch-items.ts';
import type { TagKind } from './auto-tag.schemas.ts';

/** A name that the server knows. */
export interface Known {
  kind: TagKind;
  name: string;
}

const TAGS: Partial<Record<TagKind, 'studio' | 'genre' | 'tag'>> = { studios: 'studio', genres: 'genre', tags: 'tag' };

/** Labels of one item, as in the area Labels. */
const MOST_LABELS = 100;
/** Names of one kind that are looked for. */
const MOST_NAMES = 200_000;

/** Names that the caller may give to items. */
export async function knownNames(db: Db, who: Principal, kinds: readonly TagKind[]): Promise<Known[]> {
  const known: Known[] = [];
  for (const kind of new Set(kinds)) {
    const names =
      kind === 'people'
        ? await db('people').limit(MOST_NAMES).pluck('name')
        : kind === 'labels'
          ? await labelNames(db, who)
          : await db('item_tags')
              .where({ kind: TAGS[kind] ?? 'tag' })
              .limit(MOST_NAMES)
              .distinct('name')
              .pluck('name');
    known.push(...(names as string[]).map((name) => ({ kind, name })));
  }
  return known;
}

/** Only those who manage users give labels that restrict what others see. */
async function labelNames(db: Db, who: Principal): Promise<string[]> {
  const query = db('labels').modify(onlyKnownLabels, who, 'labels').limit(MOST_NAMES);
  if (!may(who, 'user:manage'))
    query.where('restricted', false).whereNotExists((named) => {
      named.from('label_principals as p').whereRaw(`p.label = labels.number and p.part <> 'allow'`);
    });
  return query.pluck('name') as Promise<string[]>;
}

export interface NamedItem {
  id: string;
  title: string;
  locked: string[];
  paths: string[];
}

/** Items of a library with files, by id, behind `after`; extras, trashed and invisible ones are none. */
export async function namedItems(
  db: Db,
  { libraryId, itemIds, who }: { libraryId: string; itemIds?: readonly string[] | undefined; who: Principal },
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ items: NamedItem[]; last: string | undefined }> {
  const { rows } = await db.raw<{ rows: NamedItem[] }>(
    `select i.id, i.title, i.locked_fields as locked,
       array(select m.path from media_files m where m.item_id = i.id and not m.ignored order by m.id limit 20) as paths
     from items i where i.library_id = ? and i.trashed_at is null and i.extra_of is null and i.file_count > 0
       and (?::uuid[] is null or i.id = any(?::uuid[])) and (?::uuid is null or i.id > ?::uuid)
     order by i.id limit ?`,
    [libraryId, ids(itemIds), ids(itemIds), after ?? null, after ?? null, limit],
  );
  const visible = new Set(
    await visibleItemIds(
      db,
      who,
      rows.map(({ id }) => id),
    ),
  );
  return {
    items: rows.filter(({ id }) => visible.has(id)),
    last: rows.length === limit ? rows.at(-1)?.id : undefined,
  };
}

const ids = (list: readonly string[] | undefined): string[] | null => (list ? [...list] : null);

export interface Value {
  itemId: string;
  kind: TagKind;
  value: string;
}

/** Adds values that items do not have yet, and emits their changes. Returns how many were added. */
export async function addValues(db: Db, libraryId: string, values: readonly Value[]): Promise<number> {
  if (values.length === 0) return 0;
  const before = await labelsOf(db, values);
  await raiseChanges(db, [libraryId]);
  const added = [...(await addToFields(db, values)), ...(await addLabels(db, values))];
  const changed = new Map<string, Set<string>>();
  for (const { itemId, kind } of added) changed.set(itemId, (changed.get(itemId) ?? new Set()).add(kind));
  if (changed.size > 0) await touch(db, changed, before);
  return added.length;
}

/** Labels of the items that may get another, as they are now. */
async function labelsOf(db: Db, values: readonly Value[]): Promise<Map<string, number[]>> {
  const itemIds = values.flatMap(({ kind, itemId }) => (kind === 'labels' ? [itemId] : []));
  const rows = await db('items').whereIn('id', itemIds).select('id', 'labels');
  return new Map(rows.map(({ id, labels }) => [id, labels]));
}

type Added = Pick<Value, 'itemId' | 'kind'>;

/** Neither titles nor age ratings change here. */
const NO_PLACE = { language: 'en', country: null };

/**
 * Adds names to lists of fields, as values of a person that are not locked: scans keep them, and a refresh may replace them.
 * People are added in the role of an actor.
 */
async function addToFields(db: Db, values: readonly Value[]): Promise<Added[]> {
  const byItem = Map.groupBy(
    values.filter(({ kind }) => kind !== 'labels'),
    ({ itemId }) => itemId,
  );
  const items = await lockKnown(db, [...byItem.keys()], NO_PLACE);
  const edits = items.map(({ id, shown }) => ({ itemId: id, fields: listsWith(shown, byItem.get(id) ?? []) }));
  const settled = await editFields(db, edits, { accountId: null, lock: false, place: NO_PLACE });
  const changed = new Map(settled.map((one) => [one.id, new Set(one.changed)]));
  return values
    .filter(({ itemId, kind }) => changed.get(itemId)?.has(kind))
    .map(({ itemId, kind }) => ({ itemId, kind }));
}

const folded = (name: string): string => name.toLowerCase();

/** The lists that get another name. */
function listsWith(shown: ReadonlyMap<FieldName, unknown>, values: readonly Value[]): Map<FieldName, unknown> {
  const lists = new Map<FieldName, unknown>();
  for (const [kind, own] of Map.groupBy(values, (one) => one.kind as Exclude<TagKind, 'labels'>)) {
    const held = (shown.get(kind) ?? []) as (string | NamedCredit)[];
    const known = new Set(held.map((one) => folded(typeof one === 'string' ? one : one.name)));
    const names = [...new Set(own.map(({ value }) => value.slice(0, 200)))].filter((name) => !known.has(folded(name)));
    const added = kind === 'people' ? names.map((name) => ({ name, role: 'actor' })) : names;
    if (added.length > 0) lists.set(kind, [...held, ...added]);
  }
  return lists;
}

/** Labels that exist. Their libraries are locked, so that no scan adds descendants that would lack them. */
async function addLabels(db: Db, values: readonly Value[]): Promise<Added[]> {
  const rows = values
    .filter(({ kind }) => kind === 'labels')
    .map(({ itemId, value }) => ({ item_id: itemId, name: value }));
  if (rows.length === 0) return [];
  await raiseLabelsOfItems(
    db,
    rows.map(({ item_id: id }) => id),
  );
  const { rows: added } = await db.raw<{ rows: { item_id: string }[] }>(
    `insert into item_labels (item_id, label) select r.item_id, l.number
     from jsonb_to_recordset(?::jsonb) as r(item_id uuid, name text) join labels l on l.name = r.name
     where (select count(*) from item_labels have where have.item_id = r.item_id) < ${MOST_LABELS}
     on conflict do nothing returning item_id`,
    [JSON.stringify(rows)],
  );
  await db.raw('select foyer_close_labels(?::uuid[])', [added.map(({ item_id: id }) => id)]);
  return added.map(({ item_id: itemId }) => ({ itemId, kind: 'labels' }));
}

const MOST_EVENTS = 100;
type EventRow = Pick<Row<'items'>, 'id' | 'library_id' | 'type' | 'title' | 'age_years' | 'labels'>;

async function touch(
  db: Db,
  changed: ReadonlyMap<string, ReadonlySet<string>>,
  before: ReadonlyMap<string, number[]>,
): Promise<void> {
  const { rows } = await db.raw<{ rows: EventRow[] }>(
    `with l as (update libraries set change_seq = change_seq + 1
       where id = (select library_id from items where id = (?::uuid[])[1]) returning change_seq)
     update items i set revision = revision + 1, updated_at = now(), change_seq = l.change_seq from l where i.id = any(?::uuid[])
     returning i.id, i.library_id, i.type, i.title, ${ageSql('i')} as age_years, i.labels`,
    [[...changed.keys()], [...changed.keys()]],
  );
  const events = rows.map(({ id: itemId, library_id: libraryId, type, title, labels, age_years: age }) => {
    const names = changed.get(itemId) ?? new Set();
    const had = names.has('labels') ? before.get(itemId) : undefined;
    return {
      payload: { itemId, libraryId, type, title, changed: [...names] },
      facts: {
        itemId,
        libraryId,
        labels,
        ...(age !== null && { ageYears: age }),
        ...(had && { before: { labels: had } }),
      },
    };
  });
  // Clients whose rights a label changes need its event; others read the list again.
  const needed = events.filter(({ payload }, i) => i < MOST_EVENTS || payload.changed.includes('labels'));
  await emitMany(db, 'item.updated', needed);
}
