/**
 * The cold scan of music against a loop of bare music-metadata over the same files, alternating in one run:
 * `node hack/bench/music.ts`. Prints one JSON line. BENCH_TRACKS (2000) tagged MP3, ten to an album, BENCH_PAIRS (3).
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseFile } from 'music-metadata';
import { type Api, startApi } from '#support/api.ts';
import { writeTrack } from '#support/music-files.ts';
import { endAll } from '#support/stores.ts';
import { type Cost, measured, median, newLibrary, round, scan } from './scans.ts';

const TRACKS = Number(process.env.BENCH_TRACKS ?? 2000);
const PAIRS = Number(process.env.BENCH_PAIRS ?? 3);
const PER_ALBUM = 10;
const SHARED_MEMORY = '/dev/shm';

async function fill(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (let n = 0; n < TRACKS; n += 1) {
    const [album, track] = [Math.floor(n / PER_ALBUM), (n % PER_ALBUM) + 1];
    const [artist, title] = [`Artist ${album % 50}`, `Song ${n}`];
    const path = join(folder, artist, `Album ${album}`, `${String(track).padStart(2, '0')} ${title}.mp3`);
    const tags = { TIT2: title, TPE1: artist, TPE2: artist, TALB: `Album ${album}`, TRCK: `${track}/${PER_ALBUM}` };
    await writeTrack(path, { ...tags, TDRC: String(1960 + (album % 60)), TCON: ['Rock', 'Live'] });
    paths.push(path);
  }
  return paths;
}

const bareLoop = (paths: readonly string[]) => async (): Promise<void> => {
  for (const path of paths) await parseFile(path, { duration: true });
};

async function pairOf(api: Api, number: number): Promise<{ ours: Cost; bare: Cost; again: Cost }> {
  const folder = `music-${number}`;
  const paths = await fill(join(api.mediaRoot, folder));
  const library = await newLibrary(api, folder, 'music');
  const bare = await measured(api, bareLoop(paths));
  const ours = await measured(api, () => scan(api, library, 'full'));
  const again = await measured(api, bareLoop(paths));
  const rows = await api.deps.db('items').where({ library_id: library.id, type: 'track' }).pluck('id');
  if (rows.length !== TRACKS) throw new Error(`${rows.length} tracks were found`);
  return { ours, bare, again };
}

process.env.TMPDIR = mkdtempSync(join(SHARED_MEMORY, 'foyer-bench-music-'));
chmodSync(process.env.TMPDIR, 0o755); // Postgres runs as a user of its own and reads below it
try {
  const api = await startApi();
  const pairs: Awaited<ReturnType<typeof pairOf>>[] = [];
  for (let number = 0; number < PAIRS; number += 1) pairs.push(await pairOf(api, number));
  const perSecond = (cost: (pair: (typeof pairs)[number]) => number): number =>
    round((TRACKS * 1000) / median(pairs.map(cost)));
  const result = {
    ...{ tracks: TRACKS, pairs: PAIRS },
    tracksPerCpuSecond: perSecond(({ ours }) => ours.cpuMs),
    tracksPerSecond: perSecond(({ ours }) => ours.wallMs),
    barePerCpuSecond: perSecond(({ bare }) => bare.cpuMs),
    speedToBare: round(median(pairs.map(({ ours, bare }) => bare.cpuMs / ours.cpuMs))),
    noise: round(median(pairs.map(({ bare, again }) => bare.cpuMs / again.cpuMs))),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
} finally {
  await endAll();
  rmSync(process.env.TMPDIR ?? '', { recursive: true, force: true });
}
process.exit(0);
