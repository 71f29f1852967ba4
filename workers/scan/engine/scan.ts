import type { Looks } from '#areas/storage/public.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Work } from '#workers/work.ts';
import type { ScannedFolder, ScannedLibrary } from '../store/context.ts';
import type { Doubted } from '../store/doubts.ts';
import type { SavedFiles } from '../store/saved-files.ts';
import type { LibraryTops } from './library-tops.ts';

export interface Counts {
  directories: number;
  directoriesSkipped: number;
  found: number;
  total: number;
  done: number;
  unchanged: number;
  added: number;
  updated: number;
  moved: number;
  returned: number;
  missing: number;
  unreadable: number;
  ignored: number;
  probed: number;
}

export type FolderReason =
  | 'storage-unavailable'
  | 'storage-suspect'
  | 'storage-disabled'
  | 'empty-root'
  | 'guard'
  | 'epoch-changed'
  | 'cancelled';

export interface FolderState {
  folderId: string;
  state: 'waiting' | 'listed' | 'skipped' | 'interrupted' | 'held' | 'listing';
  reason?: FolderReason;
  files: number;
  missing: number;
}

export interface Target {
  folderId: string;
  path?: string | undefined;
}

export type ScanRow = Row<'scans'>;

export interface ScanOptions {
  /** A file modified more recently than this is read again later, because it may still be being written. */
  settleMs: number;
  /** Files read at once. */
  concurrency: number;
}

/** One running scan: the data that every step needs. */
export interface Scan {
  row: ScanRow;
  work: Work;
  library: ScannedLibrary;
  folders: ScannedFolder[];
  /** Checked in every transaction: a worker that lost the scan writes nothing more. */
  token: string;
  signal: AbortSignal;
  counts: Counts;
  states: FolderState[];
  /** Paths that a purge marked as ignored. */
  passedOver: ReadonlySet<string>;
  options: ScanOptions;
  /** File system checks in folders of other libraries, each of which may hang. */
  looks: Looks;
  tops: LibraryTops;
  /** Whether reading several files together took too long. */
  together: { isSlow: boolean };
  /** What Foyer wrote next to media. */
  saved: SavedFiles;
  /** Directories of this library to write again, because their items changed elsewhere. */
  doubted: Doubted[];
  /** Directories with files that may still be being written. */
  unsettled: { folder: ScannedFolder; directory: string }[];
}

/** Another worker runs this scan now. */
export class LeaseLost extends Error {}

/** Cancellation was requested. */
export class Cancelled extends Error {}

export function newCounts(before: Partial<Counts> = {}): Counts {
  const zero = {
    directories: 0,
    directoriesSkipped: 0,
    found: 0,
    total: 0,
    done: 0,
    unchanged: 0,
    added: 0,
    updated: 0,
  };
  const more = { unreadable: 0, ignored: 0 };
  // A resumed scan lists again from the start; the counts of added, changed, moved and missing files stay.
  const { added = 0, updated = 0, moved = 0, returned = 0, missing = 0, probed = 0 } = before;
  return { ...zero, ...more, added, updated, moved, returned, missing, probed };
}
