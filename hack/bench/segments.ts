/**
 * From opening a session to the last byte of its first segment, and seeks, against bare
 * ffmpeg in the same run. `node hack/bench/segments.ts [pairs]` prints a table; it fails when the noise is too great.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { offerTranscodeSession, openTranscodeSession } from '#areas/streaming/public.ts';
import { stopSession } from '#areas/streaming/sessions/sessions.store.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { optionsFor } from '#support/hls-render.ts';
import { type Film, film } from '#support/hls-session.ts';
import { storesOf } from '#support/processes.ts';
import { atEnd, endAll } from '#support/stores.ts';
import { cacheFolder } from '../fixtures/generate.ts';
import { fixtures } from '../fixtures/index.ts';

const run = promisify(execFile);
const PAIRS = Number(process.argv[2] ?? 5);
const root = join(import.meta.dirname, '../..');

/** Five minutes of a real film, 1080p24 at 6 Mbit/s with a keyframe each 4 seconds; made once. */
async function benchFilm(): Promise<string> {
  const target = join(cacheFolder(), 'bench', 'film-1080p24.mkv');
  if (existsSync(target)) return target;
  await mkdir(dirname(target), { recursive: true });
  const { real } = await fixtures();
  const draft = `${target}.new.mkv`;
  const coding = [
    '-c:v',
    'libx264',
    '-preset',
    'superfast',
    '-b:v',
    '6M',
    '-maxrate',
    '8M',
    '-bufsize',
    '12M',
    '-g',
    '96',
  ];
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-i', join(real, 'video/bbb_full_720p.mp4'), '-t', '300', '-vf', 'scale=1920:1080'],
    ...[...coding, '-c:a', 'aac', '-b:a', '192k', draft],
  ]);
  await rename(draft, target);
  return target;
}

type Mode = 'encode' | 'copy';
interface Stand {
  api: Api;
  viewer: Person;
  film: Film;
}

