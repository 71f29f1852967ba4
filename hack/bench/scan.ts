/**
 * Cold scan and no-change rescan (PERFORMANCE rows 1 and 2) against the bare tools, alternating in one run: `node hack/bench/scan.ts`.
 * Prints one JSON line. BENCH_FILES (2000) tiny films for the rescan, BENCH_FILMS (120) films for the cold scan, BENCH_PAIRS (5).
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { requestScan } from '#areas/scanning/public.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { type Api, startApi } from '#support/api.ts';
import { endAll } from '#support/stores.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { fixtures } from '../fixtures/index.ts';

const FILES = Number(process.env.BENCH_FILES ?? 2000);
const FILMS = Number(process.env.BENCH_FILMS ?? 120);
const PAIRS = Number(process.env.BENCH_PAIRS ?? 5);
const TICKS_PER_SECOND = 100;
const PER_FOLDER = 20;
const SHARED_MEMORY = '/dev/shm';

interface Cost {
  wallMs: number;
  /** Of this process with its threads and children, and of the database's backends. */
  cpuMs: number;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const round = (value: number): number => Math.round(value * 1000) / 1000;

/** utime, stime, cutime and cstime of a process in ms. */
function processCpuMs(pid: number | 'self', children: boolean): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, ...(children ? [13, 14] : [])].map((i) => Number(fields[i]));
  return (ticks.reduce((sum, one) => sum + one, 0) * 1000) / TICKS_PER_SECOND;
}

/** Connections of Postgres seen so far, with the CPU that each had used when last seen: they come and go. */
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
  return processCpuMs('self', true) + [...backends.values()].reduce((sum, ms) => sum + ms, 0);
}

async function measured(api: Api, work: () => unknown): Promise<Cost> {
  const before = await cpuNow(api);
  const began = performance.now();
  await work();
  return { wallMs: performance.now() - began, cpuMs: (await cpuNow(api)) - before };
}

interface Library {
  id: string;
  folderId: string;
}

async function newLibrary({ deps, given }: Api, folder: string): Promise<Library> {
  const [id, folderId] = [newId(), newId()];
  await deps.db('libraries').insert({ id, name: folder, name_folded: id, type: 'movies' });
  await deps.db('library_folders').insert({ id: folderId, library_id: id, storage_id: given.storageId, path: folder });
  return { id, folderId };
}

async function scan({ deps }: Api, { id }: Library, mode: 'quick' | 'full'): Promise<Record<string, number>> {
  const asked = await requestScan(deps.db, { libraryId: id, mode, trigger: 'person' });
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
  await scanLibrary({ libraryId: id, scanId: asked.id }, work, { settleMs: 0 });
  const row = await deps.db('scans').where({ id: asked.id }).first<{ state: string; counts: Record<string, number> }>();
  if (row.state !== 'completed') throw new Error(`the scan ended as ${row.state}`);
  return row.counts;
}

/** Copies with a different end each, so that none is taken for another. */
function fill(folder: string, { count, bytes }: { count: number; bytes: readonly Buffer[] }): string[] {
  const old = new Date(Date.now() - 3_600_000);
  return Array.from({ length: count }, (_, i) => {
    const directory = join(folder, `Group ${Math.floor(i / PER_FOLDER)}`);
    mkdirSync(directory, { recursive: true });
    const base = bytes[i % bytes.length] as Buffer;
    const matroska = base.readUInt32BE(0) === 0x1a45dfa3;
    const end = Buffer.alloc(16);
    if (matroska) end.set([0xec, 0x8e]);
    else end.set([0, 0, 0, 16, 0x66, 0x72, 0x65, 0x65]);
    end.writeUInt32BE(i, 12);
    const path = join(directory, `Film ${i} (${1950 + (i % 70)}).${matroska ? 'mkv' : 'mp4'}`);
    writeFileSync(path, Buffer.concat([base, end]));
    utimesSync(path, old, old);
    return path;
  });
}

