/**
 * Cold scan and no-change rescan against the bare tools, alternating in one run: `node hack/bench/scan.ts`.
 * Prints one JSON line. BENCH_FILES (2000) tiny films for the rescan, BENCH_FILMS (120) films for the cold scan, BENCH_PAIRS (5).
 * BENCH_FLAT (0) adds so many films in one folder, so many folders in one folder, and two fifths as many episodes in one folder:
 * each whole and a quarter of it, against `find` and against the reading of the names alone. BENCH_ONLY=flat leaves out the rest,
 * BENCH_SHAPE all shapes but one.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Api, startApi } from '#support/api.ts';
import { endAll } from '#support/stores.ts';
import { groupDirectory } from '#workers/scan/group/index.ts';
import type { WalkedFile } from '#workers/scan/walk/types.ts';
import { fixtures } from '../fixtures/index.ts';
import { type Cost, measured, median, newLibrary, round, scan } from './scans.ts';

const FILES = Number(process.env.BENCH_FILES ?? 2000);
const FILMS = Number(process.env.BENCH_FILMS ?? 120);
const PAIRS = Number(process.env.BENCH_PAIRS ?? 5);
const FLAT = Number(process.env.BENCH_FLAT ?? 0);
const SHAPE = process.env.BENCH_SHAPE;
const ONLY_FLAT = process.env.BENCH_ONLY === 'flat';
const PER_FOLDER = 20;
const SHARED_MEMORY = '/dev/shm';

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

/** Each pair probes the same new films by bare ffprobe and by a scan of a new library. */
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

/** Each pair lists the same unchanged tree by bare find and by a full and a quick scan. */
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

const SHAPES: Readonly<Record<string, { type: string; share: number; name: (i: number) => string }>> = {
  filmsInOneFolder: { type: 'movies', share: 1, name: (i) => `Film ${i} (${1950 + (i % 70)}).mkv` },
  foldersInOneFolder: { type: 'movies', share: 1, name: (i) => `Film ${i} (2001)/Film ${i} (2001).mkv` },
  episodesInOneFolder: {
    type: 'shows',
    share: 0.4,
    name: (i) => `Long/Long S${1 + Math.floor(i / 999)}E${1 + (i % 999)}.mkv`,
  },
};

/** The names of a folder, and the result of the grouping alone. */
const namesAlone = (folder: string, type: string) => (): void => {
  const lists = Map.groupBy(readdirSync(folder, { recursive: true, withFileTypes: true }), (entry) => entry.parentPath);
  for (const [path, entries] of lists) {
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ name }): WalkedFile => ({ name, size: 1, mtimeMs: 0, inode: '' }));
    const within = path
      .slice(folder.length + 1)
      .split('/')
      .filter((part) => part !== '');
    groupDirectory({ directory: within.join('/'), within, files, library: { type, mergeVersions: true } });
  }
};

/** One very large folder: the cost of a file must not depend on the number of files in its folder. */
async function flatOf(api: Api, shape: string, count: number): Promise<object> {
  const { type, name } = SHAPES[shape] as (typeof SHAPES)[string];
  const { made } = await fixtures();
  const base = readFileSync(join(made, 'tiny.mkv'));
  const place = `${shape}-${count}`;
  const folder = join(api.mediaRoot, place);
  const put = (i: number): void => {
    const end = Buffer.alloc(16);
    end.set([0xec, 0x8e]);
    end.writeUInt32BE(i, 12);
    const path = join(folder, name(i));
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, Buffer.concat([base, Buffer.from(place), end]));
    utimesSync(path, 1_000_000_000 + i, 1_000_000_000 + i);
  };
  for (let i = 0; i < count; i += 1) put(i);
  const library = await newLibrary(api, place, type);
  const bare = await measured(api, find(folder));
  const names = await measured(api, namesAlone(folder, type));
  const first = await measured(api, () => scan(api, library, 'full'));
  const again = await measured(api, () => scan(api, library, 'full'));
  put(count);
  const more = await measured(api, () => scan(api, library, 'full'));
  const rows = await api.deps.db('media_files').where({ library_id: library.id }).pluck('id');
  rmSync(folder, { recursive: true });
  return {
    files: rows.length,
    findMs: round(bare.wallMs),
    namesCpuMs: round(names.cpuMs),
    firstCpuMsPerFile: round(first.cpuMs / count),
    firstToNames: round(first.cpuMs / names.cpuMs),
    againToFind: round(again.wallMs / bare.wallMs),
    againCpuMs: round(again.cpuMs),
    oneMoreCpuMs: round(more.cpuMs),
    oneMoreMs: round(more.wallMs),
    heldMs: Math.round(Math.max(first.heldMs, again.heldMs, more.heldMs)),
    peakMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

async function flat(api: Api): Promise<object> {
  const results: Record<string, object> = {};
  for (const [shape, { share }] of Object.entries(SHAPES).filter(([name]) => (SHAPE ?? name) === name))
    for (const part of [0.25, 1]) {
      const count = Math.round(FLAT * share * part);
      results[`${shape} ${count}`] = await flatOf(api, shape, count);
      process.stderr.write(`${shape} ${count} ${JSON.stringify(results[`${shape} ${count}`])}\n`);
    }
  return results;
}

process.env.TMPDIR = mkdtempSync(join(SHARED_MEMORY, 'foyer-bench-scan-'));
chmodSync(process.env.TMPDIR, 0o755); // Postgres runs as a user of its own and reads below it
try {
  const api = await startApi();
  const rows = ONLY_FLAT ? {} : { cold: await cold(api), rescan: await rescan(api) };
  process.stdout.write(`${JSON.stringify({ ...rows, ...(FLAT > 0 && { flat: await flat(api) }) })}\n`);
} finally {
  await endAll();
  rmSync(process.env.TMPDIR ?? '', { recursive: true, force: true });
}
process.exit(0);
