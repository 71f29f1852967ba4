// Files that wait for an analysis, and the state of those that had it.
import type { Db } from '#platform/db.ts';
import { type AnalysisName, analyses, marking } from './kinds.ts';

/** Present files of listed items in a library, on storages that are there, with a stream of the kind. */
const FILES = `
  from media_files m
  join items i on i.id = m.item_id
  join storages s on s.id = m.storage_id
  join library_folders f on f.id = m.folder_id
  where m.library_id = ? and m.missing_since is null and not m.ignored and m.duration_ms > 0 and i.trashed_at is null
    and s.enabled and s.state in ('available', 'degraded') and not f.away
    and exists (select from media_streams t where t.file_id = m.id and t.kind = ? and t.external_path is null
                and coalesce(t.probe ->> 'attachedPicture', 'false') = 'false')`;

/** Queues the files that lack the analysis, or have it of earlier content. Returns how many. */
export async function queueAnalysis(db: Db, name: AnalysisName, libraryId: string): Promise<number> {
  const { itemTypes, stream } = analyses[name];
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into analyses (file_id, name, size_bytes, modified_ms)
     select m.id, ?, m.size_bytes, m.modified_ms ${FILES}
       and (?::text[] is null or (i.type = any(?::text[]) and i.extra_of is null))
       and not (?::bool and m.markers_locked)
     on conflict (file_id, name) do update
       set state = 'queued', tries = 0, due_at = now(), job_id = null, at = now(),
         size_bytes = excluded.size_bytes, modified_ms = excluded.modified_ms
       where analyses.state <> 'queued'
         and (analyses.size_bytes, analyses.modified_ms) is distinct from (excluded.size_bytes, excluded.modified_ms)`,
    [name, libraryId, stream, ...types(itemTypes), marking.includes(name)],
  );
  return rowCount;
}

const types = (of: readonly string[] | undefined): (string[] | null)[] => {
  const list = of ? [...of] : null;
  return [list, list];
};

/** How many files of all libraries wait for an analysis. */
export async function countWaiting(db: Db): Promise<number> {
  const [row] = await db('analyses').where({ state: 'queued' }).count<{ count: string }[]>('* as count');
  return Number(row?.count ?? 0);
}

/** A file that a worker took. */
export interface Taken {
  fileId: string;
  sizeBytes: number;
  modifiedMs: number;
  /** How often it was taken before, and not heard of again. */
  tries: number;
}

export interface Taking {
  name: AnalysisName;
  /** Absent for all libraries. */
  libraryId: string | undefined;
  jobId: string;
}

/** How long a worker has for one file; after that another job takes it. */
const LEASE = '1 hour';

/** Takes the next file that is due; files that a lost worker of the same job had are due at once. */
export async function takeAnalysis(db: Db, { name, libraryId, jobId }: Taking): Promise<Taken | undefined> {
  const { rows } = await db.raw<{ rows: Taken[] }>(
    `update analyses a set due_at = now() + interval '${LEASE}', job_id = ?, tries = a.tries + 1 from (
       select q.file_id from analyses q join media_files f on f.id = q.file_id join items i on i.id = f.item_id
       where q.name = ? and q.state = 'queued' and (q.due_at <= now() or q.job_id = ?)
         and (?::uuid is null or f.library_id = ?::uuid)
       order by i.parent_id, i.parent_index, i.index_number, q.file_id limit 1 for update of q skip locked) due
     where a.file_id = due.file_id and a.name = ?
     returning a.file_id as "fileId", a.size_bytes as "sizeBytes", a.modified_ms as "modifiedMs", a.tries - 1 as tries`,
    [jobId, name, jobId, libraryId ?? null, libraryId ?? null, name],
  );
  return rows[0];
}

/** When the next file is due; undefined when none waits. */
export async function nextAnalysisDue(
  db: Db,
  { name, libraryId }: Omit<Taking, 'jobId'>,
): Promise<{ due: Date; waiting: number } | undefined> {
  const { rows } = await db.raw<{ rows: { due: Date | null; waiting: string }[] }>(
    `select min(a.due_at) as due, count(*) as waiting from analyses a join media_files f on f.id = a.file_id
     where a.name = ? and a.state = 'queued' and (?::uuid is null or f.library_id = ?::uuid)`,
    [name, libraryId ?? null, libraryId ?? null],
  );
  const [row] = rows;
  return row?.due ? { due: row.due, waiting: Number(row.waiting) } : undefined;
}

/** Ends the analysis of a file. False when it was withdrawn in the meantime: its result must not be stored. */
export async function endAnalysis(
  db: Db,
  { name, fileId, sizeBytes, modifiedMs }: Taken & { name: AnalysisName },
  state: 'done' | 'not-found',
): Promise<boolean> {
  const changed = await db('analyses')
    .where({ file_id: fileId, name, state: 'queued', size_bytes: sizeBytes, modified_ms: modifiedMs })
    .update({ state, at: db.raw('now()'), job_id: null, tries: 0 });
  return changed > 0;
}

/** Ends the analysis of further files that were read together with one. */
export async function endAnalysesOf(
  db: Db,
  name: AnalysisName,
  { done, all }: { done: readonly string[]; all: readonly string[] },
): Promise<void> {
  await db.raw(
    `update analyses set state = case when file_id = any(?::uuid[]) then 'done' else 'not-found' end, at = now(),
       job_id = null, tries = 0
     where name = ? and file_id = any(?::uuid[])`,
    [[...done], name, [...all]],
  );
}

/** Gives a file back, to be taken in so many minutes; `tries` is how often it was tried in vain. */
export async function putOffAnalysis(
  db: Db,
  { name, fileId, tries }: Pick<Taken, 'fileId' | 'tries'> & { name: AnalysisName },
  minutes: number,
): Promise<void> {
  await db('analyses')
    .where({ file_id: fileId, name, state: 'queued' })
    .update({ due_at: db.raw('now() + make_interval(mins => ?)', [minutes]), job_id: null, tries });
}

/** Forgets an analysis of a library: its files lack it again, and none waits for it. */
export async function forgetAnalysis(db: Db, name: AnalysisName, libraryId: string): Promise<void> {
  await db('analyses')
    .where({ name })
    .whereIn('file_id', db('media_files').where({ library_id: libraryId }).select('id'))
    .delete();
}

/** Files lack the analysis again, so that the next request queues them. */
export async function forgetAnalysesOf(
  db: Db,
  fileId: string,
  names: readonly AnalysisName[] = marking,
): Promise<void> {
  await db('analyses')
    .where({ file_id: fileId })
    .whereIn('name', [...names])
    .delete();
}

/** States of the analyses of files, by file. */
export async function analysesOf(
  db: Db,
  fileIds: readonly string[],
): Promise<{ fileId: string; name: AnalysisName; state: 'queued' | 'done' | 'not-found'; at: Date }[]> {
  const rows = await db('analyses')
    .whereIn('file_id', [...fileIds])
    .orderBy('name')
    .select('file_id', 'name', 'state', 'at');
  return rows.map((row) => ({ fileId: row.file_id, name: row.name, state: row.state, at: row.at }));
}