function age(folder: string): void {
  const old = new Date(Date.now() - 3_600_000);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), old, old);
  utimesSync(folder, old, old);
}

const ffprobe = (paths: readonly string[]) => (): void => {
  for (const path of paths)
    execFileSync('ffprobe', ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', '-show_chapters', path]);
};

/** Row 1: each pair probes the same new films by bare ffprobe and by a scan of a new library. */
async function cold(api: Api): Promise<object> {
  const { made } = await fixtures();
  const bytes = ['h264-multi.mkv', 'h264-aac.mp4', 'hevc-hdr10.mkv', 'h264-gop40.mp4', 'vp9-opus.webm'].map((name) =>
    readFileSync(join(made, name)),
  );
  const pairs: { ours: Cost; bare: Cost; again: Cost }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const folder = `cold-${pair}`;
    const paths = fill(join(api.mediaRoot, folder), { count: FILMS, bytes });
    const library = await newLibrary(api, folder);
    const bare = await measured(api, ffprobe(paths));
    const ours = await measured(api, () => scan(api, library, 'full'));
    pairs.push({ bare, ours, again: await measured(api, ffprobe(paths)) });
  }
  const ratio = (other: (pair: (typeof pairs)[number]) => Cost): number =>
    round(median(pairs.map((pair) => other(pair).cpuMs / pair.bare.cpuMs)));
  return {
    films: FILMS,
    filmsPerCpuSecond: round((FILMS * 1000) / median(pairs.map((pair) => pair.ours.cpuMs))),
    filmsPerSecond: round((FILMS * 1000) / median(pairs.map((pair) => pair.ours.wallMs))),
    cpuToBareFfprobe: ratio((pair) => pair.ours),
    noise: ratio((pair) => pair.again),
  };
}

const find = (folder: string) => (): void => {
  execFileSync('find', [folder, '-printf', '%T@ %s\n'], { maxBuffer: 2 ** 30 });
};

/** Row 2: each pair lists the same unchanged tree by bare find and by a full and a quick scan. */
async function rescan(api: Api): Promise<object> {
  const { made } = await fixtures();
  const folder = join(api.mediaRoot, 'still');
  fill(folder, { count: FILES, bytes: [readFileSync(join(made, 'tiny.mkv'))] });
  age(folder);
  const library = await newLibrary(api, 'still');
  await scan(api, library, 'full');
  const pairs: { bare: Cost; full: Cost; quick: Cost; again: Cost }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const bare = await measured(api, find(folder));
    const full = await measured(api, () => scan(api, library, 'full'));
    const quick = await measured(api, () => scan(api, library, 'quick'));
    pairs.push({ bare, full, quick, again: await measured(api, find(folder)) });
  }
  const wall = (other: (pair: (typeof pairs)[number]) => Cost): number =>
    round(median(pairs.map((pair) => other(pair).wallMs / pair.bare.wallMs)));
  return {
    files: FILES,
    fullMs: round(median(pairs.map((pair) => pair.full.wallMs))),
    quickMs: round(median(pairs.map((pair) => pair.quick.wallMs))),
    findMs: round(median(pairs.map((pair) => pair.bare.wallMs))),
    fullCpuMs: round(median(pairs.map((pair) => pair.full.cpuMs))),
    fullToFind: wall((pair) => pair.full),
    quickToFind: wall((pair) => pair.quick),
    noise: wall((pair) => pair.again),
  };
}

process.env.TMPDIR = mkdtempSync(join(SHARED_MEMORY, 'foyer-bench-scan-'));
chmodSync(process.env.TMPDIR, 0o755); // Postgres runs as a user of its own and reads below it
try {
  const api = await startApi();
  process.stdout.write(`${JSON.stringify({ cold: await cold(api), rescan: await rescan(api) })}\n`);
} finally {
  await endAll();
  rmSync(process.env.TMPDIR ?? '', { recursive: true, force: true });
}
process.exit(0);
