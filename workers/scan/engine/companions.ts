import { Decoration } from '../group/decorate.ts';
import type { Draft } from '../group/draft.ts';
import { mergeDrafts } from '../group/merge.ts';
import { isMedia } from '../names/media.ts';
import { ignoredBy, type ScannedFolder } from '../store/context.ts';
import { doubt } from '../store/doubts.ts';
import { nameOf } from '../store/item-rows.ts';
import { findOthers, type Other } from '../store/others.ts';
import type { WalkedDirectory, WalkedFile } from '../walk/types.ts';
import { WalkFailed, walkFolder } from '../walk/walker.ts';
import { insideOf } from './early.ts';
import { groupingOf, groupSlowly } from './grouping.ts';
import { versionOf } from './grouping-version.ts';
import { Memory } from './memory.ts';
import type { Place } from './place.ts';
import type { Scan } from './scan.ts';
import { whyUnavailable } from './unavailable.ts';

/** Types whose items several directories may describe; all others lie in one. */
const mergedTypes = new Set(['movie', 'show', 'episode', 'album', 'book', 'audiobook']);

/** An item as one directory describes it. */
export interface Described {
  folderId: string;
  directory: string;
  draft: Draft;
}

/**
 * One draft for each item. If an item would change and other directories describe it too, they are listed again: an
 * item is merged from all of them in listing order, not from the directory that changed last. The files are only those
 * of the given drafts.
 */
export async function withCompanions(scan: Scan, place: Place, own: readonly Described[]): Promise<Draft[]> {
  const drafts = mergeDrafts(own.map(({ draft }) => draft));
  const directories = Map.groupBy(own, ({ draft }) => nameOf(draft));
  const shared = drafts.filter((draft) => !draft.extra && mergedTypes.has(draft.type));
  const others = await findOthers(scan.work.db, scan.library, {
    drafts: shared.map((draft) => ({
      draft,
      own: (directories.get(nameOf(draft)) ?? []).map(({ directory }) => directory),
    })),
    folderId: place.folder.id,
  });
  if (others.length === 0) return drafts;
  const found = await describedElsewhere(scan, others);
  const names = new Set(found.map(({ draft }) => nameOf(draft)));
  const order = orderOf(scan);
  const made = mergeDrafts(
    [...own.filter(({ draft }) => names.has(nameOf(draft))), ...found].sort(order).map(({ draft }) => draft),
  );
  const complete = new Map(made.map((draft) => [nameOf(draft), draft]));
  return drafts.map((draft) => {
    const all = complete.get(nameOf(draft));
    return all ? { ...all, files: draft.files } : draft;
  });
}

async function describedElsewhere(scan: Scan, others: readonly Other[]): Promise<Described[]> {
  const found: Described[] = [];
  for (const [folderId, own] of Map.groupBy(others, (other) => other.folder_id)) {
    const folder = scan.folders.find(({ id }) => id === folderId);
    if (!folder) continue;
    const names = Map.groupBy(own, (other) => other.directory);
    const wanted = new Map([...names].map(([path, some]) => [path, new Set(some.map(({ name }) => name))]));
    if (!(await whyUnavailable(scan, folder))) found.push(...(await describedIn(scan, folder, wanted)));
    else await doubt(scan.work.db, own); // it is merged again once they can be listed
  }
  return found;
}

type Wanted = ReadonlyMap<string, ReadonlySet<string>>;

async function describedIn(scan: Scan, folder: ScannedFolder, wanted: Wanted): Promise<Described[]> {
  const at: Describing = {
    folder,
    wanted,
    decoration: new Decoration(folder, { resolve: (absolute) => scan.tops.resolve(absolute), saved: scan.saved }),
    memory: await Memory.load(scan.work.db, folder),
  };
  const order = {
    root: folder.root,
    folder: folder.path,
    type: scan.library.type,
    tops: await scan.tops.all(),
    from: [...wanted.keys()],
    shallow: true,
    ignore: ignoredBy(scan.library),
    version: versionOf(scan.library),
  };
  const found: Described[] = [];
  try {
    for await (const { directories } of walkFolder(order, scan.signal)) {
      await scan.saved.leaveOut(folder.storageId, directories);
      for (const directory of directories) found.push(...(await describe(scan, at, directory)));
    }
  } catch (error) {
    if (!(error instanceof WalkFailed)) throw error;
  }
  return found;
}

interface Describing {
  folder: ScannedFolder;
  /** Names of items by directory. */
  wanted: Wanted;
  decoration: Decoration;
  memory: Memory;
}

async function describe(
  scan: Scan,
  { folder, wanted, decoration, memory }: Describing,
  { path, state, files }: WalkedDirectory,
): Promise<Described[]> {
  const names = wanted.get(path);
  if (state !== 'listed' || !names) return [];
  const isOut = (file: WalkedFile): boolean => {
    const at = path === '' ? file.name : `${path}/${file.name}`;
    return scan.passedOver.has(`${folder.storageId} ${at}`) || memory.isFaulty(at, file);
  };
  const media = files.filter((file) => !isMedia(scan.library.type, file.name) || !isOut(file));
  const inside = await insideOf(scan, folder.id, path);
  const grouping = groupingOf(scan, folder, { path, files: media, inside });
  const found: Described[] = [];
  for await (const draft of groupSlowly(grouping)) {
    if (!names.has(nameOf(draft))) continue;
    await decoration.decorate(draft, grouping);
    found.push({ folderId: folder.id, directory: path, draft: { ...draft, files: [] } });
  }
  return found;
}

/** Orders them like the listing of folders and directories. */
function orderOf({ folders }: Scan): (one: Described, other: Described) => number {
  const place = new Map(folders.map(({ id }, i) => [id, i]));
  return (one, other) =>
    (place.get(one.folderId) ?? 0) - (place.get(other.folderId) ?? 0) || byWalk(one.directory, other.directory);
}

/** A directory before its content, names by code unit. */
function byWalk(one: string, other: string): number {
  const [mine, theirs] = [one.split('/'), other.split('/')];
  const i = mine.findIndex((name, at) => name !== theirs[at]);
  if (i < 0) return mine.length - theirs.length;
  const their = theirs[i];
  return their === undefined || (mine[i] as string) > their ? 1 : -1;
}
