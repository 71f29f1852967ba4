// The item of a file that will come, such as that of a running recording. It has the key that a scan finds for the file by its name,
// so the scan brings the file to it. Scans leave an item alone that never had a file.
import {
  addToLibraries,
  lockLibraries,
  measure,
  nextChange,
  settingsOf,
  withParents,
} from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { queueRefresh } from '#workers/metadata/queue.ts';
import type { Work, WorkerDeps } from '#workers/work.ts';
import { emitItems } from './engine/item-events.ts';
import type { Draft } from './group/draft.ts';
import { groupDirectory } from './group/index.ts';
import { withEmbedded } from './names/embedded.ts';
import type { ScannedLibrary, Writing } from './store/context.ts';
import { nameOf } from './store/item-rows.ts';
import { describeItems, findExisting, findMerged, writeItems } from './store/items.ts';
import { leaveItems } from './store/leave.ts';

export interface ExpectedFile {
  libraryId: string;
  folder: { id: string; storageId: string; path: string };
  /** Directories and name below the folder. */
  names: readonly string[];
  /** Tags that the file will have, by their names in lower case. */
  tags: Readonly<Record<string, string>>;
}

type Deps = Pick<WorkerDeps, 'settings'>;

/** Makes the item. Undefined when the library has an item to which the file will belong, or takes no such file. */
export async function makeExpected(db: Db, deps: Deps, file: ExpectedFile): Promise<string | undefined> {
  const library = await libraryOf(db, deps, file.libraryId);
  if (!library) return undefined;
  await lockLibraries(db, [library.id]);
  const { drafts, leaf } = draftsOf(file, { library, timeZone: deps.settings.get('server.timeZone') });
  const folder = { ...file.folder, root: '' };
  const writing: Writing = { db, scanId: '', library, folder, seq: await nextChange(db, library.id) };
  const merged = await findMerged(writing, drafts);
  const existing = await findExisting(writing, drafts);
  if (!leaf || merged.has(nameOf(leaf)) || existing.has(nameOf(leaf))) return undefined;
  const before = await measure(db, await withParents(db, [...existing.values()]));
  // Items that are there keep their descriptions and pictures: of a show the drafts know the name alone.
  const kept = new Map([...merged, ...existing]);
  const resolved = await writeItems(writing, { drafts, existing, merged: kept, heirs: new Map(), read: new Map() });
  const fresh = drafts.filter((draft) => !kept.has(nameOf(draft)));
  await describeItems(writing, fresh, { resolved, merged: kept });
  const made = resolved.ids.get(nameOf(leaf));
  const all = await withParents(db, [...existing.values(), ...resolved.ids.values()]);
  await addToLibraries(db, before, await measure(db, all));
  if (made !== undefined) await emitItems({ library }, db, { name: 'item.added', ids: [made] });
  return made;
}

/** The file will be at another place than the item was made for. False when that belongs to another item. */
export async function moveExpected(db: Db, deps: Deps, moved: ExpectedFile & { itemId: string }): Promise<boolean> {
  const library = await libraryOf(db, deps, moved.libraryId);
  const { leaf } = library ? draftsOf(moved, { library, timeZone: deps.settings.get('server.timeZone') }) : {};
  if (!library || !leaf) return false;
  await lockLibraries(db, [library.id]);
  const rows = await rowsOf<{ id: string }>(
    db,
    `update items i set identity_key = ? where i.id = ? and i.type = ? and not exists (
       select from items o where o.library_id = i.library_id and o.type = i.type and o.identity_key = ? and o.id <> i.id) returning i.id`,
    [leaf.key, moved.itemId, leaf.type, leaf.key],
  );
  return rows.length > 0;
}

/** The file will not come: its item goes with the containers that held nothing else. One that has a file stays. */
export async function dropExpected(db: Db, libraryId: string, itemId: string): Promise<void> {
  await lockLibraries(db, [libraryId]);
  const above = (await withParents(db, [itemId])).filter((id) => id !== itemId);
  const before = await measure(db, [itemId, ...above]);
  await nextChange(db, libraryId);
  const gone = await leaveItems(db, { former: [itemId], above });
  await addToLibraries(db, before, await measure(db, [itemId, ...above]));
  const ids = gone.map(({ id }) => id);
  await emitItems({ library: { id: libraryId } }, db, { name: 'item.deleted', ids, gone });
}

/** Its file came, which a scan does not take for a new item: agents describe it now. */
export async function describeExpected(db: Db, work: Work, at: { libraryId: string; itemId: string }): Promise<void> {
  const library = await libraryOf(db, work, at.libraryId);
  if (library) await queueRefresh(work, db, { library, itemIds: [at.itemId] });
}

async function libraryOf(db: Db, { settings }: Deps, id: string): Promise<ScannedLibrary | undefined> {
  const row = await db('libraries').where({ id }).whereNull('deleted_at').first();
  if (!row || row.own_type) return undefined;
  const place = {
    language: settings.get('metadata.language') ?? settings.get('server.language'),
    country: settings.get('server.country'),
  };
  return { id, type: row.type, key: row.type, settings: settingsOf(row, place), first: row.first_scanned_at === null };
}

interface Grouped {
  drafts: Draft[];
  /** The draft of the file. */
  leaf: Draft | undefined;
}

function draftsOf(
  { folder, names, tags }: ExpectedFile,
  { library, timeZone }: { library: ScannedLibrary; timeZone: string },
): Grouped {
  const within = names.slice(0, -1);
  const { drafts } = groupDirectory({
    ...{ directory: [folder.path, ...within].filter(Boolean).join('/'), within, timeZone },
    files: [{ name: names.at(-1) ?? '', size: 0, mtimeMs: 0, inode: '' }],
    library: { type: library.type, mergeVersions: library.settings.mergeVersions },
  });
  const leaf = drafts.find(({ files }) => files.length > 0);
  const nfo = leaf && withEmbedded(leaf.nfo, tags, leaf.year);
  if (leaf && nfo) leaf.nfo = nfo;
  return { drafts, leaf };
}
