/**
 * CPU of analyses against the bare tools on the same files: thumbnails against ffmpeg with the same filters (target: at most
 * 1.15), openings of a season against fpcalc (target: at most 1.3). Installs fpcalc where it is absent.
 * `BENCH_PAIRS=5 node hack/bench/analyses.ts` prints a table.
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '#platform/ids.ts';
import type { ProbedStream } from '#platform/media.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { startApi } from '#support/api.ts';
import { requirePrograms } from '#support/debian.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { findIntros } from '#workers/analysis/intros/intros.ts';
import { layoutOf, makePreviews, thumbnailOptions } from '#workers/analysis/previews.ts';
import type { Work } from '#workers/work.ts';
import { alternate, cpuSeconds, HEADER, machine, output, row } from './measure.ts';

const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 5);
const FILM_SECONDS = 600;
const EPISODES = 6;
const EPISODE_SECONDS = 2400;
const PART_SECONDS = 40;
const HEARD_SECONDS = 600;
const VIDEO = { index: 0, kind: 'video', codec: 'h264', width: 1280, height: 720 } as ProbedStream;
const AUDIO = { index: 0, kind: 'audio', codec: 'aac' } as ProbedStream;

requirePrograms({ fpcalc: 'libchromaprint-tools' });
const api = await startApi();
const { db } = api.deps;
const scratch = temporaryFolder('analyses');

/** A file of a library as a scan would have written it. */
async function add(
  library: GivenLibrary,
  { itemId, name, seconds, stream }: { itemId: string; name: string; seconds: number; stream: ProbedStream },
): Promise<string> {
  const { size, mtimeMs } = statSync(join(api.mediaRoot, 'media', library.id, name));
  await givenFile(db, library, itemId, {
    ...{ path: name, size_bytes: size, modified_ms: Math.round(mtimeMs), duration_ms: seconds * 1000 },
    streams: [{ kind: stream.kind, codec: stream.codec }],
    probe: { container: 'matroska', startMs: 0, durationMs: seconds * 1000, streams: [stream] },
  });
  return join(api.mediaRoot, 'media', library.id, name);
}

async function shelf(type: string): Promise<GivenLibrary> {
  const library = await givenLibrary(db, type);
  mkdirSync(join(api.mediaRoot, 'media', library.id), { recursive: true });
  return library;
}

const work: Work = {
  ...{ ...api.deps, jobId: newId(), attempt: 1, signal: new AbortController().signal, checkpoint: null, emit, enqueue },
  ...{ keep: async () => undefined, report: async () => undefined },
};
const admin = api.as(await api.given.owner());

/** CPU of this process and the programs that it ran. */
async function cpuOf(run: () => Promise<unknown>): Promise<number> {
  const before = cpuSeconds(process.pid);
  await run();
  return cpuSeconds(process.pid) - before;
}

async function analysed(library: GivenLibrary, run: () => Promise<unknown>): Promise<number> {
  await db('analyses').delete();
  await db('intro_sounds').delete();
  await admin.analyzeLibrary({ params: { id: library.id } });
  return cpuOf(run);
}

/** A file of this length: a few seconds are encoded and repeated, since encoding all of it would take longer than the bench. */
async function make(file: string, { input, coding, seconds }: { input: string; coding: string[]; seconds: number }) {
  const part = join(scratch, 'part.mkv');
  await output('ffmpeg', [
    '-v',
    'error',
    '-y',
    '-f',
    'lavfi',
    '-i',
    `${input}:duration=${PART_SECONDS}`,
    ...coding,
    part,
  ]);
  const again = ['-stream_loop', String(seconds / PART_SECONDS - 1), '-i', part];
  await output('ffmpeg', ['-v', 'error', ...again, '-c', 'copy', file]);
}

const films = await shelf('movies');
const filmName = 'film.mkv';
const film = join(api.mediaRoot, 'media', films.id, filmName);
await make(film, {
  input: 'testsrc2=size=1280x720:rate=12',
  coding: ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '48'],
  seconds: FILM_SECONDS,
});
await add(films, { itemId: await givenItem(db, films), name: filmName, seconds: FILM_SECONDS, stream: VIDEO });
const { reading, writing } = thumbnailOptions(VIDEO, layoutOf(FILM_SECONDS * 1000));
const bareThumbnails = () =>
  output('ffmpeg', ['-v', 'error', '-y', ...reading, '-i', film, ...writing, join(scratch, 'sheets.webp')]);

const shows = await shelf('shows');
const season = await givenItem(db, shows, { type: 'season' });
const episodes: string[] = [];
for (let n = 1; n <= EPISODES; n += 1) {
  const name = `${n}.mkv`;
  await make(join(api.mediaRoot, 'media', shows.id, name), {
    input: `anoisesrc=color=pink:seed=${n}:sample_rate=48000`,
    coding: ['-ac', '2', '-c:a', 'aac', '-b:a', '128k'],
    seconds: EPISODE_SECONDS,
  });
  const itemId = await givenItem(db, shows, { type: 'episode', parent_id: season, index_number: n });
  episodes.push(await add(shows, { itemId, name, seconds: EPISODE_SECONDS, stream: AUDIO }));
}
const bareSounds = async (): Promise<void> => {
  for (const episode of episodes) await output('fpcalc', ['-raw', '-length', String(HEARD_SECONDS), episode]);
};

console.log(`\nAnalyses, CPU seconds, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
const thumbnails = await alternate(
  PAIRS,
  () => analysed(films, () => makePreviews({ libraryId: films.id }, work)),
  () => cpuOf(bareThumbnails),
);
console.log(row({ name: `thumbnails of ${FILM_SECONDS / 60} min / ffmpeg`, unit: 's', target: '≤ 1.15' }, thumbnails));
const sounds = await alternate(
  PAIRS,
  () => analysed(shows, () => findIntros({ libraryId: shows.id }, work)),
  () => cpuOf(bareSounds),
);
console.log(row({ name: `openings of ${EPISODES} episodes / fpcalc`, unit: 's', target: '≤ 1.3' }, sounds));
await endAll();
process.exit(0);
