import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenCredit, givenItem, givenLibrary } from '#support/given-items.ts';

const PEOPLE = 2400;
const HIDDEN = 18;
/** More names than are looked up one by one. */
const MANY = 1100;

interface PeopleQuery {
  role?: 'director';
  q?: string;
}

describe('lists of many people', function () {
  this.timeout(120_000);
  let api: Api;
  let films: GivenLibrary;
  let owner: Person;
  let child: Person;

  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    owner = await api.given.owner();
    child = await api.given.child(12);
    films = await givenLibrary(db, 'movies', { everyone: true });
    await db.transaction(async (tx) => {
      await tx.raw('set local statement_timeout = 0');
      await tx.raw(
        `insert into people (id, name, name_folded) select foyer_new_id(), name, lower(name)
         from (select 'Anna ' || lpad(n::text, 5, '0') as name from generate_series(1, ?) n) made`,
        [PEOPLE],
      );
      await tx.raw(
        `insert into items (id, library_id, type, top, identity_key, title, sort_title)
         select gen_random_uuid(), ?, 'movie', true, 'f-' || n, 'Film ' || n, 'film ' || n from generate_series(1, ?) n`,
        [films.id, PEOPLE],
      );
      await tx.raw(
        `insert into credits (id, item_id, person_id, role, position)
         select gen_random_uuid(), i.id, p.id, case when r.at = 0 then 'director' else 'actor' end, r.at
         from (select id, row_number() over (order by id) as n from items where library_id = ?) i
           join (select id, row_number() over (order by name) as n from people) p on p.n = i.n, generate_series(0, 3) as r(at)`,
        [films.id],
      );
    });
    for (const table of ['items', 'credits', 'people', 'person_names', 'credited_items', 'credited_counts'])
      await db.raw(`vacuum analyze ${table}`);
  });

  /** Pages of Postgres that the first page of a list reads, without its count. */
  const pagesOf = async (who: Person, query: PeopleQuery): Promise<number> => {
    const { db } = api.deps;
    const seen: { sql: string; bindings: unknown[] }[] = [];
    const note = (one: { sql: string; bindings: unknown[] }) => void seen.push(one);
    db.on('query', note);
    const { status, body } = await api.as(who).listPeople({ query: { ...query, limit: 50 } });
    db.off('query', note);
    expect([status, body.items.length]).to.deep.equal([200, 50]);
    const list = seen.find(
      ({ sql }) => sql.includes('from "people" as "p"') && sql.includes('order by') && !sql.includes('count('),
    );
    const sql = (list?.sql ?? '').replaceAll(/\$\d+/g, '?');
    const { rows } = await db.raw<{ rows: { 'QUERY PLAN': { Plan: Record<string, number> }[] }[] }>(
      `explain (analyze, buffers, format json) ${sql}`,
      list?.bindings as string[],
    );
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {};
    return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
  };

  it('by role and by text read what one page needs, and not every credit', async () => {
    const { db } = api.deps;
    const all = (await db('credits').where({ role: 'director' }).pluck('id')).length;
    expect(all).to.equal(PEOPLE);
    for (const who of [owner, child])
      for (const query of [{ role: 'director' }, { q: 'a' }, { role: 'director', q: 'anna' }] as const)
        expect(await pagesOf(who, query), JSON.stringify(query)).to.be.below(PEOPLE);
  });

  it('never name a person by a role in a hidden title, whether few or many have the role', async () => {
    const { db } = api.deps;
    const hidden = await givenItem(db, films, { top: true, title: 'Hidden', age_years: HIDDEN });
    const seen = await givenItem(db, films, { top: true, title: 'Seen', age_years: 6 });
    const [known] = await db('people')
      .insert({ id: db.raw('foyer_new_id()'), name: 'Zoe', name_folded: 'zoe' } as never)
      .returning<{ id: string }[]>('id');
    const credit = (item_id: string, role: string) =>
      db('credits').insert({
        id: db.raw('gen_random_uuid()'),
        item_id,
        person_id: known?.id ?? '',
        role,
        position: 0,
      } as never);
    await credit(seen, 'writer');
    for (const role of ['narrator', 'director']) await credit(hidden, role);
    const listed = async (who: Person, query: object) => {
      const { body } = await api.as(who).listPeople({ query: { q: 'zoe', ...query } });
      return [body.items.map(({ name }) => name), body.page.total];
    };
    for (const role of ['narrator', 'director'] as const) {
      expect(await listed(owner, { role }), role).to.deep.equal([['Zoe'], 1]);
      expect(await listed(child, { role }), role).to.deep.equal([[], 0]);
    }
    expect(await listed(child, { role: 'writer' })).to.deep.equal([['Zoe'], 1]);
    expect(await listed(owner, { q: 'zoee' }), 'alike where none begins so').to.deep.equal([['Zoe'], 1]);
    expect((await api.as(child).listPeople({ query: { role: 'narrator' } })).body.page.total).to.equal(0);
  });

  it('by text name the visible person who is alike, however many hidden names begin so', async () => {
    const { db } = api.deps;
    const hidden = await givenItem(db, films, { top: true, age_years: HIDDEN });
    await db.raw(
      `with made as (insert into people (id, name, name_folded) select foyer_new_id(), 'Vora ' || n, 'vora ' || n
         from generate_series(1, ?::int) n returning id)
       insert into credits (id, item_id, person_id, role, position)
       select gen_random_uuid(), ?, id, 'actor', 0 from made`,
      [MANY, hidden],
    );
    await givenCredit(db, await givenItem(db, films, { top: true, age_years: 6 }), { name: 'Vor' });
    const { body } = await api.as(child).listPeople({ query: { q: 'vora' } });
    expect(body.items.map(({ name }) => name)).to.deep.equal(['Vor']);
  });
});
