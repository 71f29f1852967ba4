/**
 * Loading of a pack against a bare COPY of the same rows into the same indexes, and the speed of lookups.
 * `node hack/bench/spine.ts [works]` prints a table.
 */
import { generateKeyPairSync } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { saveSettings } from '#platform/settings.ts';
import { copyLine } from '#platform/spine/copy-row.ts';
import { packRows } from '#platform/spine/delta.ts';
import { rawKey, trustedKeysOf } from '#platform/spine/manifest.ts';
import { openPack } from '#platform/spine/pack.ts';
import { copyWorks, indexes, indexPartition, makePartition } from '#platform/spine/partitions.store.ts';
import { fileRanges, PIECE_BYTES, putPiece } from '#platform/spine/source.ts';
import { readRow } from '#platform/spine/work.ts';
import { worksAlike, worksByIds, worksByTitle } from '#platform/spine/works.store.ts';
import { writePack } from '#platform/spine/write-pack.ts';
import { startApi } from '#support/api.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { createSpineImport } from '#workers/spine/import.ts';
import { machine } from './measure.ts';

const WORKS = Number(process.argv[2] ?? 1_000_000);
const LOOKUPS = 100;
const BARE = 999_999;
const WORDS =
  'silver river night stone garden winter house letter bridge shadow morning island road glass fire song'.split(' ');

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const trusted = rawKey(publicKey).toString('base64');
const idOf = (n: number): string => `Q${10_000_000 + n}`;
const titleOf = (n: number): string =>
  [n, n * 7 + 3, n * 13 + 5].map((each, at) => WORDS[Math.floor(each / 16 ** at) % WORDS.length]).join(' ') +
  ` ${n % 9973}`;

async function* rows() {
  for (let n = 0; n < WORKS; n += 1)
    yield readRow(
      JSON.stringify({
        ...{
          kind: 'movie',
          ids: { wikidata: idOf(n), imdb: `tt${1_000_000 + n}`, tmdb: String(n) },
          title: titleOf(n),
        },
        ...{
          aliases: [{ title: `Der ${titleOf(n + 1)}`, language: 'de' }],
          year: 1900 + (n % 125),
          runtimeMs: 5_400_000,
        },
        ...{
          genres: ['drama'],
          countries: ['DE'],
          languages: ['de'],
          description: `A film of ${1900 + (n % 125)} about a ${WORDS[n % 16]}.`,
        },
        creators: [{ name: `Director ${n % 50_000}`, role: 'director', ids: { wikidata: `Q${n % 50_000}` } }],
      }),
    );
}

const path = join(temporaryFolder('bench-spine'), 'pack');
const described = {
  name: 'bench',
  version: '2026.11.1',
  languages: ['de'],
  builtAt: '2026-11-24T00:00:00.000Z',
  sources: [],
};
const signer = { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, name: 'bench' };
const written = await writePack(path, rows(), { described, signer });
const api = await startApi();
const { deps } = api;
await saveSettings(deps.db, { 'spine.trustedKeys': [trusted] }, null);
await deps.settings.reload();
const read = fileRanges(path);
const packId = newId();
const { size } = await stat(path);
for (let n = 0; n * PIECE_BYTES < size; n += 1)
  await putPiece(
    deps.objects,
    { id: packId, number: n },
    await read(n * PIECE_BYTES, Math.min(size, (n + 1) * PIECE_BYTES)),
  );

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
};

const work = {
  ...{ ...deps, jobId: newId(), attempt: 1, signal: new AbortController().signal, checkpoint: null },
  ...{ keep: async () => undefined, report: async () => undefined, emit, enqueue },
};
const load = await timed(() =>
  createSpineImport()({ packId, sha256: written.sha256, importedBy: null, source: { uploaded: true } }, work),
);

// The same rows as ready text of COPY in memory, and then the same indexes.
const texts: string[] = [];
const head = await openPack(read, trustedKeysOf([trusted]));
for await (const row of packRows(read, head)) {
  const line = 'gone' in row ? '' : copyLine(row);
  if (texts.length > 0 && (texts.at(-1)?.length ?? 0) < 60_000) texts[texts.length - 1] += line;
  else texts.push(line);
}
await makePartition(deps.db, BARE);
const bareRows = await timed(() =>
  deps.db.transaction(async (tx) => {
    await tx.raw('set local statement_timeout = 0');
    await copyWorks(
      tx,
      BARE,
      (async function* () {
        yield* texts;
      })(),
    );
  }),
);
const bareIndexes = await timed(async () => {
  for (const index of indexes) await deps.db.transaction((tx) => indexPartition(tx, BARE, index));
});

async function p95(lookup: (n: number) => Promise<unknown[]>): Promise<string> {
  const times: number[] = [];
  let missed = 0;
  for (let n = 0; n < LOOKUPS; n += 1) {
    const began = performance.now();
    const found = await lookup(Math.floor((n * WORKS) / LOOKUPS));
    if (found.length === 0) missed += 1;
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return `${times[LOOKUPS >> 1]?.toFixed(1)} | ${times[Math.floor(LOOKUPS * 0.95)]?.toFixed(1)} | ${missed} of ${LOOKUPS}`;
}

const { rows: sizes } = await deps.db.raw<{ rows: { bytes: number }[] }>(
  `select pg_total_relation_size('foyer_spine.works_${BARE}')::bigint as bytes`,
);
console.log(machine());
console.log(
  `${WORKS} works, a pack of ${(size / 2 ** 20).toFixed(0)} MiB, ${((sizes[0]?.bytes ?? 0) / 2 ** 20).toFixed(0)} MiB in Postgres`,
);
console.log(`import ${load.toFixed(1)} s; bare COPY ${bareRows.toFixed(1)} s, its indexes ${bareIndexes.toFixed(1)} s`);
console.log(`speed of the import: ${((bareRows + bareIndexes) / load).toFixed(2)} of bare`);
console.log('\n| lookup | median, ms | p95, ms | without result |\n|---|---:|---:|---:|');
console.log(`| by id | ${await p95((n) => worksByIds(deps.db, [`imdb:tt${1_000_000 + n}`]))} |`);
console.log(
  `| by title and year | ${await p95((n) => worksByTitle(deps.db, { titles: [titleOf(n)], kind: 'movie', year: 1900 + (n % 125) }))} |`,
);
console.log(`| by alias | ${await p95((n) => worksByTitle(deps.db, { titles: [`Der ${titleOf(n)}`] }))} |`);
console.log(`| alike | ${await p95((n) => worksAlike(deps.db, `${titleOf(n)}x`))} |`);
await endAll();
process.exit(0);