const CODING = {
  encode: [
    ...['-vf', 'scale=854:480', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '22', '-maxrate', '1500k'],
    ...['-bufsize', '1500k', '-sc_threshold', '0', '-g', '600', '-force_key_frames', 'expr:gte(t,n_forced*2)'],
    ...['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '160k', '-ac', '2'],
  ],
  copy: ['-c', 'copy'],
} as const;

/** Time from starting bare ffmpeg to its first whole segment, ms. */
async function bare(file: string, mode: Mode, atSec: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-bench-'));
  const began = performance.now();
  const child = spawn(
    'nice',
    [
      ...['-n', '5', 'ffmpeg', '-v', 'error', '-nostdin', ...(atSec > 0 ? ['-ss', String(atSec)] : []), '-i', file],
      ...[
        '-map',
        '0:v:0',
        '-map',
        '0:a:0',
        ...CODING[mode],
        '-f',
        'hls',
        '-hls_time',
        '2',
        '-hls_segment_type',
        'fmp4',
      ],
      ...['-hls_flags', 'temp_file', '-hls_segment_filename', join(folder, '%d.m4s'), join(folder, 'index.m3u8')],
    ],
    { stdio: 'ignore' },
  );
  while (!(await stat(join(folder, '0.m4s')).catch(() => undefined))) await sleep(2);
  const took = performance.now() - began;
  child.kill('SIGKILL');
  await new Promise((done) => child.once('close', done));
  await rm(folder, { recursive: true });
  return took;
}

async function get({ api, viewer }: Stand, path: string): Promise<void> {
  const response = await api.fetch(`/api/v1/stream/${path}`, { headers: viewer.headers });
  const bytes = await response.arrayBuffer();
  if (!response.ok || bytes.byteLength === 0) throw new Error(`${path}: ${response.status}`);
}

interface Times {
  start: number;
  seek80: number;
  seek60: number;
}

/** The number of the segment at a part of the film: every 2 seconds when encoding, every keyframe (4 s) when copying. */
const segmentAt = (mode: Mode, part: number): number => Math.floor((300 * part) / (mode === 'encode' ? 2 : 4));

/** A session from its opening to the last byte of its first segment, then to 80 % and back to 60 %, ms each. */
async function ours(stand: Stand, mode: Mode): Promise<Times> {
  const { api, viewer, film: played } = stand;
  const options = { ...optionsFor(played.looked, { mode, copyAudio: mode === 'copy', height: 480 }), ...viewer };
  const [video] = options.video ?? [];
  if (video && mode === 'encode') Object.assign(video, { bitrate: 1_500_000, width: 854 });
  const began = performance.now();
  const ids = { playbackSessionId: newId(), fileId: played.fileId, itemId: played.itemId };
  const { id } = await openTranscodeSession(api.deps.db, { ...options, ...ids });
  await offerTranscodeSession(api.deps.redis, id);
  const timed = async (part: number): Promise<number> => {
    const from = part === 0 ? began : performance.now();
    if (part === 0) await get(stand, `${id}/v0/index.m3u8`);
    await get(stand, `${id}/v0/segments/${segmentAt(mode, part)}.m4s`);
    return performance.now() - from;
  };
  const times = { start: await timed(0), seek80: await timed(0.8), seek60: await timed(0.6) };
  await stopSession(api.deps.db, id);
  await api.deps.redis.publish(`foyer:transcode:want:${id}`, 'stop');
  await sleep(500);
  return times;
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

interface Row {
  what: string;
  ours: number[];
  bare: number[];
  again: number[];
}

async function measure(stand: Stand, mode: Mode): Promise<Row[]> {
  const file = stand.film.looked.file;
  const rows: Row[] = ['first segment', 'seek to 80 %', 'seek back to 60 %'].map((what) => ({
    ...{ what: `${mode === 'encode' ? '480p' : 'remux'}: ${what}` },
    ...{ ours: [], bare: [], again: [] },
  }));
  for (let pair = 0; pair <= PAIRS; pair++) {
    const times = Object.values(await ours(stand, mode)) as number[];
    for (const [i, part] of [0, 0.8, 0.6].entries()) {
      const [one, two] = [await bare(file, mode, 300 * part), await bare(file, mode, 300 * part)];
      if (pair === 0) continue; // warms caches
      rows[i]?.ours.push(times[i] ?? Number.NaN);
      rows[i]?.bare.push(one);
      rows[i]?.again.push(two);
    }
  }
  return rows;
}

const ratios = (a: number[], b: number[]): number => median(a.map((value, i) => value / (b[i] ?? Number.NaN)));

function print(rows: readonly Row[]): boolean {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`;
  let text = line(['what', 'ours ms', 'bare ffmpeg ms', 'ratio', 'A/A']);
  text += line(['---', '---:', '---:', '---:', '---:']);
  let quiet = true;
  for (const row of rows) {
    const noise = ratios(row.again, row.bare);
    quiet &&= noise > 0.8 && noise < 1.25;
    const [a, b] = [median(row.ours), median(row.bare)].map((ms) => ms.toFixed(0));
    text += line([row.what, a ?? '', b ?? '', ratios(row.ours, row.bare).toFixed(2), noise.toFixed(2)]);
  }
  process.stdout.write(`${cpus().length} × ${cpus()[0]?.model}, ${PAIRS} pairs\n\n${text}`);
  return quiet;
}

const path = await benchFilm();
const api = await startApi({
  FOYER_MEDIA_ROOTS: JSON.stringify([
    { id: '01900000-0000-7000-8000-000000000001', name: 'films', path: dirname(path), readOnly: true },
  ]),
});
const { config } = api;
const worker = spawn(process.execPath, [join(root, 'workers/transcode/main.ts')], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    PATH: process.env.PATH,
    ...storesOf(config),
    FOYER_MEDIA_ROOTS: JSON.stringify(config.mediaRoots),
    FOYER_LOG_LEVEL: 'warn',
  },
});
atEnd(() => worker.kill('SIGTERM'));
const stand = { api, viewer: await api.given.owner(), film: await film(api.deps.db, path, api.given.storageId) };
await sleep(3000);
const rows = [...(await measure(stand, 'encode')), ...(await measure(stand, 'copy'))];
const quiet = print(rows);
if (!quiet) process.stdout.write(`\nToo noisy to judge: an A/A ratio of ${basename(path)} left 0.8 to 1.25.\n`);
await endAll();
process.exit(quiet ? 0 : 1);
