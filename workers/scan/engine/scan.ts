import type { Looks } from '#areas/storage/public.ts';
import type { Work } from '#workers/work.ts';
import type { ScannedFolder, ScannedLibrary } from '../store/context.ts';
import type { Doubted } from '../store/doubts.ts';
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

export interface ScanRow {
  id: string;
  library_id: string;
  job_id: string | null;
  state: string;
  mode: 'quick' | 'full' | 'deep';
  targets: Target[] | null;
  include_ignored: boolean;
  cancel_requested: boolean;
  counts: Partial<Counts>;
  resumes: number;
  stalls: number;
  started_at: Date | null;
}

export interface ScanOptions {
  /** A file whose time is newer than this is looked at again later: it may still be written. */
  settleMs: number;
  /** Files read at once. */
  concurrency: number;
}

/** One running scan: what every step of it needs. */
export interface Scan {
  row: ScanRow;
  work: Work;
  library: ScannedLibrary;
  folders: ScannedFolder[];
  /** Written in every transaction: a worker that lost the scan to another writes nothing more. */
  token: string;
  signal: AbortSignal;
  counts: Counts;
  states: FolderState[];
  /** Paths that a purge left a mark for. */
  passedOver: ReadonlySet<string>;
  options: ScanOptions;
  /** Into folders of other libraries, of which one may hang. */
  looks: Looks;
  tops: LibraryTops;
  /** Directories of this library that are to be written again, since their items changed elsewhere. */
  doubted: Doubted[];
  /** Directories with files that are perhaps still being written. */
  unsettled: { folder: ScannedFolder; directory: string }[];
}

/** Another worker runs this scan now. */
export class LeaseLost extends Error {}

/** Somebody asked to stop it. */
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
  // A resume lists again from the start; what was added, changed, moved and missed before stays counted.
  const { added = 0, updated = 0, moved = 0, returned = 0, missing = 0, probed = 0 } = before;
  return { ...zero, ...more, added, updated, moved, returned, missing, probed };
}
