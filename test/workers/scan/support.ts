import { appendFile, copyFile, mkdir, readdir, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { requestScan, type ScanRequest } from '#areas/scanning/public.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { type Api, startApi } from '#support/api.ts';
import { atEnd } from '#support/stores.ts';
import type { ScanOptions } from '#workers/scan/engine/scan.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import type { Work } from '#workers/work.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

/** A library over a folder of its own, and the operations of tests on it. */
export interface Place {
  api: Api;
  libraryId: string;
  folderId: string;
  /** Absolute path of the library's folder. */
  path: string;
  made: string;
  put(name: string, fixture?: string): Promise<void>;
  /** Gives every directory an old time, as after a quiet hour. */
  age(): Promise<void>;
  scan(request?: Partial<ScanRequest>, options?: Partial<ScanOptions>): Promise<StoredScan>;
  work(signal?: AbortSignal): Work;
  items(): Promise<StoredItem[]>;
  files(): Promise<StoredFile[]>;
  events(name?: string): Promise<{ event: string; payload: Record<string, unknown> }[]>;
}

export interface StoredScan {
  id: string;
  state: string;
  counts: Record<string, number>;
  folders: { folderId: string; state: string; reason?: string; files: number; missing: number }[];
  guard: { decision: string; wouldMiss: number; supersededBy?: string } | null;
  resumes: number;
  issues: { kind: string; path: string; detail: string | null; item_id: string | null }[];
}

export interface StoredItem {
  id: string;
  type: string;
  title: string;
  year: number | null;
  parent: string | null;
  index_number: number | null;
  parent_index: number | null;
  extra_kind: string | null;
  availability: string | null;
  trashed_at: Date | null;
  file_count: number;
}

export interface StoredFile {
  id: string;
  item_id: string;
  path: string;
  edition: string | null;
  part: number | null;
  missing_since: Date | null;
  probe_fault: string | null;
  duration_ms: number | null;
  probed_at: Date;
}

/** Long enough ago that a scan takes it for complete. */
const OLD = new Date(Date.now() - 3_600_000);

/** Something that players pass over and that makes the content this library's own: tests share a database, and equal files would be taken for moved ones. */
function endOf(fixture: string, libraryId: string): Buffer {
  const id = Buffer.from(libraryId.replaceAll('-', ''), 'hex');
  if (/\.(?:mkv|webm)$/.test(fixture)) return Buffer.concat([Buffer.from([0xec, 0x90]), id]);
  if (/\.mp4$/.test(fixture)) return Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('free'), id]);
  return fixture.endsWith('.avi') ? id : Buffer.alloc(0);
}

let shared: Promise<Api> | undefined;

function forThisFile(): Promise<Api> {
  atEnd(() => {
    shared = undefined;
  });
  return startApi();
}

/** `on` is a server of the test; without it, the file has one of its own. */
export async function newPlace(type: string, settings: Record<string, unknown> = {}, on?: Api): Promise<Place> {
  if (!on) shared ??= forThisFile();
  const api = on ?? ((await shared) as Api);
  const { db } = api.deps;
  const { made } = await fixtures();
  const [libraryId, folderId] = [newId(), newId()];
  const folder = `lib-${libraryId.slice(-8)}`;
  const path = join(api.mediaRoot, folder);
  await mkdir(path);
  await db('libraries').insert({
    id: libraryId,
    name: folder,
    name_folded: folder,
    type,
    settings: JSON.stringify(settings),
  });
  await db('library_folders').insert({
    id: folderId,
    library_id: libraryId,
    storage_id: api.given.storageId,
    path: folder,
  });
  const work = (signal = new AbortController().signal): Work => ({
    ...api.deps,
    jobId: newId(),
    attempt: 1,
    signal,
    checkpoint: null,
    keep: async () => undefined,
    report: async () => undefined,
    emit,
    enqueue,
  });
  return {
    api,
    libraryId,
    folderId,
    path,
    made,
    work,
    async put(name, fixture = 'tiny.mkv') {
      const target = join(path, name);
      await mkdir(dirname(target), { recursive: true });
      await copyFile(join(made, fixture), target);
      await appendFile(target, endOf(fixture, libraryId));
      await utimes(target, OLD, OLD);
    },
    async age() {
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      for (const entry of entries) if (entry.isDirectory()) await utimes(join(entry.parentPath, entry.name), OLD, OLD);
      await utimes(path, OLD, OLD);
    },
    async scan(request = {}, options = {}) {
      const { id } = await requestScan(db, { libraryId, mode: 'full', trigger: 'person', ...request });
      await scanLibrary({ libraryId, scanId: id }, work(), { settleMs: 0, ...options });
      return seen(api, id);
    },
    items: async () =>
      db('items as i')
        .leftJoin('items as p', 'p.id', 'i.parent_id')
        .where('i.library_id', libraryId)
        .orderBy(['i.type', 'i.title'])
        .select<StoredItem[]>('i.*', 'p.title as parent'),
    files: async () => db('media_files').where({ library_id: libraryId }).orderBy('path').select<StoredFile[]>('*'),
    events: async (name) =>
      db('outbox')
        .whereRaw(`facts ->> 'libraryId' = ?`, [libraryId])
        .modify((query) => void (name && query.where({ event: name })))
        .orderBy('seq')
        .select('event', 'payload'),
  };
}

export async function seen(api: Api, id: string): Promise<StoredScan> {
  const { db } = api.deps;
  const row = await db('scans').where({ id }).first<Omit<StoredScan, 'issues'>>();
  const issues = await db('scan_issues')
    .where({ scan_id: id })
    .orderBy(['kind', 'path'])
    .select<StoredScan['issues']>('kind', 'path', 'detail', 'item_id');
  return { ...row, issues };
}
