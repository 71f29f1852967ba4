/**
 * Our sync of subtitles against ffsubsync 0.5.1 (PyPI) on the same made cases: the share of cues within 200 ms of their lines (target:
 * 95 %), and the CPU of a first run, listening included (target: at most 1.0). A film is real speech in phrases of an order of its own,
 * with noise between. `BENCH_MINUTES=15 BENCH_CASES=8 node hack/bench/sync.ts` prints a table; of fewer cases it takes the last ones.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenLibrary } from '#support/given-items.ts';
import { probedFilm } from '#support/probed-film.ts';
import { pythonPackage } from '#support/python-package.ts';
import { atEnd, endAll, temporaryFolder } from '#support/stores.ts';
import { moved, randomOf, rightOf, type Span, sidecar } from '#support/timed-texts.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { fixtures } from '../fixtures/index.ts';
import { cpuSeconds, machine, median } from './measure.ts';

const LENGTH_MS = Number(process.env['BENCH_MINUTES'] ?? 15) * 60_000;
const RATE = 16_000;
const folder = temporaryFolder('bench-sync');

/** Phrases of the reading, as samples, without the silence around them. */
function phrasesOf(wav: string): Buffer[] {
  const detect = ['-v', 'info', '-i', wav, '-af', 'silencedetect=noise=-38dB:d=0.25', '-f', 'null', '-'];
  const { stderr } = spawnSync('ffmpeg', detect, { encoding: 'utf8' });
  const marks = [...stderr.matchAll(/silence_(start|end): ([\d.]+)/g)].map(([, kind, at]) => ({
    kind,
    at: Number(at),
  }));
  const pcm = execFileSync('ffmpeg', ['-v', 'error', '-i', wav, '-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'], {
    maxBuffer: 64 << 20,
  });
  const byte = (seconds: number): number => Math.round(seconds * RATE) * 2;
  const phrases: Buffer[] = [];
  let from = 0;
  for (const { kind, at } of marks) {
    if (kind === 'end') from = at;
    else if (at - from > 0.6) phrases.push(pcm.subarray(byte(from), byte(at)));
  }
  return phrases;
}

/** A soundtrack, and where its lines are spoken. */
function filmOf(phrases: readonly Buffer[], seed: number): { file: string; lines: Span[] } {
  const random = randomOf(seed);
  const sound = Buffer.alloc((LENGTH_MS / 1000) * RATE * 2);
  for (let at = 0; at < sound.length; at += 2) sound.writeInt16LE(Math.round((random() - 0.5) * 120), at);
  const lines: Span[] = [];
  for (let ms = 4000 + random() * 20_000; ms < LENGTH_MS - 15_000; ) {
    const phrase = phrases[Math.floor(random() * phrases.length)] ?? Buffer.alloc(0);
    phrase.copy(sound, Math.round((ms * RATE) / 1000) * 2);
    const endMs = ms + phrase.length / 2 / (RATE / 1000);
    lines.push({ startMs: Math.round(ms), endMs: Math.round(endMs) });
    ms = endMs + (random() < 0.88 ? 300 + random() * 2500 : 6000 + random() * 30_000);
  }
  const [raw, file] = [join(folder, `${seed}.raw`), join(folder, `${seed}.mka`)];
  writeFileSync(raw, sound);
  const input = ['-f', 's16le', '-ar', String(RATE), '-ac', '1', '-i', raw];
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...input, '-c:a', 'aac', '-b:a', '96k', file]);
  return { file, lines };
}

interface Case {
  name: string;
  move: (ms: number) => number;
  /** The text is in parts that are moved apart. */
  isCut?: boolean;
  keeps?: (random: () => number, ms: number) => boolean;
}

const breaks = (ms: number): number => [0.2, 0.45, 0.8].filter((at) => ms > LENGTH_MS * at).length;
const CASES: Case[] = [
  { name: 'nothing', move: (ms) => ms },
  { name: 'a second late', move: (ms) => ms + 1000 },
  { name: 'four minutes late', move: (ms) => ms + 240_000 },
  { name: 'PAL', move: (ms) => ms * (24 / 25) + 700 },
  { name: 'NTSC to PAL', move: (ms) => ms * (23.976 / 25) + 3000 },
  { name: 'half of the lines', move: (ms) => ms + 8000, keeps: (random) => random() < 0.5 },
  {
    ...{ name: 'a scene of 47 s is missing', isCut: true },
    move: (ms) => ms + (ms > LENGTH_MS * 0.4 ? 0 : 47_000),
    keeps: (_random, ms) => ms < LENGTH_MS * 0.4 || ms > LENGTH_MS * 0.4 + 47_000,
  },
  { name: 'three commercials', move: (ms) => ms + 2000 + breaks(ms) * 95_000, isCut: true },
];

