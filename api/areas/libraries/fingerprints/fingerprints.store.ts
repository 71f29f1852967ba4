// Files that wait for a fingerprint, and those that have one.
import type { Db } from '#platform/db.ts';
import { type FingerprintKind, fingerprints, MOST_DISTANCE } from './kinds.ts';

/** Queues the files without a fingerprint of the current version and content; all of them with `redo`. */
export async function queueFingerprints(
  db: Db,
  libraryId: string,
  { kind, redo }: { kind: FingerprintKind; redo: boolean },
): Promise<number> {
  const { version, applies } = fingerprints[kind];
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into fingerprints (file_id, kind, version, size_bytes, modified_ms)
     select m.id, ?, ?, m.size_bytes, m.modified_ms from media_files m
     join items i on i.id = m.item_id join storages s on s.id = m.storage_id join library_folders f on f.id = m.folder_id
     where m.library_id = ? and m.missing_since is null and not m.ignored and i.trashed_at is null
       and s.enabled and s.state in ('available', 'degraded') and not f.away and ${applies}
     on conflict (file_id, kind) do update
       set state = 'queued', version = excluded.version, size_bytes = excluded.size_bytes,
         modified_ms = excluded.modified_ms, hash = null, bands = null, print = null, content = null,
         job_id = null, tries = 0, due_at = now(), at = now()
       where fingerprints.state <> 'queued' and (?::bool
         or (fingerprints.version, fingerprints.size_bytes, fingerprints.modified_ms)
            is distinct from (excluded.version, excluded.size_bytes, excluded.modified_ms))`,
    [kind, version, libraryId, redo],
  );
  return rowCount;
}

export interface TakenFile {
  fileId: string;
  kind: FingerprintKind;
  /** How often it was taken before, and not heard of again. */
  tries: number;
}

/** Takes the next file that is due; files that a lost worker of the same job had are due at once. */
export async function takeFile(
  db: Db,
  { libraryId, jobId }: { libraryId: string | undefined; jobId: string },
): Promise<TakenFile | undefined> {
  const { rows } = await db.raw<{ rows: TakenFile[] }>(
    `update fingerprints p set due_at = now() + interval '1 hour', job_id = ?, tries = p.tries + 1 from (
       select q.file_id, q.kind from fingerprints q join media_files m on m.id = q.file_id
       where q.state = 'queued' and (q.due_at <= now() or q.job_id = ?) and (?::uuid is null or m.library_id = ?::uuid)
       order by q.kind, q.due_at, q.file_id limit 1 for update of q skip locked) due
     where p.file_id = due.file_id and p.kind = due.kind
     returning p.file_id as "fileId", p.kind, p.tries - 1 as tries`,
    [jobId, jobId, libraryId ?? null, libraryId ?? null],
  );
  return rows[0];
}

/** When the next file is due; undefined when none waits. */
export async function nextFileDue(
  db: Db,
  libraryId: string | undefined,
): Promise<{ due: Date; waiting: number } | undefined> {
  const { rows } = await db.raw<{ rows: { due: Date | null; waiting: string }[] }>(
    `select min(p.due_at) as due, count(*) as waiting from fingerprints p join media_files m on m.id = p.file_id
     where p.state = 'queued' and (?::uuid is null or m.library_id = ?::uuid)`,
    [libraryId ?? null, libraryId ?? null],
  );
  const [row] = rows;
  return row?.due ? { due: row.due, waiting: Number(row.waiting) } : undefined;
}

export async function putOffFile(db: Db, { fileId, kind }: TakenFile, minutes: number): Promise<void> {
  await db('fingerprints')
    .where({ file_id: fileId, kind, state: 'queued' })
    .update({ due_at: db.raw('now() + make_interval(mins => ?)', [minutes]), job_id: null, tries: 0 });
}

export interface Print {
  /** 16 hexadecimal digits. */
  hash?: string;
  /** Chromaprint of a sound. */
  print?: Buffer;
  content?: Buffer;
}

/** Ends a file, with its fingerprint or without one. */
export async function savePrint(db: Db, { fileId, kind }: TakenFile, made: Print | undefined): Promise<void> {
  const { hash, print, content } = made ?? {};
  await db('fingerprints')
    .where({ file_id: fileId, kind })
    .update({
      ...{ state: made ? 'done' : 'failed', at: db.raw('now()'), job_id: null, tries: 0 },
      ...{ print: print ?? null, content: content ?? null },
      hash: hash === undefined ? null : db.raw(`('x' || ?)::bit(64)::bigint`, [hash]),
      bands: hash === undefined ? null : bandsOf(hash),
    });
}

/** The four bands of 16 bits, each with its number above them. */
export const bandsOf = (hash: string): number[] =>
  [0, 1, 2, 3].map((band) => (band << 16) | Number.parseInt(hash.slice(band * 4, band * 4 + 4), 16));

/** Differing bits of 16 for which the others are at most two: masks of none, one and two bits. */
const MASKS = [0, ...Array.from({ length: 16 }, (_, i) => 1 << i)].flatMap((one, i, all) =>
  i === 0 ? [0] : [one, ...all.slice(1, i).map((other) => one | other)],
);

/**
 * Files whose hash differs in at most eight bits: one of four bands then differs in at most two, so that an index over the
 * bands finds every one.
 */
export async function nearHashes(
  db: Db,
  { fileId, kind }: TakenFile,
  hash: string,
): Promise<{ fileId: string; distance: number; print: Buffer | null }[]> {
  const probes = bandsOf(hash).flatMap((band) => MASKS.map((mask) => band ^ mask));
  const { rows } = await db.raw<{ rows: { fileId: string; distance: number; print: Buffer | null }[] }>(
    `select * from (select p.file_id as "fileId", p.print,
       bit_count((p.hash # ('x' || ?)::bit(64)::bigint)::bit(64))::int as distance
     from fingerprints p where p.kind = ? and p.state = 'done' and p.bands && ?::int[] and p.file_id <> ?) near
     where distance <= ${MOST_DISTANCE}`,
    [hash, kind, probes, fileId],
  );
  return rows;
}

/** Replaces the pairs of a file. */
export async function savePairs(
  db: Db,
  { fileId, kind }: TakenFile,
  near: readonly { fileId: string; distance: number }[],
): Promise<void> {
  await db('near_files')
    .where({ kind })
    .where((query) => query.where({ one: fileId }).orWhere({ other: fileId }))
    .delete();
  if (near.length === 0) return;
  await db('near_files').insert(
    near.map(({ fileId: id, distance }) => {
      const [one, other] = [fileId, id].sort() as [string, string];
      return { kind, one, other, distance };
    }),
  );
}

/** Other files of the size and the sampled hash of a file, in any library. */
export async function twinsOf(db: Db, fileId: string): Promise<{ id: string; hashed: boolean }[]> {
  const { rows } = await db.raw<{ rows: { id: string; hashed: boolean }[] }>(
    `select t.id, coalesce(p.content is not null and p.size_bytes = t.size_bytes and p.modified_ms = t.modified_ms, false) as hashed
     from media_files m join media_files t on t.size_bytes = m.size_bytes and t.sampled_hash = m.sampled_hash and t.id <> m.id
     left join fingerprints p on p.file_id = t.id and p.kind = 'content'
     where m.id = ? and m.sampled_hash is not null and t.missing_since is null and not t.ignored`,
    [fileId],
  );
  return rows;
}
