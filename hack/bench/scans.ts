// The costs of scans, for the benches of them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { requestScan } from '#areas/scanning/public.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import type { Api } from '#support/api.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';

const TICKS_PER_SECOND = 100;
/** Programs that a test starts next to the server; of Postgres the backends count alone. */
const STORES = /^(?:postgres|redis-server|weed)/;

export interface Cost {
  wallMs: number;
  /** Of this process with its threads and children, and of the database's backends. */
  cpuMs: number;
  /** The longest time that the event loop was held. */
  heldMs: number;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
export const round = (value: number): number => Math.round(value * 1000) / 1000;

/** utime, stime, cutime and cstime of a process in ms. */
function processCpuMs(pid: number, children: boolean): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, ...(children ? [13, 14] : [])].map((i) => Number(fields[i]));
  return (ticks.reduce((sum, one) => sum + one, 0) * 1000) / TICKS_PER_SECOND;
}

/** Programs that run below a process, such as the readers of files, which stay for the next file. */
function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

function childrenOf(pid: number): number[] {
  try {
    const lists = readdirSync(`/proc/${pid}/task`).map((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'),
    );
    const pids = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
    return pids.filter((child) => !STORES.test(readFileSync(`/proc/${child}/comm`, 'utf8')));
  } catch {
    return []; // it has ended
  }
}

/** Known connections of Postgres, with the CPU that each had used at the last check; connections come and go. */
const backends = new Map<number, number>();

async function cpuNow({ deps }: Api): Promise<number> {
  const rows = await deps
    .db('pg_stat_activity')
    .where({ datname: deps.db.raw('current_database()') })
    .pluck<number[]>('pid');
  for (const pid of rows) backends.set(pid, backends.get(pid) ?? 0);
  for (const pid of backends.keys()) {
    if (existsSync(`/proc/${pid}/stat`)) backends.set(pid, processCpuMs(pid, false));
  }
  const alive = [process.pid, ...descendantsOf(process.pid)].filter((pid) => existsSync(`/proc/${pid}/stat`));
  const own = alive.reduce((sum, pid) => sum + processCpuMs(pid, true), 0);
  return own + [...backends.values()].reduce((sum, ms) => sum + ms, 0);
}

export async function measured(api: Api, work: () => unknown): Promise<Cost> {
  const before = await cpuNow(api);
  const began = performance.now();
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  await work();
  loop.disable();
  const wallMs = performance.now() - began;
  return { wallMs, cpuMs: (await cpuNow(api)) - before, heldMs: loop.max / 1e6 };
}

interface Library {
  id: string;
  folderId: string;
}

export async function newLibrary({ deps, given }: Api, folder: string, type = 'movies'): Promise<Library> {
  const [id, folderId] = [newId(), newId()];
  await deps.db('libraries').insert({ id, name: folder, name_folded: id, type });
  await deps.db('library_folders').insert({ id: folderId, library_id: id, storage_id: given.storageId, path: folder });
  return { id, folderId };
}

export async function scan({ deps }: Api, { id }: Library, mode: 'quick' | 'full'): Promise<Record<string, number>> {
  const requested = await requestScan(deps.db, { libraryId: id, mode, trigger: 'person' });
  const signal = new AbortController().signal;
  const work = {
    ...deps,
    jobId: newId(),
    attempt: 1,
    signal,
    checkpoint: null,
    keep: async () => undefined,
    report: async () => undefined,
    emit,
    enqueue,
  };
  await scanLibrary({ libraryId: id, scanId: requested.id }, work, { settleMs: 0 });
  const row = await deps
    .db('scans')
    .where({ id: requested.id })
    .first<{ state: string; counts: Record<string, number> }>();
  if (row.state !== 'completed') throw new Error(`the scan ended as ${row.state}`);
  return row.counts;
}
