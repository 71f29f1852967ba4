import { dropLayers, putLayers, settleItems, writeNewLists } from '#areas/libraries/public.ts';
import { restoreStates } from '#areas/playback/public.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Draft, ItemKey } from '../group/draft.ts';
import { recordset, type Writing } from './context.ts';
import type { Read } from './files.ts';
import { type ItemRow, itemRow, nameOf, type Resolved } from './item-rows.ts';
import { layersOf } from './layers.ts';
import { takeTombs } from './tombs.ts';

/** Outermost level first, so that every parent has its id before its children. */
const LEVELS: readonly ((draft: Draft) => boolean)[] = [
  (draft) => !draft.extra && !draft.parent,
  (draft) => !draft.extra && draft.parent !== undefined && !draft.grandparent,
  (draft) => !draft.extra && draft.grandparent !== undefined,
  (draft) => draft.extra !== undefined,
];

interface Grouped {
  drafts: readonly Draft[];
  existing: ReadonlyMap<string, string>;
  /** Items that drafts without an own one take over, by `nameOf`. */
  heirs: ReadonlyMap<string, string>;
  /** Items that drafts only bring files to, by `nameOf`. */
  merged: ReadonlyMap<string, string>;
  /** Newly read files by path. */
  read: ReadonlyMap<string, Read>;
}

/**
 * Creates and updates the items of the drafts. An item whose files moved or were renamed keeps its row under the new
 * key.
 */
export async function writeItems(
  writing: Writing,
  { drafts, existing, heirs, merged, read }: Grouped,
): Promise<Resolved> {
  const resolved: Resolved = { ids: new Map(merged), added: new Set(), changed: new Set() };
  const claimed = new Set(existing.values());
  for (const level of LEVELS) {
    const mine = drafts.filter(
      (draft) => level(draft) && !merged.has(nameOf(draft)) && !(draft.onlyKnown && !existing.has(nameOf(draft))),
    );
    const owners = await ownersOf(writing, drafts, new Map([...existing, ...resolved.ids]));
    const rows = mine.flatMap((draft) => {
      const id = existing.get(nameOf(draft)) ?? claim(heirs.get(nameOf(draft)), claimed);
      return itemRow({ draft, id, resolved, owners, writing, read }) ?? [];
    });
    await upsert(writing, rows, resolved);
  }
  return resolved;
}

/** Items that drafts became part of when persons merged items, by `nameOf`. */
export async function findMerged({ db, library }: Writing, drafts: readonly ItemKey[]): Promise<Map<string, string>> {
  const found = await rowsOf<{ into_id: string; type: string; identity_key: string }>(
    db,
    `select m.into_id, m.type, m.identity_key from jsonb_to_recordset(?::jsonb) as r(type text, key text)
     join merged_keys m on m.library_id = ? and m.type = r.type and m.identity_key = r.key`,
    [recordset(drafts.map(({ type, key }) => ({ type, key }))), library.id],
  );
  return new Map(found.map((row) => [nameOf({ type: row.type, key: row.identity_key }), row.into_id]));
}

/** Existing items with the drafts' keys, by `nameOf`. */
export async function findExisting({ db, library }: Writing, drafts: readonly ItemKey[]): Promise<Map<string, string>> {
  const found = await rowsOf<{ id: string; type: string; identity_key: string }>(
    db,
    `select i.id, i.type, i.identity_key from jsonb_to_recordset(?::jsonb) as r(type text, key text)
     join items i on i.library_id = ? and i.type = r.type and i.identity_key = r.key`,
    [recordset(drafts.map(({ type, key }) => ({ type, key }))), library.id],
  );
  return new Map(found.map((row) => [nameOf({ type: row.type, key: row.identity_key }), row.id]));
}

