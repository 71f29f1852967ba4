/**
 * Sizes of posters made through getImage, against sharp alone on the same bytes at the same
 * priority in two threads (target:
 * at least 0.9 of sharp), and answers of made sizes and of 304. `node hack/bench/variants.ts [pictures]` prints a table.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import sharp from 'sharp';
import { startApi } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { alternate, cpuSeconds, HEADER, machine, median, row } from './measure.ts';

const COUNT = Number(process.argv[2] ?? 16);
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 5);
/** Requests at once, as a page of posters sends them; two processes make the sizes. */
const AT_ONCE = 8;
const TWIN = new URL('./twin/sharp.ts', import.meta.url).pathname;
const [WIDTH, HEIGHT] = [2000, 3000];

/** A picture with as much detail as a poster: large soft shapes and fine grain. */
async function poster(): Promise<Buffer> {
  const soft = await sharp(randomBytes(8 * 12 * 3), { raw: { width: 8, height: 12, channels: 3 } })
    .resize(WIDTH, HEIGHT, { kernel: 'cubic' })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const grain = { create: { width: WIDTH, height: HEIGHT, channels: 3 as const, background: '#808080' } };
  const noise = await sharp({
    ...grain,
    create: { ...grain.create, noise: { type: 'gaussian', mean: 128, sigma: 12 } },
  })
    .png({ compressionLevel: 0 })
    .toBuffer();
  return sharp(soft)
    .composite([{ input: noise, blend: 'soft-light' }])
    .jpeg({ quality: 90 })
    .toBuffer();
}

async function inPairs<T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const left = [...list];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

const api = await startApi();
const { db, objects } = api.deps;
const person = await api.given.owner();
const library = await givenLibrary(db, 'movies');
const pictures: { id: string; file: string }[] = [];
const folder = temporaryFolder('variants');
for (let n = 0; n < COUNT; n += 1) {
  const bytes = await poster();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await objects.put('foyer-artwork', sha256, bytes);
  const [id, owner] = [randomUUID(), await givenItem(db, library)];
  await db('images').insert({
    ...{ id, kind: 'poster', owner_kind: 'item', owner_id: owner, source: 'upload', sha256, mime: 'image/jpeg' },
    ...{ size_bytes: bytes.length, width: WIDTH, height: HEIGHT, blurhash: 'L00000', dominant: '#000000' },
  });
  const file = join(folder, `${n}.jpg`);
  await writeFile(file, bytes);
  pictures.push({ id, file });
}

/** Each round requests another quality, so that nothing is made already. */
const qualities = [40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95];
let round = 0;
const read = async (id: string, query: string, headers: Record<string, string> = {}): Promise<Response> => {
  const answer = await api.fetch(`/api/v1/images/${id}?${query}`, { headers: { ...person.headers, ...headers } });
  await answer.arrayBuffer();
  return answer;
};
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
const twin = spawn('nice', ['-n', '5', process.execPath, TWIN, ...pictures.map(({ file }) => file)], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const lines = createInterface({ input: twin.stdout })[Symbol.asyncIterator]();

const quality = (): number => qualities[round % qualities.length] ?? 80;
const ours = (): Promise<number> => {
  round += 1;
  return timed(() => inPairs(pictures, ({ id }) => read(id, `width=320&format=webp&quality=${quality()}`)));
};
const theirs = async (): Promise<number> => {
  twin.stdin.write(`${quality()}\n`);
  return Number((await lines.next()).value);
};
await theirs(); // starts it
await read(pictures[0]?.id ?? '', 'width=48&format=webp'); // starts the sandbox
await ours();
const found = await alternate(PAIRS, ours, theirs);

/** Seconds of CPU of this process, which is the API here, and of its sandboxes. */
function ownCpu(): number {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
  const sandboxes = children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('pictures-child'));
  const { user, system } = process.cpuUsage();
  return sandboxes.reduce((sum, pid) => sum + cpuSeconds(Number(pid)), (user + system) / 1e6);
}
const cpuOf = async (clock: () => number, work: () => Promise<unknown>): Promise<number> => {
  const began = clock();
  await work();
  return (clock() - began) * 1000;
};
const twinCpu = (): number => cpuSeconds(twin.pid ?? 0);
const cpu = await alternate(
  PAIRS,
  () => cpuOf(ownCpu, ours),
  () => cpuOf(twinCpu, theirs),
);

const alone: number[] = [];
for (const { id } of pictures) alone.push(await timed(() => read(id, 'width=480&format=webp&quality=40')));
const made: number[] = [];
for (let n = 0; n < 200; n += 1) {
  const { id } = pictures[n % COUNT] ?? { id: '' };
  made.push(await timed(() => read(id, 'width=480&format=webp&quality=40')));
}
const [first] = pictures;
const etag = (await read(first?.id ?? '', 'width=480&format=webp&quality=40')).headers.get('etag') ?? '';
const same: number[] = [];
for (let n = 0; n < 200; n += 1)
  same.push(await timed(() => read(first?.id ?? '', 'width=480&format=webp&quality=40', { 'if-none-match': etag })));
const p95 = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[Math.floor(list.length * 0.95)] ?? NaN;
const ms = (value: number): string => `${value.toFixed(1)} ms`;

twin.kill();
process.stdout.write(`${machine()}\n
${HEADER}
${row({ name: `${COUNT} sizes of 320 by 480, wall`, unit: 'ms', target: '≤ 1.11' }, found)}
${row({ name: `${COUNT} sizes of 320 by 480, CPU`, unit: 'ms', target: '≤ 1.11' }, cpu)}

Made new, alone: median ${ms(median(alone))}, p95 ${ms(p95(alone))} (250). In memory: p95 ${ms(p95(made))} (40). 304: p95 ${ms(p95(same))} (5).
`);
await endAll();
process.exit(0);
