/**
 * The cost of labels (targets: a show of 500 episodes p95 200 ms, 100,000 items under a minute, a list less than 10 %).
 * `node hack/bench/labels.ts [items]` prints a table.
 */
import { startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary, givenMany, givenShow } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { applyLabels } from '../../workers/labels/apply.ts';
import type { Work } from '../../workers/work.ts';
import { alternate, machine, median } from './measure.ts';

const ITEMS = Number(process.argv[2] ?? 20_000);
const ROUNDS = 20;
const LISTS = 40;

const api = await startApi();
const { db, redis, objects, settings, log } = api.deps;
const owner = await api.given.owner();
const films = await givenLibrary(db, 'movies', { everyone: true });
const shows = await givenLibrary(db, 'shows', { everyone: true });
await givenMany(db, films, ITEMS);
const show = await givenShow(db, shows, { seasons: 10, episodes: 50, title: 'Long' });
await db.raw('vacuum analyze items'); // otherwise autovacuum would run a minute later, during the measurement

async function label(name: string): Promise<{ id: string; number: number }> {
  const { body } = await api.as(owner).createLabel({ body: { name } });
  return db('labels').where({ id: body.id }).first('id', 'number');
}

/** Times of putting the label on the show and taking it off again, ms. */
async function onShow(): Promise<number[]> {
  const { id } = await label('On a show');
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const began = performance.now();
    const body = i % 2 === 0 ? { add: [show.id] } : { remove: [show.id] };
    const { status } = await api.as(owner).setLabelItems({ params: { id }, body });
    if (status !== 200) throw new Error(`labelling answered ${status}`);
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b);
}

/** Seconds of the job over the whole library. */
async function onLibrary(): Promise<number> {
  const { number } = await label('On a library');
  const filter = { libraryId: films.id, filter: 'year:gte:0', action: 'add' as const, accountId: owner.accountId };
  const work: Work = {
    ...{ config: api.config, db, redis, objects, settings, log, jobId: '', attempt: 1, checkpoint: undefined },
    signal: AbortSignal.timeout(600_000),
    keep: async () => undefined,
    report: async () => undefined,
    emit: async () => undefined,
    enqueue: async () => '',
  };
  const began = performance.now();
  await applyLabels({ number, filter }, work);
  return (performance.now() - began) / 1000;
}

/** Time of reading first pages one after the other, ms each. */
async function lists(person: Person): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < LISTS; i++)
    await api.as(person).listLibraryItems({ params: { id: films.id }, query: { limit: 50 } });
  return (performance.now() - began) / LISTS;
}

console.log(`\nLabels: ${machine()}\n\n| what | ours | target |\n|---|---|---|`);
const shown = await onShow();
console.log(
  `| a show of 500 episodes, median / p95 | ${Math.round(median(shown))} / ${Math.round(shown.at(-2) ?? 0)} ms | p95 200 ms |`,
);
const free = await api.given.member();
const bound = await api.given.member();
const child = await api.given.member();

/** Labels ten films, and makes the label one of the part for a person. */
async function ruled(name: string, part: { deny: unknown[] } | { only: unknown[] }): Promise<void> {
  const { id } = await label(name);
  const add = await db('items').where({ library_id: films.id }).orderBy('sort_title', 'desc').limit(10).pluck('id');
  await api.as(owner).setLabelItems({ params: { id }, body: { add } });
  const body = { restricted: false, allow: [], deny: [], only: [], ...part };
  await api.as(owner).setLabelAccess({ params: { id }, body });
}

await ruled('Denied', { deny: [{ userId: bound.accountId }] });
await ruled('Shelf', { only: [{ userId: child.accountId }] });
for (const person of [free, bound, child]) await lists(person);
for (const [who, person] of [
  ['under a rule that hides ten films', bound],
  ['of a shelf of ten films', child],
] as const) {
  const found = await alternate(
    5,
    () => lists(person),
    () => lists(free),
  );
  const context = `${median(found.theirs).toFixed(1)} ms; without against without ${median(found.band).toFixed(2)}`;
  console.log(
    `| first page of ${ITEMS} ${who}, against none (${context}) | ${median(found.ratios).toFixed(2)} | 1.10 |`,
  );
}
const seconds = await onLibrary();
const part = 0.95 * ITEMS; // the others have no year
console.log(`| the job over ${part} items, for 100,000 | ${((seconds * 100_000) / part).toFixed(0)} s | 60 s |`);
await endAll();
process.exit(0);