interface Outcome {
  /** Share of cues at their lines. */
  right: number;
  cpu: number;
}

interface Made {
  file: string;
  cues: Span[];
  truth: Span[];
}

async function ours(api: Api, { admin, library }: { admin: TestClient; library: GivenLibrary }, made: Made) {
  const path = join(api.mediaRoot, `${Math.random()}.mka`);
  copyFileSync(made.file, path);
  const text = await sidecar(api, await probedFilm(api, library, path), made.cues);
  const before = cpuSeconds(process.pid);
  for (;;) {
    const { status, body } = await admin.autoSyncSubtitle({ params: text.ids });
    if (status !== 200) throw new Error(JSON.stringify(body));
    if (body.outcome === 'running') continue;
    const outcome = { right: rightOf(body.sync, made.cues, made.truth), cpu: cpuSeconds(process.pid) - before };
    return { ...outcome, text: text.path };
  }
}

const startsIn = (text: string): number[] =>
  [...text.matchAll(/(\d+):(\d+):(\d+)[,.](\d+) -->/g)].map(
    ([, h, m, s, ms]) => ((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1000 + Number(ms),
  );

/** In a process of its own, whose CPU is counted with that of its children. */
function theirs({ file, truth }: Made, { text, isCut }: { text: string; isCut: boolean }, packages: string): Outcome {
  const out = join(folder, 'out.srt');
  const more = ['--max-offset-seconds', '600', ...(isCut ? ['--split-penalty'] : [])];
  const code = `import resource, sys
from ffsubsync.ffsubsync import main
sys.argv[0] = "ffsubsync"
main()
use = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print("CPU", sum(one.ru_utime + one.ru_stime for one in use))`;
  const ran = spawnSync('python3', ['-c', code, file, '-i', text, '-o', out, ...more], {
    env: { ...process.env, PYTHONPATH: packages },
    encoding: 'utf8',
  });
  const cpu = Number(/CPU ([\d.]+)/.exec(ran.stdout)?.[1] ?? NaN);
  if (Number.isNaN(cpu)) throw new Error(ran.stderr.slice(-500));
  const starts = startsIn(readFileSync(out, 'utf8'));
  const right = truth.filter(({ startMs }, i) => Math.abs((starts[i] ?? -Infinity) - startMs) <= 200).length;
  return { right: right / truth.length, cpu };
}

const packages = await pythonPackage('ffsubsync', '0.5.1');
const phrases = phrasesOf(join((await fixtures()).real, 'speech/two_cities.wav'));
const api = await startApi();
const admin = api.as(await api.given.owner());
const library = await givenLibrary(api.deps.db, 'movies');
const runtime = await startRuntime(api.deps, handlers, () => undefined);
atEnd(() => runtime.stop());

console.log(`${machine()}; ${LENGTH_MS / 60_000} minutes a film, ${phrases.length} phrases\n`);
console.log(
  '| case | ours right | ffsubsync right | ours CPU s | ffsubsync CPU s | ratio |\n|---|--:|--:|--:|--:|--:|',
);
const ratios: number[] = [];
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
for (const [seed, { name, move, isCut = false, keeps = () => true }] of CASES.entries()
  .toArray()
  .slice(-Number(process.env['BENCH_CASES'] ?? CASES.length))) {
  const { file, lines } = filmOf(phrases, seed + 1);
  const random = randomOf(seed + 100);
  const truth = lines.filter(({ startMs }) => keeps(random, startMs));
  const early = truth.map(({ startMs, endMs }) => ({
    startMs: startMs - 80 + random() * 140,
    endMs: endMs + random() * 400,
  }));
  const made = { file, truth, cues: moved(early, move) };
  const own = await ours(api, { admin, library }, made);
  const other = theirs(made, { text: own.text, isCut }, packages);
  ratios.push(own.cpu / other.cpu);
  const cells = [name, percent(own.right), percent(other.right), own.cpu.toFixed(2), other.cpu.toFixed(2)];
  console.log(`| ${[...cells, (own.cpu / other.cpu).toFixed(2)].join(' | ')} |`);
}
console.log(`\nCPU, median of the cases: ${median(ratios).toFixed(2)} (target: at most 1.0)`);
await endAll();
process.exit(0);
