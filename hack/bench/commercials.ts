/**
 * Commercials in made recordings, next to Debian's comskip (targets: nine in ten edges within a second, none inside a programme, CPU 1.5 of
 * comskip's). `node hack/bench/commercials.ts [recordings]` prints a table.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { block, programme, recording, truth } from '#support/breaks.ts';
import { requirePrograms } from '#support/debian.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { breaksIn, stretchesWithout } from '#workers/live/commercials/breaks.ts';
import { learnLogo, measure } from '#workers/live/commercials/measure.ts';
import { probeFile } from '#workers/probe/probe.ts';
import { cpuSeconds, machine } from './measure.ts';

const RECORDINGS = Number(process.argv[2] ?? 20);
const NEAR_SEC = 1;

requirePrograms({ comskip: 'comskip' });
const folder = temporaryFolder('bench-commercials');
const settings = join(folder, 'comskip.ini');
// Black frames, logo, silence and aspect, as its documentation advises; an EDL of the breaks.
writeFileSync(settings, 'detect_method=47\noutput_edl=1\noutput_default=0\nmin_commercial_size=15\nthread_count=1\n');

type Edges = [number, number][];

/** Lengths of commercials and programmes differ from one recording to the next. */
const made = (n: number) =>
  truth([
    programme(90 + ((n * 17) % 50)),
    block(15, 30, 10 + (n % 5) * 5),
    programme(110 + ((n * 29) % 40)),
    block(20, 10, 30, 15),
    programme(80 + ((n * 11) % 30)),
  ]);

async function ours(file: string): Promise<Edges> {
  const { file: probe } = await probeFile(file, {});
  const source = { file, probe } as Parameters<typeof measure>[0];
  const { signal } = new AbortController();
  const logo = (await learnLogo(source, signal)) ?? undefined;
  const { durationMs } = probe;
  const found = await measure(source, { fromMs: 0, lengthMs: durationMs, logo }, signal);
  const bare = logo ? stretchesWithout(found.logo) : undefined;
  const breaks = breaksIn({ durationMs, blacks: found.blacks, silences: found.silences, bare });
  return breaks.map(({ startMs, endMs }) => [startMs / 1000, endMs / 1000]);
}

function theirs(file: string): Edges {
  spawnSync('comskip', ['--quiet', `--ini=${settings}`, file], { cwd: folder });
  const edl = file.replace(/\.\w+$/, '.edl');
  const lines = existsSync(edl) ? readFileSync(edl, 'utf8').trim().split('\n').filter(Boolean) : [];
  return lines.map((line) => line.split('\t').slice(0, 2).map(Number) as [number, number]);
}

interface Sum {
  edges: number;
  right: number;
  inside: number;
  cpu: number;
}
const sums: Record<'ours' | 'comskip', Sum> = {
  ours: { edges: 0, right: 0, inside: 0, cpu: 0 },
  comskip: { edges: 0, right: 0, inside: 0, cpu: 0 },
};

function count(sum: Sum, breaks: Edges, found: Edges): void {
  const near = (edge: number, at: 0 | 1): boolean => found.some((one) => Math.abs(one[at] - edge) <= NEAR_SEC);
  for (const [start, end] of breaks) {
    sum.edges += 2;
    sum.right += Number(near(start, 0)) + Number(near(end, 1));
  }
  sum.inside += found.filter(([start, end]) => !breaks.some(([from, to]) => start < to && end > from)).length;
}

let seconds = 0;
for (let n = 0; n < RECORDINGS; n++) {
  const { all, breaks } = made(n);
  const file = join(folder, `recording-${n}.mkv`);
  spawnSync('ffmpeg', ['-v', 'error', '-y', ...recording(all), file]);
  seconds += all.reduce((sum, part) => sum + part.seconds, 0);
  for (const [name, find] of [
    ['ours', ours],
    ['comskip', theirs],
  ] as const) {
    const before = cpuSeconds(process.pid);
    const found = await find(file);
    sums[name].cpu += cpuSeconds(process.pid) - before;
    count(sums[name], breaks, found);
  }
}
console.log(`\nCommercials in ${RECORDINGS} recordings, ${Math.round(seconds)} s of 320x180: ${machine()}\n`);
console.log('| what | ours | comskip | target |\n|---|---|---|---|');
const part = ({ right, edges }: Sum): string => `${right} of ${edges} (${((100 * right) / edges).toFixed(0)} %)`;
console.log(`| edges within a second | ${part(sums.ours)} | ${part(sums.comskip)} | 90 % |`);
console.log(`| breaks inside a programme | ${sums.ours.inside} | ${sums.comskip.inside} | 0 |`);
const ratio = (sums.ours.cpu / sums.comskip.cpu).toFixed(2);
console.log(`| CPU-s | ${sums.ours.cpu.toFixed(1)} | ${sums.comskip.cpu.toFixed(1)} | 1.5 (found ${ratio}) |`);
await endAll();
process.exit(0);
