/**
 * The speech worker against bare faster-whisper with the same options, over a reading of some minutes: CPU of the job (target: at
 * most 1.10) and resident memory of the process with the model (1.1). Installs the model with hack/speech.sh.
 * `BENCH_READINGS=6 node hack/bench/speech.ts` prints a table.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startApi } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';
import { probedFilm } from '#support/probed-film.ts';
import { startSpeech } from '#support/speech-worker.ts';
import { endAll, eventually, temporaryFolder } from '#support/stores.ts';
import { fixtures } from '../fixtures/index.ts';
import { cpuSeconds, HEADER, machine, type Pairs, row } from './measure.ts';

const READINGS = Number(process.env['BENCH_READINGS'] ?? 6);

const BARE = `
import json, resource, sys
from faster_whisper import WhisperModel
def cpu():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime
model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8", cpu_threads=int(sys.argv[3]))
began = cpu()
segments, _ = model.transcribe(sys.argv[2], language="en", beam_size=5, word_timestamps=True, condition_on_previous_text=False)
words = sum(len(segment.words) for segment in segments)
print(json.dumps({"cpu": cpu() - began, "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))`;

const installed = execFileSync('bash', [join(import.meta.dirname, '../speech.sh')], { encoding: 'utf8' });
const given = Object.fromEntries(
  installed
    .trim()
    .split('\n')
    .map((line) => line.split('=')),
) as Record<string, string>;
const [python = '', modelsDir = ''] = [given['FOYER_SUBTITLES_PYTHON'], given['FOYER_MODELS_DIR']];

const sound = join(temporaryFolder('bench-speech'), 'reading.flac');
const reading = join((await fixtures()).real, 'speech/two_cities.wav');
const loop = ['-v', 'error', '-stream_loop', String(READINGS - 1), '-i', reading];
execFileSync('ffmpeg', [...loop, '-ac', '1', '-ar', '16000', sound]);

const threads = String(availableParallelism());
const runBare = (): { cpu: number; rss: number } =>
  JSON.parse(execFileSync(python, ['-c', BARE, join(modelsDir, 'base'), sound, threads], { encoding: 'utf8' })) as {
    cpu: number;
    rss: number;
  };
const bare = [runBare()];

const api = await startApi();
await api.deps.objects.prepare(['foyer-subtitles']);
const me = api.as(await api.given.owner());
const worker = await startSpeech(api, { modelsDir, FOYER_SUBTITLES_PYTHON: python });
const state = async () => ((await (await fetch(`${worker.url}/status`)).json()) as { state: string }).state;
await eventually(async () => (await state()) === 'ready', 300_000);
const path = join(api.mediaRoot, 'reading.mka');
copyFileSync(sound, path);
const { itemId, fileId } = await probedFilm(api, await givenLibrary(api.deps.db, 'movies'), path);
const seconds =
  ((await api.deps.db('media_files').where({ id: fileId }).first('duration_ms'))?.duration_ms ?? 0) / 1000;

/** The child that holds the model. */
const child = Number(readFileSync(`/proc/${worker.pid}/task/${worker.pid}/children`, 'utf8').trim().split(' ')[0]);
const before = cpuSeconds(worker.pid) + cpuSeconds(child);
const { id } = (await me.generateSubtitles({ params: { id: itemId }, body: { language: 'en' } })).body;
await eventually(async () => {
  const now = await api.deps.db('subtitle_requests').where({ id }).first('state');
  return now?.state === 'finished';
}, 1_800_000);
const own = cpuSeconds(worker.pid) + cpuSeconds(child) - before;
const peakMb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1] ?? 0) / 1024;

bare.push(runBare());
const ours = { cpu: own / seconds, rss: peakMb };
const found = (what: 'cpu' | 'rss'): Pairs => {
  const [a, b] = bare.map((one) => (what === 'cpu' ? one.cpu / seconds : one.rss)) as [number, number];
  return { ours: [ours[what]], theirs: [a, b], ratios: [(2 * ours[what]) / (a + b)], band: [a / b] };
};
process.stdout.write(
  [
    machine(),
    `${Math.round(seconds)} s of speech`,
    HEADER,
    row({ name: 'CPU a second of speech', unit: 's', target: '≤ 1.10' }, found('cpu')),
    row({ name: 'resident at the peak', unit: 'MB', target: '≤ 1.1' }, found('rss')),
    '',
  ].join('\n'),
);
await endAll();
