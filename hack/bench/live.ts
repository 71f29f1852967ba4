/**
 * Live television (targets: a change of channel 1.25 of ffmpeg at its best options and 150 ms, under 1 s when the channel is on; a copied
 * channel 1.5 of the CPU of `ffmpeg -c copy`; 50 viewers none of the tuner's; live.finish 1.2 of `ffmpeg -c copy` of the same parts).
 * `node hack/bench/live.ts [seconds]` prints a table; BENCH_ONLY=change, copy or finish prints that part of it, BENCH_PAIRS (1) compares the
 * copied channel so often. A recording of real size is `BENCH_ONLY=finish node hack/bench/live.ts 1000`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { newId } from '#platform/ids.ts';
import { PARTS_BUCKET, partKey } from '#platform/live/parts.ts';
import type { LiveSegment } from '#platform/live/segments.ts';
import { startApi } from '#support/api.ts';
import { LiveStage } from '#support/live-stage.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { joinParts } from '#workers/live/finish/join.ts';
import { LiveCutter } from '#workers/tuner/streams/cutter.ts';
import type { Work } from '#workers/work.ts';
import { alternate, cpuSeconds, HEADER, machine, median, row } from './measure.ts';

const SECONDS = Number(process.argv[2] ?? 40);
const ONLY = process.env['BENCH_ONLY'];
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 1);
const runs = (part: 'change' | 'copy' | 'finish'): boolean => ONLY === undefined || ONLY === part;
/** A longer film repeats its pictures. */
const MADE_SECONDS = Math.min(SECONDS, 40);
const MEGABITS = 6;
const PACKET = 188;
const CHANGES = 4;
const WINDOW_MS = 12_000;
/** A channel that is on for some time: its first seconds are those of a new process too. */
const WARM_MS = 20_000;
const VIEWERS = 50;