function claim(id: string | undefined, claimed: Set<string>): string | undefined {
  if (id === undefined || claimed.has(id)) return undefined;
  claimed.add(id);
  return id;
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Owners of extras whose draft names only a directory. */
async function ownersOf(
  { db, folder }: Writing,
  drafts: readonly Draft[],
  ids: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const directories = drafts.flatMap(({ extra }) => (extra && 'directory' in extra.of ? [extra.of.directory] : []));
  if (directories.length === 0) return ids;
  const mine = drafts.flatMap((draft) => {
    const id = ids.get(nameOf(draft));
    return id === undefined || draft.extra
      ? []
      : draft.files.map((file) => [`@${directoryOf(file.path)}`, id] as const);
  });
  const found = await rowsOf<{ directory: string; id: string }>(
    db,
    `select distinct on (f.directory) f.directory, i.id from media_files f join items i on i.id = f.item_id
     where f.folder_id = ? and f.directory = any(?::text[]) and i.extra_of is null order by f.directory, f.missing_since nulls first, i.id`,
    [folder.id, directories],
  );
  return new Map([...found.map((row) => [`@${row.directory}`, row.id] as const), ...mine.toReversed(), ...ids]);
}

const FIELDS = `id uuid, type text, own_type text, identity_key text, top boolean, parent_id uuid, grandparent_id uuid,
  extra_of uuid, extra_kind text, title text, sort_title text, original_title text, year int, released_on date, taken_at timestamptz, index_number int,
  index_end int, parent_index int, airs_before jsonb, overview text, tagline text, age_rating text, age_years int, rating real, external_ids jsonb,
  details jsonb, local_artwork jsonb, origins jsonb`;
const RECORD = `jsonb_to_recordset(?::jsonb) as r(${FIELDS})`;
/** The totals of files, see `totalsOf`. */
const TOTALS = 'size_bytes bigint, file_count int, bitrate bigint, runtime_ms bigint, height int, hdr text';
const COLUMNS = `id, type, own_type, identity_key, top, parent_id, grandparent_id, extra_of, extra_kind, title, sort_title, original_title, year,
  released_on, taken_at, index_number, index_end, parent_index, airs_before, overview, tagline, age_rating, age_years, rating, external_ids,
  details, local_artwork, origins`;

/** A person who numbered an episode also chose its season. */
const placed = (column: string): readonly [string, string] => [
  column,
  `case when i.locked_fields && '{index,parentIndex}' then i.${column} else r.${column} end`,
];
const PLACED: readonly (readonly [column: string, news: string])[] = [
  ...['identity_key', 'top', 'extra_of', 'extra_kind', 'local_artwork'].map(
    (column) => [column, `r.${column}`] as const,
  ),
  ...['parent_id', 'grandparent_id'].map(placed),
  ['details', 'i.details || r.details'],
];
const ASSIGNED = PLACED.map(([column]) => column);
const NEW_VALUES = PLACED.map(([, news]) => news);
const OLD_VALUES = PLACED.map(([column]) => `i.${column}`);

/** Types whose drafts are merged from all directories of an item (`findOthers`), so that an NFO file that none of them has is gone. */
const WHOLE = `i.type <> all('{season,artist,author,comic-series,course,section,photo-album}')`;

/** Whether `r` says something new of item `i`, see `descriptionOf`. */
export const SAYS_NEWS = `(i.local_artwork is distinct from r.local_artwork or i.details is distinct from i.details || r.details
  or exists (select from jsonb_each(r.layers) s left join item_layers l on l.item_id = i.id and l.source = s.key, jsonb_each(s.value) v
    where case v.key when 'externalIds' then l.fields -> v.key @> v.value else l.fields -> v.key = v.value end is not true)
  or (${WHOLE} and not r.layers \\? 'nfo' and exists (select from item_layers n where n.item_id = i.id and n.source = 'nfo')))`;

async function upsert(writing: Writing, rows: readonly ItemRow[], resolved: Resolved): Promise<void> {
  await insert(
    writing,
    rows.filter((row) => row.isNew),
    resolved,
  );
  const old = rows.filter((row) => !row.isNew);
  if (old.length === 0) return;
  for (const row of old) resolved.ids.set(row.name, row.id);
  const changed = await rowsOf<{ id: string }>(
    writing.db,
    `update items i set (${ASSIGNED.join()}, change_seq, revision, updated_at) = (${NEW_VALUES.join()}, ?, i.revision + 1, now())
     from ${RECORD} where i.id = r.id and (${OLD_VALUES.join()}) is distinct from (${NEW_VALUES.join()}) returning i.id`,
    [writing.seq, recordset(old)],
  );
  for (const { id } of changed) resolved.changed.add(id);
}

/** Writes what the drafts say of their items, and the values of existing items that follow from it. */
export async function describeItems(
  { db, library }: Writing,
  drafts: readonly Draft[],
  { resolved, merged }: { resolved: Resolved; merged: ReadonlyMap<string, string> },
): Promise<void> {
  const layered = drafts.flatMap((draft) => {
    const itemId = resolved.ids.get(nameOf(draft));
    return itemId === undefined || merged.has(nameOf(draft)) ? [] : [{ itemId, layers: layersOf(draft) }];
  });
  const news = new Set([...(await putLayers(db, layered)), ...(await dropNfo({ db }, withoutNfo(drafts, resolved)))]);
  const fresh = layered.filter(({ itemId }) => resolved.added.has(itemId));
  await writeNewLists(db, fresh, library);
  const old = [...news].filter((id) => !resolved.added.has(id));
  for (const { id } of await settleItems(db, old, { place: library.settings })) resolved.changed.add(id);
}

/** Items without an NFO file. */
function withoutNfo(drafts: readonly Draft[], { ids, added }: Resolved): string[] {
  return drafts.flatMap((draft) => {
    const itemId = ids.get(nameOf(draft));
    if (itemId === undefined || added.has(itemId)) return [];
    return layersOf(draft).some(({ source }) => source === 'nfo') ? [] : [itemId];
  });
}

/** Forgets the values of NFO files that were deleted. Returns the items that had one. */
async function dropNfo({ db }: Pick<Writing, 'db'>, itemIds: readonly string[]): Promise<string[]> {
  if (itemIds.length === 0) return [];
  const rows = await rowsOf<{ id: string }>(
    db,
    `select i.id from items i join item_layers l on l.item_id = i.id and l.source = 'nfo' where i.id = any(?::uuid[]) and ${WHOLE}`,
    [[...itemIds]],
  );
  const gone = rows.map(({ id }) => id);
  await dropLayers(db, gone, ['nfo']);
  return gone;
}

async function insert({ db, library, seq }: Writing, rows: readonly ItemRow[], resolved: Resolved): Promise<void> {
  if (rows.length === 0) return;
  const tombs = await takeTombs({ db, library }, rows);
  const fresh = rows.map((row) => ({ ...row, id: tombs.get(row.name)?.item_id ?? row.id }));
  for (const row of fresh) {
    resolved.ids.set(row.name, row.id);
    resolved.added.add(row.id);
  }
  await db.raw(
    `insert into items (library_id, change_seq, size_bytes, file_count, bitrate, runtime_ms, height, hdr, ${COLUMNS})
     select ?, ?, coalesce(r.size_bytes, 0), coalesce(r.file_count, 0), r.bitrate, r.runtime_ms, r.height, r.hdr, ${COLUMNS.replaceAll(/\w+/g, 'r.$&')}
     from jsonb_to_recordset(?::jsonb) as r(${FIELDS}, ${TOTALS})`,
    [library.id, seq, recordset(fresh)],
  );
  for (const tomb of tombs.values()) {
    await restoreStates(db, JSON.stringify(tomb.states));
  }
}
