import { kindOf } from '../names/kinds.ts';
import type { ScannedFolder } from '../store/context.ts';
import { findKnown, isProbed, isUnchanged, type KnownFile } from '../store/known.ts';
import type { WalkedDirectory, WalkedFile } from '../walk/types.ts';
import type { Memory } from './memory.ts';
import type { Scan } from './scan.ts';

/** What became of one listed directory since it was last seen. */
export interface Compared {
  directory: WalkedDirectory;
  /** Its files without those that are passed over now. */
  files: WalkedFile[];
  known: Map<string, KnownFile>;
  /** Names of videos to be read: new, changed or to be probed again. */
  toRead: Set<string>;
  unchanged: number;
  returned: number;
  absent: KnownFile[];
  /** Directories below it that were there and are not. */
  vanished: string[];
  /** Something of it may still be written. */
  unsettled: boolean;
  /** Something of it could not be read. */
  unread: boolean;
  /** Its items are to be made again. */
  regroup: boolean;
}

/** Compares a batch of listed directories with the database: one query, whatever their number. */
export async function compare(
  scan: Scan,
  at: { folder: ScannedFolder; memory: Memory; regroup: boolean },
  listed: readonly WalkedDirectory[],
): Promise<Compared[]> {
  const { folder } = at;
  const rows = await findKnown(
    scan.work.db,
    folder.id,
    listed.map((directory) => directory.path),
  );
  const byDirectory = Map.groupBy(rows, (row) => row.directory);
  return listed.map((directory) => compareOne(scan, { ...at, directory, rows: byDirectory.get(directory.path) ?? [] }));
}

interface One {
  regroup: boolean;
  memory: Memory;
  folder: ScannedFolder;
  directory: WalkedDirectory;
  rows: readonly KnownFile[];
}

function compareOne(scan: Scan, { memory, folder, directory, rows, regroup }: One): Compared {
  const byName = new Map(rows.map((row) => [nameOf(row.path), row]));
  const compared: Compared = {
    directory,
    files: [],
    known: new Map(),
    toRead: new Set(),
    unchanged: 0,
    returned: 0,
    absent: [],
    vanished: memory.vanishedBelow(directory),
    unsettled: false,
    unread: false,
    regroup: regroup || memory.signatureOf(directory.path) !== directory.signature,
  };
  for (const file of directory.files) look(scan, { compared, memory, folder, file, before: byName.get(file.name) });
  const present = new Set(directory.files.map((file) => file.name));
  for (const [name, row] of byName) if (!present.has(name) && isNews(row)) compared.absent.push(row);
  compared.regroup ||= compared.toRead.size > 0 || compared.returned > 0 || compared.absent.length > 0;
  compared.regroup ||= rows.some((row) => row.moved);
  return compared;
}

/** Not missing yet, and neither marked by an earlier scan nor kept by an owner. */
function isNews(row: KnownFile): boolean {
  return row.missing_since === null && row.absent_scan === null && !row.absence_kept;
}

interface Look {
  compared: Compared;
  memory: Memory;
  folder: ScannedFolder;
  file: WalkedFile;
  before: KnownFile | undefined;
}

function look(scan: Scan, { compared, memory, folder, file, before }: Look): void {
  if (kindOf(file.name) !== 'video') {
    compared.files.push(file);
    return;
  }
  const path = compared.directory.path === '' ? file.name : `${compared.directory.path}/${file.name}`;
  if (before) lookAtKnown(scan, { compared, file, before });
  else if (scan.passedOver.has(`${folder.storageId} ${path}`)) scan.counts.ignored += 1;
  else if (memory.isFaulty(path, file)) scan.counts.unreadable += 1;
  else if (isFresh(scan, file)) compared.unsettled = true;
  else {
    compared.files.push(file);
    compared.toRead.add(file.name);
  }
}

function lookAtKnown(
  scan: Scan,
  { compared, file, before }: Pick<Look, 'compared' | 'file'> & { before: KnownFile },
): void {
  compared.files.push(file);
  compared.known.set(before.path, before);
  if (before.missing_since !== null || before.absent_scan !== null || before.absence_kept) compared.returned += 1;
  const same = isUnchanged(before, file);
  if (!same && isFresh(scan, file)) compared.unsettled = true;
  else if (!same || !isProbed(before) || scan.row.mode === 'deep') compared.toRead.add(file.name);
  else compared.unchanged += 1;
}

/** Written in the last seconds, or with a time to come. */
function isFresh(scan: Scan, file: WalkedFile): boolean {
  return (
    scan.options.settleMs > 0 && Date.now() - file.mtimeMs < scan.options.settleMs && file.mtimeMs - Date.now() < 60_000
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
