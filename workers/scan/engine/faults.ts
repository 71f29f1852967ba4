import type { Db } from '#platform/db.ts';
import type { ProbeFault } from '#platform/media.ts';
import { PROBE_VERSION } from '#workers/probe/probe.ts';
import { recordset, type ScannedFolder } from '../store/context.ts';
import type { Compared } from './compare.ts';
import type { Readings } from './read-files.ts';

/** Path of one of its files, inside the storage. */
export function pathIn({ directory }: Compared, name: string): string {
  return directory.path === '' ? name : `${directory.path}/${name}`;
}

/** Path of the directory that contains the file. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Files that changed while being read, or could not be read now, are read again later. */
export function noteUnread(compared: Compared, readings: Readings): void {
  const { path } = compared.directory;
  const unreadable = [...readings.faults].filter(([, { fault }]) => fault === 'unreadable');
  if ([...readings.postponed].some((file) => directoryOf(file) === path)) compared.unsettled = true;
  if (unreadable.some(([file]) => directoryOf(file) === path)) compared.unread = true;
}

/** Files that are no media are remembered and not probed again until they change. Unreadable files are tried again. */
export async function writeFaults(
  db: Db,
  folder: ScannedFolder,
  { part, readings }: { part: readonly { compared: Compared }[]; readings: Readings },
): Promise<void> {
  const known = new Map(part.map(({ compared }) => [compared.directory.path, compared.known]));
  const rows = [...readings.faults].flatMap(([path, { walked, ...found }]) => {
    if (!lasting(found.fault) || known.get(directoryOf(path))?.has(path.slice(path.lastIndexOf('/') + 1))) return [];
    const file = { size_bytes: walked.size, modified_ms: walked.mtimeMs, inode: walked.inode };
    return [{ path, ...file, ...found, probe_version: PROBE_VERSION }];
  });
  if (rows.length === 0) return;
  await db.raw(
    `insert into scan_faults (folder_id, path, size_bytes, modified_ms, inode, fault, detail, probe_version)
     select ?, r.* from jsonb_to_recordset(?::jsonb) as r(path text, size_bytes bigint, modified_ms double precision, inode text, fault text,
       detail text, probe_version int)
     on conflict (folder_id, path) do update set size_bytes = excluded.size_bytes, modified_ms = excluded.modified_ms, inode = excluded.inode,
       fault = excluded.fault, detail = excluded.detail, probe_version = excluded.probe_version`,
    [folder.id, recordset(rows)],
  );
}

function lasting(fault: ProbeFault): boolean {
  return fault !== 'unreadable' && fault !== 'link-outside';
}
