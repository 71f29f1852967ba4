import {
  addToLibraries,
  librariesOf,
  measure,
  nextChanges,
  rollUpItems,
  withParents,
} from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import type { ProbedFile } from '#platform/media.ts';
import { queuePictures } from '#workers/artwork/queue.ts';
import { queueRefresh } from '#workers/metadata/queue.ts';
import type { Draft, ItemKey } from '../group/draft.ts';
import { withEmbedded } from '../names/embedded.ts';
import { adoptItems } from '../store/adopt.ts';
import type { ScannedFolder, Writing } from '../store/context.ts';
import { writeCustomValues } from '../store/custom.ts';
import { doubtRest, type Lost } from '../store/doubts.ts';
import { type Placed, type WrittenFile, writeFiles } from '../store/files.ts';
import { findHeirs, type IsGone } from '../store/heirs.ts';
import { nameOf, type Resolved } from '../store/item-rows.ts';
import { describeItems, findExisting, findMerged, writeItems } from '../store/items.ts';
import type { KnownFile } from '../store/known.ts';
import { inheritLabels } from '../store/labels.ts';
import { leaveItems } from '../store/leave.ts';
import { moveFiles } from '../store/move.ts';
import { keepPins } from '../store/pins.ts';
import { writeTracks } from '../store/tracks.ts';
import { type Ages, agesOf, emitItemEvents } from './item-events.ts';
import { lockRows, withoutFaulty } from './left-out.ts';
import type { Readings } from './read-files.ts';
import type { Scan } from './scan.ts';
import { Whereabouts } from './whereabouts.ts';

/** Drafts of some directories with the results of reading their files. */
export interface Part {
  folder: ScannedFolder;
  drafts: readonly Draft[];
  /** Existing rows of the files by their present path. */
  known: ReadonlyMap<string, KnownFile>;
  readings: Readings;
}

/**
 * Writes items, files and streams of one part with the rollups above them and the events, in the caller's transaction.
 * Files that another scan took in the meantime are left out and noted as postponed.
 */
export async function writePart(scan: Scan, db: Db, all: Part): Promise<void> {
  const seqs = await nextChanges(db, [scan.library.id, ...(await librariesOf(db, formerOf(all)))]);
  const part = await withoutTaken(db, all);
  if (part.drafts.length > 0) await writeLocked({ scan, db, seqs }, part);
}

function rowsOfPart({ drafts, known, readings }: Part): KnownFile[] {
  return drafts.flatMap(({ files }) => files.flatMap(({ path }) => readings.moved.get(path) ?? known.get(path) ?? []));
}

/** Items that the files of this part belong to now. */
export function formerOf(part: Part): string[] {
  return [...new Set(rowsOfPart(part).map((row) => row.item_id))];
}

async function withoutTaken(db: Db, part: Part): Promise<Part> {
  const { drafts, known, readings } = part;
  const taken = await lockRows(db, new Map([...known, ...readings.moved]));
  if (taken.length === 0) return part;
  for (const path of taken) {
    readings.postponed.add(path);
    readings.moved.delete(path);
  }
  return { ...part, drafts: withoutFaulty(drafts, readings) };
}

interface Locked {
  scan: Scan;
  db: Db;
  /** Change numbers by library. */
  seqs: ReadonlyMap<string, number>;
}

