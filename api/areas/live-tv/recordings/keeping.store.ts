// Reads for the clean-up of finished recordings.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Keepable } from './keeping.ts';
import type { RecordingRow } from './recordings.store.ts';

/** The file of a recording among those of its item. */
export interface OwnFile {
  itemId: string;
  /** null when the item has none. */
  fileId: string | null;
  /** Files of the item. */
  files: number;
}

interface Facts {
  id: string;
  ruleId: string | null;
  keepLast: number | null;
  keepDays: number | null;
  startAt: Date;
  endedAt: Date;
  isWhole: boolean;
  hasItem: boolean;
  isWatched: boolean;
  mayMove: boolean;
}

/** Of the files of its item the one at the place where it was written. */
const OWN = `select m.id, m.folder_id, m.storage_id, m.missing_since, count(*) over ()::int as files
  from media_files m left join library_folders d on d.id = m.folder_id
  where m.item_id = r.item_id and not m.ignored
  order by (m.folder_id = r.file_folder_id and m.path = ltrim(d.path || '/' || r.file_path, '/')) desc nulls last, m.id`;

/** False when no file of the item is at that place: it was moved or split off, and the files that are left may be the household's own. */
const IS_CERTAIN = `exists (select from media_files m join library_folders d on d.id = m.folder_id
  where m.id = own.id and m.folder_id = r.file_folder_id and m.path = ltrim(d.path || '/' || r.file_path, '/'))`;

/** Finished recordings in the list that have days, or whose rule keeps a number; or one of them. */
export async function findKeepable(db: Db, id?: string): Promise<Keepable[]> {
  const rows = await rowsOf<Facts>(
    db,
    `select r.id, r.rule_id as "ruleId", q.keep_last as "keepLast", r.keep_days as "keepDays", r.start_at as "startAt",
            coalesce(r.ended_at, r.end_at) as "endedAt", r.state <> 'failed' as "isWhole", i.id is not null as "hasItem",
            exists (select from playback_sessions p where p.item_id = r.item_id and p.state <> 'stopped') as "isWatched",
            coalesce(l.settings ->> 'fileDeletion' = 'true' and own.missing_since is null and ${IS_CERTAIN}
              and s.enabled and not s.read_only and s.state in ('available', 'degraded'), false) as "mayMove"
       from recordings r
       join libraries l on l.id = r.library_id
       left join recording_rules q on q.id = r.rule_id
       left join items i on i.id = r.item_id and i.trashed_at is null
       left join lateral (${OWN} limit 1) own on true
       left join storages s on s.id = own.storage_id
      where r.finished_at is not null and r.removed_at is null and (r.keep_days is not null or q.keep_last is not null)
        and (?::uuid is null or r.id = ?)`,
    [id ?? null, id ?? null],
  );
  return rows.map(({ isWhole, hasItem, isWatched, mayMove, ...row }) => ({
    ...row,
    counts: isWhole && hasItem,
    mayGo: !hasItem || (mayMove && !isWatched),
  }));
}

/** Undefined when the item of a recording is gone, or when it is not certain which of its files is the recording. */
export async function findOwnFile(db: Db, { id }: Pick<RecordingRow, 'id'>): Promise<OwnFile | undefined> {
  const [row] = await rowsOf<OwnFile>(
    db,
    `select r.item_id as "itemId", own.id as "fileId", coalesce(own.files, 0) as files
       from recordings r join items i on i.id = r.item_id and i.trashed_at is null
       left join lateral (${OWN} limit 1) own on true
      where r.id = ? and (own.id is null or ${IS_CERTAIN})`,
    [id],
  );
  return row;
}

/** Takes a recording from the list. The row stays without its rule and its days: rules read in it which episode was recorded. */
export async function expireRecording(db: Db, id: string): Promise<void> {
  const columns = { removed_at: db.fn.now(), expired_at: db.fn.now(), updated_at: db.fn.now() };
  await db('recordings')
    .where({ id })
    .update({ ...columns, rule_id: null, keep_days: null });
}

export interface Expired {
  itemId: string;
  libraryId: string;
  sizeBytes: number;
}

/** Items in the trash that the clean-up put there, with files on a storage, the oldest recordings first. */
export async function findExpired(db: Db, storageId: string): Promise<Expired[]> {
  return rowsOf<Expired>(
    db,
    `select i.id as "itemId", i.library_id as "libraryId", sum(t.size_bytes)::float8 as "sizeBytes"
       from recordings r
       join items i on i.id = r.item_id and i.trashed_at = r.expired_at and i.trash_reason = 'deleted'
       join media_files f on f.item_id = i.id
       join trashed_files t on t.file_id = f.id and t.wanted = 'trash' and t.storage_id = ?
      where r.expired_at is not null
      group by i.id, i.library_id order by min(r.start_at), i.id`,
    [storageId],
  );
}

/** Bytes on a storage that a job is about to delete. */
export async function bytesOnTheirWayOut(db: Db, storageId: string): Promise<number> {
  const [row] = await rowsOf<{ bytes: number }>(
    db,
    `select coalesce(sum(size_bytes), 0)::float8 as bytes from trashed_files
      where storage_id = ? and wanted = 'none' and settled_at is null`,
    [storageId],
  );
  return row?.bytes ?? 0;
}
