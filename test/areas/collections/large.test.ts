import { expect } from 'chai';
import { startApi } from '#support/api.ts';
import { givenLibrary, givenMany } from '#support/given-items.ts';

const ITEMS = 20_000;
const HELD = 10_000;

describe('a manual collection of 10,000 items', function () {
  this.timeout(60_000);

  it('is counted and listed by its own items, not by all of the server', async () => {
    const api = await startApi();
    const { db } = api.deps;
    await db.raw('alter table items disable trigger items_search_made');
    await givenMany(db, await givenLibrary(db, 'movies', { everyone: true }), ITEMS);
    const member = api.as(await api.given.member());
    const { id } = (await member.createCollection({ body: { name: 'All of them' } })).body;
    await db.raw(
      `insert into collection_items (collection_id, item_id, position)
       select ?, id, row_number() over () * 1024 from (select id from items order by md5(id::text) limit ?) as first`,
      [id, HELD],
    );
    for (const table of ['libraries', 'collection_items']) await db.raw(`analyze ${table}`);
    const sent: { sql: string; bindings: unknown[] }[] = [];
    db.on('query', (query: (typeof sent)[number]) => sent.push(query));
    const { body } = await member.listCollectionItems({ params: { id }, query: { limit: 50 } });
    expect([body.items.length, body.page.total]).to.deep.equal([50, HELD]);
    const statements = sent.filter(({ sql }) => /from "items" as "i".*collection_items/.test(sql));
    expect(statements).to.have.length(2);
    for (const { sql, bindings } of statements) {
      const places = sql.replace(/\$\d+/g, '?');
      const { rows } = await db.raw<{ rows: object[] }>(`explain (format json) ${places}`, bindings as never);
      const plan = JSON.stringify(rows);
      expect(plan)
        .to.include('"Index Name":"items_pkey"')
        .and.not.match(/"Seq Scan"[^{}]*"Relation Name":"items"/);
    }
  });
});