async function writeLocked({ scan, db, seqs }: Locked, all: Part): Promise<void> {
  const { library } = scan;
  const known = new Map([...all.known, ...all.readings.moved]);
  const rows = rowsOfPart(all);
  const former = formerOf(all);
  const writing: Writing = { db, scanId: scan.row.id, library, folder: all.folder, seq: seqs.get(library.id) ?? 0 };
  const named = [...all.drafts, ...all.drafts.flatMap(ownerOf)];
  const mergedBefore = await findMerged(writing, named);
  const found = new Map([...(await findExisting(writing, named)), ...mergedBefore]);
  const whereabouts = new Whereabouts(scan);
  const isGone: IsGone = (file) => whereabouts.isGone(file);
  const pins = await keepPins(writing, { drafts: all.drafts, known, existing: found, merged: mergedBefore, isGone });
  const { existing, merged } = pins;
  const part: Part = { ...all, drafts: pins.drafts };
  const heirs = await findHeirs(writing, { drafts: part.drafts, known, existing, isGone });
  const above = await withParents(db, former);
  const old = [...new Set([...above, ...heirs.foreign, ...(await withParents(db, [...existing.values()]))])];
  const before = await measure(db, old);
  const ages: Ages = library.first ? new Map() : await agesOf(db, old);
  const placed = rows.map((row) => row.id);
  const { adopted, emptied } = await adoptItems(writing, {
    ids: heirs.foreign,
    placed,
    isThere: (file) => whereabouts.isThere(file),
  });
  const { read } = part.readings;
  const resolved = await writeItems(writing, { drafts: part.drafts, existing, heirs: heirs.ids, merged, read });
  const apart = pins.apart.map((one) => ({ ...one, known: known.get(one.file.path), read: read.get(one.file.path) }));
  const places = [...placedFiles(part, known, resolved), ...apart];
  await moveFiles(writing, part.readings.moved, places);
  const files = await writeFiles(writing, places);
  const touched = await writeTracks(writing, files);
  await describeItems(writing, part.drafts, { resolved, merged });
  await writeCustomValues(writing, part.drafts, resolved);
  await inheritLabels(writing, resolved, files);
  const left = await leaveItems(db, { former: [...new Set([...leftBy(files), ...emptied])], above });
  const rolled = await rollUpItems(
    db,
    [...new Set([...resolved.ids.values(), ...former, ...heirs.foreign, ...emptied])],
    above,
  );
  const after = await measure(db, await withParents(db, [...old, ...resolved.ids.values()]));
  await addToLibraries(db, before, after);
  const done = files.map((file) => file.placed);
  count(scan, part, done);
  scan.doubted.push(...(await doubtRest(db, lostBy(files))));
  await emitItemEvents(scan, db, { resolved, files, touched, rolled, left, ages, adopted, others: seqs.size > 1 });
  await queuePictures(scan.work, db, { libraryId: library.id, itemIds: itemsToPicture(resolved, files) });
  await queueRefresh(scan.work, db, { library, itemIds: [...resolved.added] });
}

/** Items that are new or changed, or whose files are. */
function itemsToPicture({ added, changed }: Resolved, files: readonly WrittenFile[]): string[] {
  const read = files.flatMap(({ placed }) => (placed.read ? [placed.itemId] : []));
  return [...new Set([...added, ...changed, ...read])];
}

/** The item that an extra belongs to according to its name; it may be in another part. */
function ownerOf({ extra }: Draft): ItemKey[] {
  return extra && 'key' in extra.of ? [extra.of] : [];
}

/** Items that lost a file to another item. */
function leftBy(files: readonly WrittenFile[]): string[] {
  const moved = files.filter(({ placed }) => placed.known && placed.known.item_id !== placed.itemId);
  return [...new Set(moved.map(({ placed }) => placed.known?.item_id ?? ''))];
}

/** Places where items lost a file to another item or to another place. */
function lostBy(files: readonly WrittenFile[]): Lost[] {
  return files.flatMap(({ placed: { known, itemId, file } }) => {
    if (!known || (known.item_id === itemId && known.path === file.path && !known.moved)) return [];
    return [{ item_id: known.item_id, folder_id: known.folder_id, directory: known.directory }];
  });
}

/** Uses the embedded tags of newly read files; those of others were written earlier. */
export function readTags(drafts: readonly Draft[], { read: readings }: Pick<Readings, 'read'>): void {
  for (const draft of drafts) {
    const [first] = draft.files;
    const read = first && readings.get(first.path);
    if (!read || !('probed' in read) || draft.extra || isTagged(read.probed.file)) continue;
    const tagged = withEmbedded(draft.nfo, read.probed.file.tags, draft.year);
    if (tagged) draft.nfo = tagged;
  }
}

/** Files whose tags the grouping has used. */
const isTagged = ({ music, book, photo }: ProbedFile): boolean => Boolean(music ?? book ?? photo);

function placedFiles(part: Part, known: ReadonlyMap<string, KnownFile>, resolved: Resolved): Placed[] {
  return part.drafts.flatMap((draft) => {
    const itemId = resolved.ids.get(nameOf(draft));
    if (itemId === undefined) return [];
    return draft.files.map((file) => ({
      draft,
      file,
      itemId,
      known: known.get(file.path),
      read: part.readings.read.get(file.path),
    }));
  });
}

function count(scan: Scan, { readings }: Part, placed: readonly Placed[]): void {
  for (const { file, known, read } of placed) {
    if (readings.moved.has(file.path)) scan.counts.moved += 1;
    else if (!known) scan.counts.added += 1;
    else if (read) scan.counts.updated += 1;
  }
}
