import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Draft, ItemKey } from '../group/draft.ts';
import { inLanes } from '../lanes.ts';
import { belongingsOf } from './belongings.ts';
import type { Writing } from './context.ts';
import { nameOf } from './item-rows.ts';
import type { KnownFile } from './known.ts';

/**
 * Location of a file according to its row. The storage may differ from the folder's if the item moved without the file.
 */
export type Located = Pick<Row<'media_files'>, 'storage_id' | 'folder_id' | 'path'>;

/** Whether a file is no longer where its row states. */
export type IsGone = (file: Located) => Promise<boolean>;

/** Items that drafts take over from the previous items of their files. */
export interface Heirs {
  /** By the draft's `nameOf`. */
  ids: Map<string, string>;
  /** Items of other libraries that move to this one, with everything below them. */
  foreign: string[];
}

interface Asking {
  drafts: readonly Draft[];
  known: ReadonlyMap<string, KnownFile>;
  existing: ReadonlyMap<string, string>;
  isGone: IsGone;
}

/**
 * A draft takes an item over with its files if it has no item yet and the old item keeps nothing. An item that keeps a
 * file, or a show that keeps an episode, stays as it is, and the draft becomes a new item.
 */
export async function findHeirs({ db, library }: Writing, { drafts, known, existing, isGone }: Asking): Promise<Heirs> {
  const ids = new Map([...candidatesOf(drafts, known)].filter(([name]) => !existing.has(name)));
  if (ids.size === 0) return { ids, foreign: [] };
  const candidates = [...new Set(ids.values())];
  const placed = drafts.flatMap((draft) => draft.files.flatMap((file) => known.get(file.path)?.id ?? []));
  const staying = await findStaying(db, { ids: candidates, placed, isGone });
  for (const [name, id] of ids) if (staying.has(id)) ids.delete(name);
  const foreign = await foreignOf(db, library.id, { drafts, ids });
  return { ids, foreign };
}

/** An extra moves to another library only with its film; alone it becomes a new one there. */
async function foreignOf(
  db: Db,
  libraryId: string,
  { drafts, ids }: { drafts: readonly Draft[]; ids: Map<string, string> },
): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(db, 'select id from items where id = any(?::uuid[]) and library_id <> ?', [
    [...ids.values()],
    libraryId,
  ]);
  const elsewhere = new Set(rows.map((row) => row.id));
  const extras = drafts.flatMap((draft) => {
    const id = ids.get(nameOf(draft));
    return draft.extra && id !== undefined && elsewhere.has(id) ? [{ name: nameOf(draft), id }] : [];
  });
  for (const { id } of extras) elsewhere.delete(id);
  const foreign = await belongingsOf(db, [...elsewhere]);
  const along = new Set(foreign);
  for (const { name, id } of extras) if (!along.has(id)) ids.delete(name);
  return foreign;
}

/** The previous items of the drafts' files. Containers are taken over only by a move. */
function candidatesOf(drafts: readonly Draft[], known: ReadonlyMap<string, KnownFile>): Map<string, string> {
  const heirs = new Map<string, string>();
  for (const draft of drafts) {
    for (const file of draft.files) {
      const before = known.get(file.path);
      if (before?.item_type !== draft.type) continue;
      inherit(heirs, draft, before.item_id);
      if (before.moved) inherit(heirs, draft.parent, before.parent_id);
      if (before.moved) inherit(heirs, draft.grandparent, before.grandparent_id);
    }
  }
  return heirs;
}

function inherit(heirs: Map<string, string>, key: ItemKey | undefined, id: string | null): void {
  if (key && id !== null && !heirs.has(nameOf(key))) heirs.set(nameOf(key), id);
}

/** Concurrent file system checks while rows are locked. */
export const LOOKS = 16;

interface Rest extends Located {
  id: string;
}

/** Items that still have an existing file, directly or below, without a new place. Extras do not count. */
export async function findStaying(
  db: Db,
  { ids, placed, isGone }: { ids: readonly string[]; placed: readonly string[]; isGone: IsGone },
): Promise<Set<string>> {
  const staying = new Set<string>();
  if (ids.length === 0) return staying;
  const rest = await rowsOf<Rest>(
    db,
    `select a.id, f.storage_id, f.folder_id, f.path from unnest(?::uuid[]) as a(id)
     cross join lateral (select a.id union select c.id from items c where c.parent_id = a.id and c.trashed_at is null
       union select c.id from items c where c.grandparent_id = a.id and c.trashed_at is null) below
     join media_files f on f.item_id = below.id
     where f.missing_since is null and f.id <> all(?::uuid[])`,
    [ids, placed],
  );
  await inLanes(rest, { lanes: LOOKS }, async (file) => {
    if (!staying.has(file.id) && !(await isGone(file))) staying.add(file.id);
  });
  return staying;
}
