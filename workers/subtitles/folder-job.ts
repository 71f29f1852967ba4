// Job subtitles.folder: the index of the subtitle folder.
import type { Dirent } from 'node:fs';
import { open, opendir, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import {
  clearFolder,
  type FolderRow,
  isSubtitleName,
  knownFiles,
  putFolderFiles,
  signatureOf,
} from '#areas/subtitles/public.ts';
import { isPassedOver } from '../scan/names/kinds.ts';
import { Postponed, type Work } from '../work.ts';
import { rowsOfFile } from './folder-rows.ts';

const MOST_FILES = 200_000;
const MOST_DEPTH = 8;
const MOST_FILE_BYTES = 20 << 20;
const BATCH = 100;
const RETRY_MS = 10 * 60_000;
const USABLE = ['available', 'degraded'];

/** Brings the index of the subtitle folder up to date. Files that did not change are not read. */
export async function indexSubtitleFolder(_payload: unknown, work: Work): Promise<object> {
  const { db, settings, config } = work;
  await settings.reload(); // the change that queued the job may not have been heard here
  const [storageId, path] = [settings.get('subtitles.folder.storageId'), settings.get('subtitles.folder.path')];
  if (storageId === null || path === null) {
    await clearFolder(db);
    return { skipped: 'off' };
  }
  const storage = (await findStorages(db, [storageId])).get(storageId);
  if (!storage || !USABLE.includes(storage.state)) throw new Postponed(new Date(Date.now() + RETRY_MS), 'storage');
  const place = await placeInStorage(config, storage, path);
  if (place.kind !== 'there') throw new Postponed(new Date(Date.now() + RETRY_MS), 'storage');
  const known = await knownFiles(db);
  const seen = new Set<string>();
  let changed: Changed[] = [];
  let read = 0;
  for await (const file of filesIn(place.absolute, work)) {
    seen.add(file.path);
    if (known.get(file.path) === file.signature) continue;
    changed.push(file);
    read += 1;
    if (changed.length < BATCH) continue;
    await keep(work, place.absolute, changed.splice(0));
    await work.report(db, { done: read, unit: 'files' });
  }
  await keep(work, place.absolute, changed);
  const gone = [...known.keys()].filter((one) => !seen.has(one));
  for (let at = 0; at < gone.length; at += BATCH)
    await putFolderFiles(db, { paths: gone.slice(at, at + BATCH), rows: [] });
  changed = [];
  return { files: seen.size, read, gone: gone.length };
}

interface Changed {
  /** Inside the folder. */
  path: string;
  sizeBytes: number;
  modifiedMs: number;
  signature: string;
}

async function keep({ db, log }: Work, top: string, files: readonly Changed[]): Promise<void> {
  if (files.length === 0) return;
  const rows: FolderRow[] = [];
  for (const file of files) {
    const bytes = await wholeFile(join(top, file.path)).catch((error: Error) => {
      log.warn({ err: error.message }, 'a subtitle of the folder is not read');
      return undefined;
    });
    if (bytes) rows.push(...rowsOfFile(file, bytes));
  }
  await db.transaction((tx) => putFolderFiles(tx, { paths: files.map(({ path }) => path), rows }));
}

async function wholeFile(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Subtitle files and archives below a folder. Links are not followed, and what cannot be read is passed over. */
async function* filesIn(top: string, work: Work): AsyncGenerator<Changed> {
  const left = [{ path: '', depth: 0 }];
  let count = 0;
  for (let next = left.pop(); next; next = left.pop()) {
    work.signal.throwIfAborted();
    for await (const entry of entriesIn(top, next.path, work)) {
      if (isPassedOver(entry.name)) continue;
      const path = posix.join(next.path, entry.name);
      if (entry.isDirectory() && next.depth < MOST_DEPTH) left.push({ path, depth: next.depth + 1 });
      const found = entry.isFile() ? await changedIn(top, path).catch(passedOver(work)) : undefined;
      if (found) yield found;
      count += found ? 1 : 0;
      if (count >= MOST_FILES) return;
    }
  }
}

/** A folder that cannot be read, or is gone by now, ends early. The top one throws: without it the index stays. */
async function* entriesIn(top: string, path: string, work: Work): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(join(top, path));
  } catch (error) {
    if (path === '') throw error;
    passedOver(work)(error as Error);
  }
}

const passedOver =
  ({ log }: Work) =>
  (error: Error): undefined => {
    log.warn({ err: error.message }, 'a part of the subtitle folder is not read');
  };

async function changedIn(top: string, path: string): Promise<Changed | undefined> {
  if (!isSubtitleName(path) && !/\.zip$/i.test(path)) return undefined;
  const { size, mtimeMs } = await stat(join(top, path));
  if (size > MOST_FILE_BYTES || size === 0) return undefined;
  const signature = signatureOf({ size_bytes: size, modified_ms: mtimeMs });
  return { path, sizeBytes: size, modifiedMs: mtimeMs, signature };
}
