import { hash } from 'node:crypto';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { Breath } from '../breath.ts';
import { isMedia } from '../names/media.ts';
import type { ScannedFolder } from '../store/context.ts';
import { findListed, isProbed, isUnchanged, type ListedFile } from '../store/known.ts';
import type { WalkedDirectory, WalkedFile } from '../walk/types.ts';
import { readFingerprints } from './fingerprints.ts';
import type { Memory } from './memory.ts';
import type { Readings } from './read-files.ts';
import type { Scan } from './scan.ts';

/** Changes in a listed directory since its last listing. */
export interface Compared {
  directory: WalkedDirectory;
  /** Its files without ignored ones. */
  files: WalkedFile[];
  /** Known media files by name. */
  known: Map<string, ListedFile>;
  /** Names of media files to read: new, changed or due for another probe. */
  toRead: Set<string>;
  unchanged: number;
  returned: number;
  /** Ids of the rows whose files are absent now. */
  absent: string[];
  /** Subdirectories that no longer exist. */
  vanished: string[];
  /** Some of its files may still be being written. */
  unsettled: boolean;
  /** Some of it could not be read. */
  unread: boolean;
  /** Signature of everything that its items are made of. */
  signature: string;
  /** Its items are grouped again. */
  regroup: boolean;
  /** Its pictures or NFO files changed. */
  sidecars: boolean;
  /** Fingerprints of the items written last time. */
  written: ReadonlySet<string>;
  /** Fingerprints of its items now. */
  made: string[];
  /** Files that were read before the directory was grouped. */
  early?: Readings;
  /** The show that its pictures describe, before and now. */
  show: { before: string | null; now: string | null };
}

interface At {
  folder: ScannedFolder;
  memory: Memory;
  regroup: boolean;
}

/** Compares a batch of listed directories with the database in two queries, whatever their number. */
export async function compare(scan: Scan, at: At, listed: readonly WalkedDirectory[]): Promise<Compared[]> {
  const paths = listed.map((directory) => directory.path);
  const rows = Map.groupBy(await findListed(scan.work.db, at.folder.id, paths), (row) => row.directory);
  const before = new Map((await writtenIn(scan, at.folder, paths)).map((row) => [row.path, row]));
  const breath = new Breath();
  const all: Compared[] = [];
  for (const directory of listed) {
    const own = rows.get(directory.path) ?? [];
    all.push(await compareOne(scan, { ...at, directory, rows: own, before: before.get(directory.path), breath }));
  }
  return all;
}

type WrittenRow = Pick<Row<'scan_directories'>, 'path' | 'signature' | 'drafts' | 'show_key'>;

async function writtenIn({ work }: Scan, folder: ScannedFolder, paths: readonly string[]): Promise<WrittenRow[]> {
  return rowsOf<WrittenRow>(
    work.db,
    'select path, signature, drafts, show_key from scan_directories where folder_id = ? and path = any(?::text[])',
    [folder.id, paths],
  );
}

interface One extends At {
  directory: WalkedDirectory;
  rows: readonly ListedFile[];
  before: WrittenRow | undefined;
  breath: Breath;
}

async function compareOne(scan: Scan, one: One): Promise<Compared> {
  const { memory, folder, directory, rows, before, breath } = one;
  const byName = new Map(rows.map((row) => [row.name, row]));
  const compared = newCompared(one);
  for (const file of directory.files) {
    look(scan, { compared, memory, folder, file, before: byName.get(file.name) });
    if (breath.isDue) await breath.take();
  }
  const present = new Set(directory.files.map((file) => file.name));
  for (const [name, row] of byName) if (!present.has(name) && row.there) compared.absent.push(row.id);
  compared.signature = `${directory.signature} ${namesOf(scan, compared.files)}`;
  compared.regroup ||= before?.signature !== compared.signature || hasNews(compared, rows);
  return compared;
}

function hasNews({ toRead, returned }: Compared, rows: readonly ListedFile[]): boolean {
  return toRead.size > 0 || returned > 0 || rows.some((row) => row.moved);
}

function newCompared({ memory, directory, before, regroup }: One): Compared {
  const again = regroup || !before?.drafts || partsOf(before.signature)[0] !== partsOf(directory.signature)[0];
  return {
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
    signature: '',
    regroup: again,
    sidecars: partsOf(before?.signature)[1] !== partsOf(directory.signature)[1],
    written: again ? new Set() : readFingerprints(before?.drafts),
    made: [],
    show: { before: before?.show_key ?? null, now: null },
  };
}

/** Media files are compared by name; sidecars by the signature of the walk. */
function namesOf({ library }: Scan, files: readonly WalkedFile[]): string {
  const names = files.map(({ name }) => name).filter((name) => isMedia(library.type, name));
  return hash('sha256', names.join('\n'), 'base64url').slice(0, 22);
}

/** The version, and the signature of the sidecars. */
function partsOf(signature = ''): string[] {
  return signature.split(' ');
}

interface Look {
  compared: Compared;
  memory: Memory;
  folder: ScannedFolder;
  file: WalkedFile;
  before: ListedFile | undefined;
}

function look(scan: Scan, { compared, memory, folder, file, before }: Look): void {
  if (!isMedia(scan.library.type, file.name)) {
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
  { compared, file, before }: Pick<Look, 'compared' | 'file'> & { before: ListedFile },
): void {
  compared.files.push(file);
  compared.known.set(file.name, before);
  if (!before.there) compared.returned += 1;
  const same = isUnchanged(before, file);
  if (!same && isFresh(scan, file)) compared.unsettled = true;
  else if (!same || !isProbed(before) || scan.row.mode === 'deep') compared.toRead.add(file.name);
  else compared.unchanged += 1;
}

/** Whether it was modified in the last seconds, or has a time in the future. */
function isFresh(scan: Scan, file: WalkedFile): boolean {
  return (
    scan.options.settleMs > 0 && Date.now() - file.mtimeMs < scan.options.settleMs && file.mtimeMs - Date.now() < 60_000
  );
}
