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

/** Files that are no media are remembered, so that they are not probed again until they change. What could not be read is tried again. */
export async function writeFaults(
  db: Db,
  folder: ScannedFolder,
  { part, readings }: { part: readonly { compared: Compared }[]; readings: Readings },
): Promise<void> {
  const rows = part.flatMap(({ compared }) =>
    compared.files.flatMap((file) => {
      const path = pathIn(compared, file.name);
      const found = readings.faults.get(path);
      if (!found || !lasting(found.fault) || compared.known.has(path)) return [];
      return [
        {
          path,
          size_bytes: file.size,
          modified_ms: file.mtimeMs,
          inode: file.inode,
          ...found,
          probe_version: PROBE_VERSION,
        },
      ];
    }),
  );
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
