// The plans of first pages on a large server: no sort, filter field, smart rule or row of Home reads the table of items from its start
// to its end.
import { expect } from 'chai';
import { readers } from '#areas/home/rows/kinds.ts';
import type { ItemField } from '#areas/items/fields/field-sql.ts';
import { itemFields } from '#areas/items/fields/fields.ts';
import { serverSorts } from '#areas/items/listing/server-list.ts';
import { librarySorts, sortsOf } from '#areas/items/listing/sorts.ts';
import { named } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenCredit, givenLibrary, givenState, givenTag } from '#support/given-items.ts';
import { withoutDocuments, withoutIndexes } from '../../../hack/bench/many.ts';

/** Items by the type of their library. */
const SERVER = [
  ['movies', 'movie', 80_000],
  ['movies', 'movie', 50_000],
  ['shows', 'show', 2000],
  ['shows', 'episode', 30_000],
  ['photos', 'photo', 20_000],
  ['music', 'track', 10_000],
  ['books', 'book', 5000],
  ['books', 'audiobook', 2000],
  ['comics', 'comic', 2000],
  ['games', 'game', 5000],
] as const;
const STARTED = 500;
/** Rows of items that a page in the order of an index reads: those of the page from each type of each library. */
const OF_SORTS = 1000;
/** Rows of new items gather up to 3,000 of each type, or those of 30 days. */
const OF_HOME = 35_000;

interface Node {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Relation Name'?: string;
  'Parent Relationship'?: string;
  'Subplan Name'?: string;
  Plans?: Node[];
}

type Request = () => Promise<Answered<unknown>>;

interface Sent {
  sql: string;
  bindings: unknown[];
}

/** A value of each kind of field that some items may have. */
const VALUES: Record<ItemField['kind'], string> = {
  ...{ text: 'contains:film 12', number: 'gte:5', date: 'gte:now-30d', boolean: 'eq:true', enum: 'eq:none' },
  ...{ person: 'eq:Ada', tag: 'eq:Drama', duration: 'gte:3600000', language: 'eq:en', bytes: 'gte:1000' },
};

function conditionOf([name, field]: [string, ItemField]): string {
  const own: Record<string, string> = { external_id: 'eq:tmdb\\:1', taken_day: 'eq:05-01' };
  const value = field.kind === 'enum' && field.values ? `eq:${field.values.at(-1)}` : VALUES[field.kind];
  return `${name}:${own[name] ?? value}`;
}

