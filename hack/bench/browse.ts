import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenLibrary, givenMany } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';

/**
 * Pages of a library of a million items, over HTTP with credential, visibility, summaries,
 * total and answer check, against the one bare prepared statement that finds the same rows. A B B' in turn in one process, so
 * only ratios mean anything; B' against B is the noise, and a row whose noise leaves 0.8 to 1.25 is refused.
 *
 *   node hack/bench/browse.ts [--items 1000000] [--rounds 200]
 */

const { values: options } = parseArgs({
  options: { items: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '200' } },
});
const items = Number(options.items);
const rounds = Number(options.rounds);

interface Workload {
  name: string;
  /** The request to the API. */
  query: Record<string, string>;
  /** The bare statement and its values. */
  sql: string;
  values: unknown[];
}

const LISTED = 'library_id = $1 and type = $2 and trashed_at is null and extra_of is null';
const COLUMNS = 'id, title, year, added_at, rating, runtime_ms, artwork';
const NEWEST = 'order by added_at desc nulls last, id limit 51';
const GENRE = `exists (select 1 from item_tags t where t.item_id = items.id and t.kind = 'genre' and t.name_folded = 'drama')`;

const FILLED = ['items', 'item_tags'];

/** The database's own administrator: no time limit, and enough memory to build an index of a million rows. */
async function asAdmin(api: Api, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: api.config.databaseUrl });
  await admin.connect();
  await admin.query(`set statement_timeout = 0; set maintenance_work_mem = '512MB'; set synchronous_commit = off`);
  await work(admin);
  await admin.end();
}

/** Rows first, indexes after: updated row by row, the indexes of a million items take a quarter of an hour. They end unchanged. */
async function withoutIndexes(api: Api, work: () => Promise<void>): Promise<void> {
  await asAdmin(api, async (admin) => {
    const { rows } = await admin.query<{ name: string; made: string }>(
      `select c.relname as name, pg_get_indexdef(i.indexrelid) as made from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = any ($1::regclass[])
         and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)`,
      [FILLED],
    );
    for (const { name } of rows) await admin.query(`drop index ${name}`);
    for (const table of FILLED) await admin.query(`alter table ${table} disable trigger user`);
    await work();
    for (const { made } of rows) await admin.query(made);
    for (const table of FILLED) await admin.query(`alter table ${table} enable trigger user`);
    for (const table of FILLED) await admin.query(`vacuum (analyze) ${table}`);
  });
}

async function fill(api: Api): Promise<GivenLibrary> {
  const { db } = api.deps;
  const library = await givenLibrary(db, 'movies');
  await withoutIndexes(api, async () => {
    await givenMany(db, library, items);
    await asAdmin(api, async (admin) => {
      await admin.query(
        `insert into item_tags (item_id, library_id, kind, name, name_folded)
         select id, library_id, 'genre', g, lower(g) from (select id, library_id, (array['Drama', 'Comedy', 'Western', 'Horror',
           'Crime', 'War', 'Music', 'Family', 'Noir', 'Short'])[1 + (hashtext(id::text) & 7)] g from items where library_id = $1) x`,
        [library.id],
      );
      const counted = `update libraries set item_counts = jsonb_build_object('movie', $2::int) where id = $1`;
      await admin.query(counted, [library.id, items]);
    });
  });
  return library;
}

