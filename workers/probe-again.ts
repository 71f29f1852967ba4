import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { addToLibraries, measure, nextChange, rollUpItems, withParents } from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { baseOf } from '#platform/own-types.ts';
import type { Row } from '#platform/typed-query.ts';
import { type Probed, ProbeError, probeFile } from './probe/probe.ts';
import { sampledHash } from './probe/sampled-hash.ts';
import { emitItems, enqueueReading } from './scan/engine/item-events.ts';
import { rulesOf } from './scan/group/index.ts';
import { type Read, replaceContent } from './scan/store/files.ts';
import { isProbed, isUnchanged } from './scan/store/known.ts';
import type { WalkedFile } from './scan/walk/types.ts';
import type { Work } from './work.ts';

/** A file's row as it was last read. */
export type FileRow = Pick<
  Row<'media_files'>,
  | 'id'
  | 'item_id'
  | 'library_id'
  | 'storage_id'
  | 'path'
  | 'probe'
  | 'probe_fault'
  | 'probe_version'
  | 'size_bytes'
  | 'modified_ms'
  | 'inode'
>;

/**
 * Probes a file that no scan has read, or that changed, because a user waits to play it. A file that changes while
 * being read is left to the scan. True when the row was written.
 */
export async function probeAgain(work: Work, row: FileRow, absolute: string): Promise<boolean> {
  const walked = await walkedOf(absolute);
  if (!walked || (isRead(row) && isUnchanged(row, walked))) return false;
  const read = await readFile(work, { absolute, walked, libraryId: row.library_id });
  const after = await walkedOf(absolute);
  if (after?.size !== walked.size || after.mtimeMs !== walked.mtimeMs) return false;
  await work.db.transaction((db) => write(work, db, { row, walked, read }));
  return true;
}

function isRead(row: FileRow): boolean {
  return (row.probe !== null || row.probe_fault !== null) && isProbed(row);
}

async function walkedOf(absolute: string): Promise<WalkedFile | undefined> {
  const found = await lstat(absolute).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  return { name: basename(absolute), size: found.size, mtimeMs: found.mtimeMs, inode: String(found.ino) };
}

interface Readable {
  absolute: string;
  walked: WalkedFile;
  libraryId: string;
}

async function readFile({ db, signal }: Work, { absolute, walked, libraryId }: Readable): Promise<Read> {
  const { hash } = await sampledHash(absolute, walked.size);
  const library = await db('libraries').where({ id: libraryId }).first('type', 'own_type');
  try {
    const probed: Probed = await probeFile(absolute, { signal, as: rulesOf(library ? baseOf(library) : '')?.readAs });
    return { hash, probed };
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    return { hash, fault: error.fault };
  }
}

interface Writing {
  row: FileRow;
  walked: WalkedFile;
  read: Read;
}

/** Writes the file, the rollups above it and the event, like one part of a scan. */
async function write(work: Work, db: Db, { row, walked, read }: Writing): Promise<void> {
  await nextChange(db, row.library_id);
  const items = await withParents(db, [row.item_id]);
  const before = await measure(db, items);
  await replaceContent(db, { id: row.id, walked, read });
  await rollUpItems(db, [row.item_id]);
  await addToLibraries(db, before, await measure(db, items));
  if ('probed' in read) await enqueueReading(work, db, { id: row.id, libraryId: row.library_id, probed: read.probed });
  await emitItems({ library: { id: row.library_id } }, db, { name: 'item.updated', ids: [row.item_id] });
}