const folder = temporaryFolder('bench-live');
const made = join(folder, 'made.ts');
const film = join(folder, 'film.ts');
const rate = [
  '-b:v',
  `${MEGABITS - 0.5}M`,
  '-maxrate',
  `${MEGABITS - 0.5}M`,
  '-bufsize',
  '1M',
  '-muxrate',
  `${MEGABITS}M`,
];
spawnSync('ffmpeg', [
  ...['-v', 'error', '-y', '-f', 'lavfi', '-i', `testsrc2=size=720x576:rate=25:duration=${MADE_SECONDS}`],
  ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${MADE_SECONDS}`, '-vf', 'setsar=16/15'],
  ...['-c:v', 'mpeg2video', '-g', '12', '-bf', '2', '-flags', '+ilme+ildct', '-top', '1', ...rate],
  ...['-c:a', 'ac3', '-b:a', '384k', '-f', 'mpegts', made],
]);
const again = Math.ceil(SECONDS / MADE_SECONDS) - 1;
if (again > 0)
  spawnSync('ffmpeg', [
    '-v',
    'error',
    '-y',
    '-stream_loop',
    String(again),
    '-i',
    made,
    '-c',
    'copy',
    '-f',
    'mpegts',
    film,
  ]);
else renameSync(made, film);
const bytes = readFileSync(film);

/** Sends the film at its speed, from any packet on. */
const server = createServer((_request, response) => {
  const first = Math.floor((Math.random() * bytes.length) / PACKET) * PACKET;
  const began = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * MEGABITS * 125) / PACKET) * PACKET;
    while (sent < due) {
      const at = (first + sent) % bytes.length;
      const end = Math.min(bytes.length, at + due - sent);
      response.write(bytes.subarray(at, end));
      sent += end - at;
    }
  }, 20);
  response.once('close', () => clearInterval(timer));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/auto/v`;

/** CPU seconds of a process and all that it started. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
  return children.reduce((sum, child) => sum + cpuOf(child), own);
}

async function cpuWhile(pid: number): Promise<number> {
  const before = cpuOf(pid);
  await sleep(WINDOW_MS);
  return cpuOf(pid) - before;
}

const api = await startApi();
const stage = new LiveStage(api);
await stage.prepare();
const roof = await stage.tuner(8);
const channels: string[] = [];
for (let n = 0; n < 2 * CHANGES + 2; n++)
  channels.push(await stage.channel(`C${n}`, [{ tunerId: roof, url: `${source}${n}` }]));
const owner = await api.given.owner();
const viewer = api.as(owner);
const tuner = await stage.process(roof);
await sleep(6000);

type Session = { id: string; url: string };
/** A player of transport streams that decodes the broadcast itself. */
const television = {
  hls: {
    ...{ segments: ['ts'] as const, audioRenditions: false, webvtt: false },
    ...{ video: [{ codec: 'mpeg2', interlaced: true }], audio: [{ codec: 'ac3', maxChannels: 6 }] },
  },
};
async function watch(channel: string): Promise<Session> {
  const { status, body } = await viewer.watchLiveChannel({
    params: { id: channel },
    body: { client: television },
  } as never);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.session as Session;
}
const text = async (path: string): Promise<string> => (await api.fetch(path, { headers: owner.headers })).text();

/** Time until the first segment is there, ms. */
async function change(): Promise<number> {
  const began = performance.now();
  const session = await watch(channels.shift() ?? '');
  await firstSegment(session);
  const ms = performance.now() - began;
  await viewer.endPlaybackSession({ params: { id: session.id } });
  return ms;
}
async function firstSegment({ id }: Session): Promise<void> {
  const base = `/api/v1/live/sessions/${id}/source`;
  const list = await text(`${base}/index.m3u8`);
  const [name] = /^segments\/.*$/m.exec(list) ?? [];
  if (name === undefined) throw new Error(list);
  await (await api.fetch(`${base}/${name}`, { headers: owner.headers })).arrayBuffer();
}
async function bare(): Promise<number> {
  const began = performance.now();
  const quick = ['-fflags', 'nobuffer', '-flags', 'low_delay', '-probesize', '200000', '-analyzeduration', '0'];
  const child = spawn('ffmpeg', ['-v', 'error', ...quick, '-i', `${source}x`, '-frames:v', '1', '-f', 'null', '-']);
  await once(child, 'exit');
  return performance.now() - began;
}

async function changed(): Promise<void> {
  console.log(
    row(
      { name: 'change of channel, cold', unit: 'ms', target: '≤ 1.25 and 150 ms' },
      await alternate(CHANGES, change, bare),
    ),
  );
}

/** Returns lines of the second table. */
async function watched(): Promise<string> {
  const on = channels.shift() ?? '';
  const first = await watch(on);
  await firstSegment(first);
  await sleep(WARM_MS);
  const shared: number[] = [];
  for (let n = 0; n < 5; n++) {
    const began = performance.now();
    await firstSegment(await watch(on));
    shared.push(performance.now() - began);
  }

  /** Lists are read as players do, so that the stream stays on. */
  let polled = 1;
  const sessions: Session[] = [first];
  const polling = setInterval(() => {
    for (const { id } of sessions.slice(0, polled)) void text(`/api/v1/live/sessions/${id}/source/index.m3u8`);
  }, 2000);
  const copying = async (): Promise<number> => {
    const output = ['-c', 'copy', '-f', 'mpegts', '-y', join(folder, 'copy.ts')];
    const child = spawn('ffmpeg', ['-v', 'error', '-i', `${source}x`, ...output]);
    await sleep(2000);
    const used = await cpuWhile(child.pid ?? 0);
    child.kill('SIGKILL');
    return used;
  };
  console.log(
    row(
      { name: `CPU of a copied channel in ${WINDOW_MS / 1000} s`, unit: 's', target: '≤ 1.5' },
      await alternate(PAIRS, () => cpuWhile(tuner.pid ?? 0), copying),
    ),
  );
  const alone = await cpuWhile(tuner.pid ?? 0);
  for (let n = 1; n < VIEWERS; n++) sessions.push(await watch(on));
  polled = VIEWERS;
  const crowded = await cpuWhile(tuner.pid ?? 0);
  clearInterval(polling);
  const more = crowded - alone;
  const used = `${alone.toFixed(2)} s, ${more >= 0 ? '+' : ''}${more.toFixed(2)} s`;
  return [
    `| change to a channel that is on, median | ${median(shared).toFixed(0)} ms | 1000 ms |`,
    `| CPU of the tuner in ${WINDOW_MS / 1000} s, 1 viewer and ${VIEWERS} | ${used} | none more |`,
  ].join('\n');
}

const timed = (work: () => Promise<void>) => async (): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
/** CPU of this process and of those that ended. */
const used = (work: () => Promise<void>) => async (): Promise<number> => {
  const before = cpuSeconds(process.pid);
  await work();
  return cpuSeconds(process.pid) - before;
};

async function finished(): Promise<void> {
  /** The film as the parts of a recording. */
  const recordingId = newId();
  const parts: LiveSegment[] = [];
  const stored: Promise<void>[] = [];
  const streamId = newId();
  const cutter = new LiveCutter((piece) => {
    const segment: LiveSegment = {
      ...{ sequence: parts.length + 1, startMs: Date.now() + piece.atMs, durationMs: piece.durationMs },
      ...{ bytes: piece.bytes.length, epoch: 1, discontinuity: 0, streamId },
    };
    parts.push(segment);
    writeFileSync(join(folder, `part-${String(segment.sequence).padStart(5, '0')}.ts`), piece.bytes);
    stored.push(api.deps.objects.put(PARTS_BUCKET, partKey(recordingId, segment), piece.bytes));
  });
  for (let at = 0; at < bytes.length; at += 1 << 16) cutter.push(bytes.subarray(at, at + (1 << 16)));
  cutter.end();
  await Promise.all(stored);
  const none = { episode_title: null, description: null, age_rating: null, season_number: null, episode_number: null };
  const recording = {
    id: recordingId,
    title: 'Film',
    start_at: new Date(),
    channel_name: 'One',
    ...none,
  } as RecordingRow;
  const work = { ...api.deps, config: api.config, signal: new AbortController().signal } as unknown as Work;
  const target = join(folder, 'out', 'film.mkv');
  mkdirSync(join(folder, 'out'));
  const finish = async (): Promise<void> => {
    rmSync(target, { force: true });
    await joinParts(work, { row: recording, parts, target });
  };
  const concatenated = join(folder, 'list.txt');
  writeFileSync(
    concatenated,
    readdirSync(folder)
      .filter((name) => name.startsWith('part-'))
      .sort()
      .map((name) => `file '${join(folder, name)}'\n`)
      .join(''),
  );
  const copied = async (): Promise<void> => {
    const input = ['-f', 'concat', '-safe', '0', '-i', concatenated];
    spawnSync('ffmpeg', ['-v', 'error', '-y', ...input, '-map', '0', '-c', 'copy', join(folder, 'copied.mkv')]);
  };
  const name = `live.finish of ${parts.length} parts, ${Math.round(bytes.length / 1e6)} MB`;
  const limit = { target: '≤ 1.2' };
  console.log(row({ name, unit: 'ms', ...limit }, await alternate(3, timed(finish), timed(copied))));
  console.log(row({ name: `${name}, CPU`, unit: 's', ...limit }, await alternate(3, used(finish), used(copied))));
}

console.log(`\nLive television, MPEG-2 576i at ${MEGABITS} Mb/s: ${machine()}\n\n${HEADER}`);
if (runs('change')) await changed();
const found = runs('copy') ? await watched() : undefined;
tuner.kill('SIGTERM');
if (runs('finish')) await finished();
if (found) console.log(`\n| what | found | target |\n|---|---|---|\n${found}`);
server.closeAllConnections();
await endAll();
process.exit(0);