async function workloads(api: Api, person: Person, library: GivenLibrary): Promise<Workload[]> {
  const key = [library.id, 'movie'];
  const { rows } = await api.deps.db.raw<{ rows: { id: string; at: string }[] }>(
    `select id, added_at::text as at from items where library_id = ? order by added_at desc offset ? limit 1`,
    [library.id, Math.floor(items / 2)],
  );
  const [middle] = rows;
  if (!middle) throw new Error('no items');
  const around = await api.as(person).listLibraryItems({
    params: { id: library.id },
    query: { sort: '-addedAt', around: middle.id, limit: 2 },
  });
  const cursor = around.body.page.cursor ?? '';
  const newest = { sort: '-addedAt', limit: '50' };
  const filtered = { ...newest, filter: 'year:gte:2000;genre:in:drama' };
  const first = await api.as(person).listLibraryItems({ params: { id: library.id }, query: filtered });
  const filteredSql = `select ${COLUMNS} from items where ${LISTED} and year >= 2000 and ${GENRE}`;
  return [
    {
      name: 'page 1, newest, with total',
      query: newest,
      sql: `select ${COLUMNS} from items where ${LISTED} ${NEWEST}`,
      values: key,
    },
    {
      name: `cursor at row ${Math.floor(items / 2)}`,
      query: { ...newest, cursor },
      sql: `select ${COLUMNS} from items where ${LISTED} and added_at <= $3 and (added_at < $3 or id > $4) ${NEWEST}`,
      values: [...key, middle.at, middle.id],
    },
    {
      name: 'page 1 by title, cards',
      query: { sort: 'title', limit: '50', fields: 'card' },
      sql: `select ${COLUMNS} from items where ${LISTED} order by sort_title, id limit 51`,
      values: key,
    },
    {
      name: 'filtered page 1, with total',
      query: filtered,
      sql: `select (select count(*) from (select 1 from items where ${LISTED} and year >= 2000 and ${GENRE} limit 10001) c), p.*
        from (${filteredSql} ${NEWEST}) p`,
      values: key,
    },
    {
      name: 'filtered page 2',
      query: { ...filtered, cursor: first.body.page.cursor ?? '' },
      sql: `${filteredSql} ${NEWEST}`,
      values: key,
    },
  ];
}

/** Milliseconds of each run, ascending. */
type Times = number[];

const at = (times: Times, share: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

async function measure(ours: () => Promise<unknown>, bare: () => Promise<unknown>): Promise<[Times, Times, Times]> {
  for (let n = 0; n < 10; n++) await Promise.all([ours(), bare()]);
  const times: [Times, Times, Times] = [[], [], []];
  for (let n = 0; n < rounds; n++) {
    times[0].push(await timed(ours));
    times[1].push(await timed(bare));
    times[2].push(await timed(bare));
  }
  for (const list of times) list.sort((a, b) => a - b);
  return times;
}

const ms = (value: number): string => value.toFixed(2);

async function main(): Promise<void> {
  const api = await startApi();
  const person = await api.given.member();
  const began = performance.now();
  const library = await fill(api);
  process.stderr.write(`filled in ${Math.round((performance.now() - began) / 1000)} s\n`);
  const client = new pg.Client({ connectionString: api.config.databaseUrl });
  await client.connect();
  const lines = [
    `${items} items, ${rounds} rounds, ${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}, Node ${process.version}; milliseconds`,
    '',
    '| page | ours p50 | ours p99 | bare SQL p50 | bare SQL p99 | ratio p50 | ratio p99 | noise |',
    '|---|---|---|---|---|---|---|---|',
  ];
  for (const { name, query, sql, values } of await workloads(api, person, library)) {
    const path = `/api/v1/libraries/${library.id}/items?${new URLSearchParams(query).toString()}`;
    const ours = async (): Promise<void> => {
      const response = await api.fetch(path, { headers: person.headers });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    };
    const bare = (): Promise<unknown> => client.query({ name, text: sql, values });
    const [a, b, again] = await measure(ours, bare);
    const ratios = [at(a, 0.5) / at(b, 0.5), at(a, 0.99) / at(b, 0.99), at(again, 0.5) / at(b, 0.5)].map(ms);
    const noise = Number(ratios[2]);
    if (noise < 0.8 || noise > 1.25) ratios[2] = `${ratios[2]}, refused`;
    const cells = [at(a, 0.5), at(a, 0.99), at(b, 0.5), at(b, 0.99)].map(ms);
    lines.push(`| ${[name, ...cells, ...ratios].join(' | ')} |`);
  }
  await client.end();
  process.stdout.write(`${lines.join('\n')}\n`);
}

try {
  await main();
} finally {
  await endAll();
}
process.exit(0);