describe('first pages of 200,000 items', function () {
  this.timeout(600_000);
  let api: Api;
  let admin: TestClient;
  const libraries = new Map<string, GivenLibrary>();

  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    const owner = await api.given.owner();
    admin = api.as(owner);
    await withoutDocuments(db, () =>
      withoutIndexes(db, 'items', async () => {
        for (const [of, type, count] of SERVER) {
          const key = of === 'movies' ? `${of} ${count}` : of;
          const library = libraries.get(key) ?? (await givenLibrary(db, of, { everyone: true }));
          libraries.set(key, library);
          await db.transaction(async (tx) => {
            await tx.raw('set local statement_timeout = 0');
            await tx.raw(
              `insert into items (id, library_id, type, top, identity_key, title, sort_title, year, released_on, rating, runtime_ms,
                 size_bytes, bitrate, index_number, taken_at, added_at, age_rating)
               select gen_random_uuid(), ?::uuid, ?, true, ? || n, 'Film ' || n, 'film ' || n, 1950 + n % 75, date '1950-01-01' + n % 27000,
                 (n % 100) / 10.0, (60 + n % 120) * 60000, n::bigint * 1000003 % 50000000000, n * 17 % 9000000, n % 1000,
                 timestamptz '2000-01-01' + n * interval '37 minutes', now() - n * interval '1 minute', 'FSK 12'
               from generate_series(1, ?::int) n`,
              [library.id, type, type, count],
            );
          });
        }
        await db.raw(
          `update items e set parent_id = s.id, grandparent_id = s.id from items s
            where e.type = 'episode' and s.identity_key = 'show' || (1 + substr(e.identity_key, 8)::int % 2000)`,
        );
      }),
    );
    const films = libraries.get('movies 80000') as GivenLibrary;
    const some = (await db('items').orderBy('id').limit(STARTED).select('id', 'library_id')) as Record<
      string,
      string
    >[];
    for (const [n, { id = '', library_id: of = '' }] of some.entries()) {
      const state = {
        position_ms: n % 2 ? 1000 : 0,
        watched: n % 2 === 0,
        favorite: n % 5 === 0,
        last_played_at: new Date(),
      };
      await givenState(db, { ...films, id: of }, { profileId: owner.profileId, itemId: id, ...state });
    }
    const [first] = await db('items').where({ library_id: films.id }).limit(1).select('id');
    await givenTag(db, films, first?.id ?? '', ['genre', 'Drama']);
    await givenCredit(db, first?.id ?? '', { name: 'Ada' });
    await db.raw('vacuum analyze');
  });

  /** Each node that reads items, without those that only count a list. */
  function readsIn(node: Node): Node[] {
    const counts = node['Parent Relationship'] === 'InitPlan' && !node['Subplan Name']?.startsWith('CTE ');
    if (counts) return [];
    const below = (node.Plans ?? []).flatMap(readsIn);
    return node['Relation Name'] === 'items' ? [node, ...below] : below;
  }

  const rowsOf = (node: Node): number =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];

  /** The statements of a request that scan the items, or read too many of them. */
  async function reading(request: Request, most: number | undefined): Promise<string[]> {
    const { db, redis } = api.deps;
    await redis.flushdb();
    const sent: Sent[] = [];
    const note = (one: Sent): void => void sent.push(one);
    db.on('query', note);
    const { status, body } = await request();
    db.off('query', note);
    expect(status, JSON.stringify(body)).to.equal(200);
    const reads = sent.filter(({ sql }) => /^\s*(?:select|with|\()/.test(sql) && /\bitems\b/.test(sql));
    expect(reads, 'statements').to.not.have.length(0);
    const found: string[] = [];
    for (const { sql, bindings } of reads) {
      if (sql.startsWith('select count(*) as n')) continue; // an exact count may read everything, within five seconds
      const text = `explain (${most ? 'analyze, timing off, ' : ''}format json) ${sql}`;
      const [row] = await named<{ 'QUERY PLAN': { Plan: Node }[] }>(db, { name: '', text, values: bindings });
      const nodes = readsIn(row?.['QUERY PLAN'][0]?.Plan as Node);
      const rows = most ? nodes.reduce((sum, node) => sum + rowsOf(node), 0) : 0;
      const scans = nodes.some((node) => node['Node Type'] === 'Seq Scan');
      if (scans || rows > (most ?? 0)) found.push(`${scans ? 'scans, ' : ''}${rows} rows: ${sql}`);
    }
    return found;
  }

  /** Runs each request by its name. */
  async function faultsOf(requests: readonly [name: string, request: Request][], most?: number): Promise<string[]> {
    const found: string[] = [];
    for (const [name, request] of requests)
      for (const fault of await reading(request, most)) found.push(`${name}: ${fault}`);
    return found;
  }

  const indexed = (sorts: typeof librarySorts): string[] => {
    const table = sortsOf(sorts, { profileId: '', day: '' });
    return sorts.filter((name) => table[name]?.indexed).flatMap((name) => [name, `-${name}`]);
  };
  const params = (of = 'movies 80000'): { id: string } => ({ id: libraries.get(of)?.id ?? '' });
  /** A library and a type in it that have the field. */
  const placeOf = ({ types }: ItemField) => {
    const [of, type] = SERVER.find(([, one]) => types?.includes(one) ?? true) ?? SERVER[0];
    return { params: params(of === 'movies' ? undefined : of), type };
  };
  const fields = Object.entries(itemFields);
  const smart = async (rules: object): Promise<{ id: string }> => {
    const made = await admin.createCollection({ body: { name: newId(), kind: 'smart', rules } as never });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    return { id: made.body.id };
  };

  it('by each sort walk an index, of a library and of all', async () => {
    const sorts = indexed(librarySorts);
    expect(sorts.length).to.be.at.least(26);
    const requests = [
      ...sorts.map((sort) => [sort, () => admin.listLibraryItems({ params: params(), query: { sort } })]),
      ...indexed(serverSorts).map((sort) => [`all ${sort}`, () => admin.listItems({ query: { sort } })]),
    ] as [string, Request][];
    expect(await faultsOf(requests, OF_SORTS)).to.deep.equal([]);
  });

  it('by each filter field scan no table of items, of a library and of all', async () => {
    const of = (field: (typeof fields)[number]) => ({ filter: conditionOf(field) });
    const found = await faultsOf([
      ...fields.map((one) => {
        const { type, ...place } = placeOf(one[1]);
        return [one[0], () => admin.listLibraryItems({ ...place, query: { ...of(one), type } })] as never;
      }),
      ...fields.map((one) => [`all ${one[0]}`, () => admin.listItems({ query: of(one) })] as never),
    ]);
    expect(found).to.deep.equal([]);
  });

  it('by each field and sort of a smart collection scan none', async () => {
    const requests: [string, Request][] = [];
    for (const one of fields) {
      const [field = '', op = '', value = ''] = conditionOf(one).split(/(?<!\\):/);
      const typed = one[1].kind === 'boolean' ? value === 'true' : value.replaceAll('\\', '');
      const all = [{ field, op, value: ['number', 'duration', 'bytes'].includes(one[1].kind) ? Number(value) : typed }];
      const made = await smart({ match: { all }, types: [], libraryIds: [], sort: 'title' });
      requests.push([field, () => admin.listCollectionItems({ params: made })]);
    }
    for (const sort of indexed(serverSorts)) {
      const match = { all: [{ field: 'year', op: 'gte', value: 1960 }] };
      const made = await smart({ match, types: [], libraryIds: [], sort });
      requests.push([sort, () => admin.listCollectionItems({ params: made })]);
    }
    expect(await faultsOf(requests)).to.deep.equal([]);
  });

  it('of each row of Home read what the row gathers', async () => {
    const match = { all: [{ field: 'genre', op: 'eq', value: 'Drama' }] };
    const collection = await smart({ match, types: [], libraryIds: [], sort: 'title' });
    const filterId = newId();
    const saved = await admin.saveFilter({
      params: { ...params(), filterId },
      body: { name: 'New', filter: 'year:gte:2000' } as never,
    });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(201);
    const sources: Record<string, object> = {
      filter: { filter: 'genre:eq:Drama' },
      collection: { collectionId: collection.id },
      'saved-filter': { filterId },
    };
    const kinds = Object.keys(readers).filter((kind) => kind !== 'libraries');
    const rows = kinds.map((kind) => ({ rowId: kind, kind, ...(sources[kind] && { source: sources[kind] }) }));
    expect((await admin.setHomeLayout({ body: { rows } as never })).status).to.equal(200);
    const requests = kinds.map((rowId) => [rowId, () => admin.getHome({ query: { rows: rowId } })]) as [
      string,
      Request,
    ][];
    expect(await faultsOf(requests, OF_HOME)).to.deep.equal([]);
  });
});
