import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { PROBE_VERSION } from '#workers/probe/probe.ts';
import { recordset, type ScannedFolder } from '../store/context.ts';
import type { KnownDirectory, WalkedDirectory, WalkedFile } from '../walk/types.ts';

type DirectoryRow = Pick<Row<'scan_directories'>, 'path' | 'modified_ms' | 'files' | 'content'>;

/** A directory to remember. */
export interface Kept {
  directory: WalkedDirectory;
  unsettled: boolean;
  vanished: readonly string[];
  /** Signatures of the written items; absent if they did not change. */
  written?: { signature: string; drafts: string; show_key: string | null };
}

type FaultRow = Pick<Row<'scan_faults'>, 'path' | 'size_bytes' | 'modified_ms' | 'inode'>;

/** A directory modified this recently is listed again next time: its time may hide a change in the same moment. */
const RACY_MS = 2000;

/** What earlier scans know about a folder: a row for each directory, and the files that turned out to be no media. */
export class Memory {
  readonly #folderId: string;
  readonly #directories: Map<string, DirectoryRow>;
  /** Names of known subdirectories by path, including the parents of a directory that was listed alone. */
  readonly expected = new Map<string, Set<string>>();
  readonly #faults: Map<string, FaultRow>;

  private constructor(
    { id, path: top }: Pick<ScannedFolder, 'id' | 'path'>,
    { directories, faults, unlisted }: { directories: DirectoryRow[]; faults: FaultRow[]; unlisted: string[] },
  ) {
    this.#folderId = id;
    this.#directories = new Map(directories.map((row) => [row.path, row]));
    this.#faults = new Map(faults.map((row) => [row.path, row]));
    for (const path of [...this.#directories.keys(), ...unlisted]) this.#expect(path, top);
  }

  /** From the path up to the folder, or to a known parent. */
  #expect(path: string, top: string): void {
    for (let at = path; at !== top && at !== ''; ) {
      const [parent, name] = split(at);
      const names = this.expected.get(parent) ?? new Set();
      if (names.has(name)) return;
      this.expected.set(parent, names.add(name));
      at = parent;
    }
  }

  static async load(db: Db, folder: Pick<ScannedFolder, 'id' | 'path'>): Promise<Memory> {
    const directories = await db('scan_directories')
      .where({ folder_id: folder.id })
      .select('path', 'modified_ms', 'files', 'content');
    const faults = await db('scan_faults')
      .where({ folder_id: folder.id })
      .where('probe_version', '>=', PROBE_VERSION)
      .select('path', 'size_bytes', 'modified_ms', 'inode');
    const unlisted = await rowsOf<{ directory: string }>(
      db,
      `select distinct f.directory from media_files f where f.folder_id = ? and f.missing_since is null and f.absent_scan is null
         and not exists (select from scan_directories d where d.folder_id = f.folder_id and d.path = f.directory)`,
      [folder.id],
    );
    return new Memory(folder, { directories, faults, unlisted: unlisted.map((row) => row.directory) });
  }

  /** For the walk, which returns only directories that differ. */
  get known(): Map<string, KnownDirectory> {
    const faults = Map.groupBy(this.#faults.keys(), (path) => split(path)[0]);
    return new Map(
      [...this.#directories].map(([path, row]) => [
        path,
        { modifiedMs: row.modified_ms, media: row.files, faults: faults.get(path)?.length ?? 0, content: row.content },
      ]),
    );
  }

  get isEmpty(): boolean {
    return this.#directories.size === 0;
  }

  /** Paths of directories that were in this one and are not listed in it now. */
  vanishedBelow(directory: WalkedDirectory): string[] {
    const now = new Set(directory.directories);
    const gone = [...(this.expected.get(directory.path) ?? [])].filter((name) => !now.has(name));
    return gone.map((name) => (directory.path === '' ? name : `${directory.path}/${name}`));
  }

  /** These paths and all known directories below them. */
  within(paths: readonly string[]): string[] {
    const all = [...paths];
    for (let i = 0; i < all.length; i += 1) {
      const path = all[i] ?? '';
      for (const name of this.expected.get(path) ?? []) all.push(path === '' ? name : `${path}/${name}`);
    }
    return all;
  }

  isFaulty(path: string, file: WalkedFile): boolean {
    const fault = this.#faults.get(path);
    return (
      fault !== undefined &&
      fault.size_bytes === file.size &&
      fault.inode === file.inode &&
      Math.abs(fault.modified_ms - file.mtimeMs) <= 1000
    );
  }

  /** Writes rows of changed directories; an unsettled one is marked to be listed again. */
  async keep(db: Db, seen: readonly Kept[]): Promise<void> {
    const changed = seen.map((one) => ({ ...rowOf(one), ...one.written })).filter((row) => !this.#isSame(row));
    if (changed.length > 0) {
      await db.raw(
        `insert into scan_directories as d (folder_id, path, modified_ms, files, content, signature, drafts, show_key)
         select ?, r.path, r.modified_ms, r.files, r.content, coalesce(r.signature, ''), decode(r.drafts, 'hex'), r.show_key
         from jsonb_to_recordset(?::jsonb) as r(path text, modified_ms double precision, files int, content text, signature text, drafts text,
           show_key text)
         on conflict (folder_id, path) do update set files = excluded.files,
           modified_ms = case when coalesce(excluded.drafts, d.drafts) is null then d.modified_ms else excluded.modified_ms end,
           content = case when coalesce(excluded.drafts, d.drafts) is null then d.content else excluded.content end,
           (signature, drafts, show_key) = (select case when excluded.drafts is null then d.signature else excluded.signature end,
             coalesce(excluded.drafts, d.drafts), case when excluded.drafts is null then d.show_key else excluded.show_key end)`,
        [this.#folderId, recordset(changed)],
      );
    }
    await this.#forget(
      db,
      seen.flatMap((one) => one.vanished),
    );
  }

  #isSame(row: DirectoryRow & { drafts?: string }): boolean {
    const known = this.#directories.get(row.path);
    const members = ['modified_ms', 'files', 'content'] as const;
    return row.drafts === undefined && members.every((member) => known?.[member] === row[member]);
  }

  /** Marks the parents of these directories to be listed again. */
  async doubtParents(db: Db, paths: readonly string[]): Promise<void> {
    await rowsOf(
      db,
      `update scan_directories set content = '', modified_ms = -1 where folder_id = ? and path = any(?::text[])`,
      [this.#folderId, [...new Set(paths.map((path) => split(path)[0]))]],
    );
  }

  async #forget(db: Db, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    await rowsOf(db, 'delete from scan_directories where folder_id = ? and path = any(?::text[])', [
      this.#folderId,
      this.within(paths),
    ]);
  }
}

function split(path: string): [parent: string, name: string] {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)];
}

function rowOf({ directory, unsettled }: Kept): DirectoryRow {
  const certain = !unsettled && Date.now() - directory.modifiedMs > RACY_MS;
  return {
    path: directory.path,
    modified_ms: certain ? directory.modifiedMs : -1,
    files: directory.media,
    content: unsettled ? '' : directory.content,
  };
}

/**
 * Marks the files of vanished directories as missing, in the caller's transaction. Returns everything below them too.
 */
export async function markVanished(
  db: Db,
  at: { folderId: string; scanId: string },
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0) return;
  await rowsOf(
    db,
    `update media_files f set absent_scan = ? where f.folder_id = ? and f.directory = any(?::text[])
       and f.missing_since is null and f.absent_scan is null and not f.absence_kept`,
    [at.scanId, at.folderId, paths],
  );
}
