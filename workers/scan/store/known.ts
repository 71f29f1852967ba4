import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { PROBE_VERSION } from '#workers/probe/probe.ts';
import type { WalkedFile } from '../walk/types.ts';
import { recordset } from './context.ts';

/** A file in the database. */
export interface KnownFile
  extends Pick<Row<'media_files'>, 'id' | 'path' | 'directory' | 'size_bytes' | 'modified_ms' | 'inode'>,
    Pick<Row<'media_files'>, 'missing_since' | 'absent_scan' | 'absence_kept' | 'probe_version' | 'probe_fault'>,
    Pick<Row<'media_files'>, 'folder_id' | 'item_id'>,
    Pick<Row<'items'>, 'parent_id' | 'grandparent_id'> {
  item_type: string;
  /**
   * It was elsewhere before and that place is empty now, its item is still in another library, or its row still names
   * another storage.
   */
  moved: boolean;
  /** The library in whose item a person put it; null when its name decides. */
  pinned_in: string | null;
}

const MOVED = `i.library_id <> f.library_id or f.storage_id <> (select lf.storage_id from library_folders lf where lf.id = f.folder_id) as moved`;
const COLUMNS = `f.id, f.path, f.directory, f.size_bytes, f.modified_ms, f.inode, f.missing_since, f.absent_scan, f.absence_kept, f.probe_version, f.probe_fault,
  f.folder_id, f.item_id, i.type as item_type, i.parent_id, i.grandparent_id,
  case when f.pinned then i.library_id end as pinned_in, ${MOVED}`;

/** All data of files that are about to be written. */
export async function findKnown(db: Db, ids: readonly string[]): Promise<KnownFile[]> {
  return rowsOf<KnownFile>(
    db,
    `select ${COLUMNS} from media_files f join items i on i.id = f.item_id where f.id = any(?::uuid[])`,
    [ids],
  );
}

/** The data that a listing is compared with: little, because a directory may contain very many files. */
export interface ListedFile
  extends Pick<Row<'media_files'>, 'id' | 'directory' | 'size_bytes' | 'modified_ms' | 'inode' | 'probe_version'> {
  name: string;
  /** Neither missing nor marked so by an earlier scan, and with an item. */
  there: boolean;
  /** As in `KnownFile`. */
  moved: boolean;
}

/** The known files in these directories. */
export async function findListed(db: Db, folderId: string, directories: readonly string[]): Promise<ListedFile[]> {
  return rowsOf<ListedFile>(
    db,
    `select f.id, f.directory, substr(f.path, case f.directory when '' then 1 else length(f.directory) + 2 end) as name, f.size_bytes,
       f.modified_ms, f.inode, f.probe_version, f.missing_since is null and f.absent_scan is null and not f.absence_kept as there, ${MOVED}
     from media_files f join items i on i.id = f.item_id where f.folder_id = ? and f.directory = any(?::text[])`,
    [folderId, directories],
  );
}

const SLACK_MS = 1000;

/** Unchanged means the same size, inode and time (within a second); the file is not opened then. */
export function isUnchanged(known: Pick<KnownFile, 'size_bytes' | 'modified_ms' | 'inode'>, file: WalkedFile): boolean {
  return (
    known.size_bytes === file.size &&
    Math.abs(known.modified_ms - file.mtimeMs) <= SLACK_MS &&
    known.inode === file.inode
  );
}

/** Whether the current probe version read it; an older one is probed again although the file did not change. */
export function isProbed(known: Pick<KnownFile, 'probe_version'>): boolean {
  return known.probe_version >= PROBE_VERSION;
}

export interface Candidate extends KnownFile, Pick<Row<'media_files'>, 'library_id' | 'storage_id'> {
  sampled_hash: Buffer;
}

/** Most copies of a file that are examined; a hundred equal ones show nothing about which one moved. */
const MOST_SAME = 20;

/** Most equal files from which the likeliest are chosen: a folder of empty files may contain thousands. */
const MOST_EQUAL = 200;

export interface Sought {
  size: number;
  /** Sampled hash in hex. */
  hash: string;
  /** Its name, which distinguishes equal candidates. */
  name: string;
}

/**
 * Files of the same content in libraries of the same type, for new files: one of them may have moved here. The
 * likeliest first.
 */
export async function findSame(
  db: Db,
  library: { id: string; key: string },
  files: readonly Sought[],
): Promise<Candidate[]> {
  if (files.length === 0) return [];
  return rowsOf<Candidate>(
    db,
    `select distinct on (same.id) same.* from jsonb_to_recordset(?::jsonb) as r(size bigint, hash text, name text),
       lateral (select ${COLUMNS}, f.library_id, f.storage_id, f.sampled_hash from media_files f join items i on i.id = f.item_id
         join libraries l on l.id = f.library_id and l.type = ? and l.deleted_at is null
         where f.id in (select e.id from media_files e where e.size_bytes = r.size and e.sampled_hash = decode(r.hash, 'hex') limit ${MOST_EQUAL})
         order by f.library_id <> ?, f.missing_since is null, f.absent_scan is null, right(f.path, length(r.name) + 1) <> '/' || r.name, f.id
         limit ${MOST_SAME}) same`,
    [recordset(files), library.key, library.id],
  );
}
