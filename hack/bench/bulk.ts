/**
 * The speed of the job of a bulk edit (target: 5,000 items a second). `node hack/bench/bulk.ts [items]` prints a table.
 */
import { startApi } from '#support/api.ts';
import { givenLibrary, givenMany } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { changeInBulk } from '../../workers/editing/bulk.ts';
import type { Work } from '../../workers/work.ts';
import { machine } from './measure.ts';

const ITEMS = Number(process.argv[2] ?? 20_000);

const api = await startApi();
const { db, redis, objects, settings, log } = api.deps;
const owner = await api.given.owner();
const films = await givenLibrary(db, 'movies', { everyone: true });
await givenMany(db, films, ITEMS);
await db.raw('vacuum analyze items'); // otherwise autovacuum would run a minute later, during the measurement
for (const [key, kind] of [
  ['shelf', 'text'],
  ['discs', 'number'],
] as const) {
  const body = { key, label: key, kind, itemTypes: ['movie'] };
  const { status } = await api.as(owner).createCustomField({ body });
  if (status !== 201) throw new Error(`a field answered ${status}`);
}

const work: Work = {
  ...{ config: api.config, db, redis, objects, settings, log, jobId: '', attempt: 1, checkpoint: undefined },
  signal: AbortSignal.timeout(600_000),
  keep: async () => undefined,
  report: async () => undefined,
  emit: async () => undefined,
  enqueue: async () => '',
};

/** Items a second of one edit of the whole library. */
async function speed(edit: object): Promise<number> {
  const body = { action: 'edit' as const, filter: { libraryId: films.id, filter: '' }, ...edit };
  const queued = await api.as(owner).changeItemsInBulk({ body });
  const job = await db('jobs').where({ id: queued.body.jobId }).first('payload');
  const began = performance.now();
  const { changed } = (await changeInBulk(job?.payload as { changeId: string }, work)) as { changed: number };
  if (changed !== ITEMS) throw new Error(`${changed} items changed`);
  return ITEMS / ((performance.now() - began) / 1000);
}

console.log(`\nBulk edits: ${machine()}, ${ITEMS} items\n\n| edit | items a second | target |\n|---|---|---|`);
for (const [name, edit] of [
  ['a custom value', { set: { custom: { shelf: 'A1' } } }],
  ['two other custom values', { set: { custom: { shelf: 'B2', discs: 2 } } }],
  ['null for both', { set: { custom: { shelf: null, discs: null } } }],
  ['a year', { set: { year: 1922 } }],
  ['a tag', { add: { tags: ['silent'] } }],
] as const)
  console.log(`| ${name} | ${Math.round(await speed(edit))} | 5000 |`);
await endAll();
process.exit(0);
