import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { startApi } from '#support/api.ts';
import { givenLibrary, givenMany } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { withoutDocuments } from './many.ts';

/**
 * First pages of collections over HTTP: a manual one of 10,000 items, and smart ones over a library of many items. The targets
 * are times of the contract, so the machine matters.
 *
 *   node hack/bench/collections.ts [--items 1000000] [--rounds 60]
 */

const { values: options } = parseArgs({
  options: { items: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '60' } },
});
const rounds = Number(options.rounds);

const at = (sorted: readonly number[], part: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1);

async function main(): Promise<void> {
  const api = await startApi();
  const { db } = api.deps;
  const library = await givenLibrary(db, 'movies', { everyone: true });
  await withoutDocuments(db, () => givenMany(db, library, Number(options.items)));
  const member = api.as(await api.given.member());
  const smart = async (name: string, match: object, more: object = {}): Promise<string> => {
    const rules = { match: match as never, types: [], libraryIds: [], sort: '-addedAt', ...more };
    return (await member.createCollection({ body: { name, kind: 'smart', rules } })).body.id;
  };
  const manual = (await member.createCollection({ body: { name: 'manual' } })).body.id;
  await db.raw(
    `insert into collection_items (collection_id, item_id, position)
     select ?, id, row_number() over () * 1024 from (select id from items limit 10000) as first`,
    [manual],
  );
  for (const table of ['libraries', 'collection_items']) await db.raw(`analyze ${table}`); // as autovacuum does in a server
  const lists = {
    'manual, 10,000 items': manual,
    'smart, unwatched, newest first': await smart('a', { all: [{ field: 'unwatched', op: 'eq', value: true }] }),
    'smart, two decades or well rated': await smart('b', {
      any: [
        { field: 'year', op: 'between', value: [1990, 2009] },
        { field: 'rating', op: 'gte', value: 8 },
      ],
    }),
    'smart, the best 500 since 2000': await smart(
      'c',
      { all: [{ field: 'year', op: 'gte', value: 2000 }] },
      { sort: '-rating', limit: { items: 500 } },
    ),
  };
  for (const [name, id] of Object.entries(lists)) {
    const times: number[] = [];
    for (let round = 0; round < rounds + 5; round++) {
      const begin = performance.now();
      await member.listCollectionItems({ params: { id }, query: { limit: 50 } });
      if (round >= 5) times.push(performance.now() - begin);
    }
    times.sort((a, b) => a - b);
    console.log(`| ${name} | ${at(times, 0.5)} | ${at(times, 0.95)} |`);
  }
}

try {
  await main();
} finally {
  await endAll();
}
process.exit(0);
