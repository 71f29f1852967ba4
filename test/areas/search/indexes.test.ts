import { expect } from 'chai';
import type { Knex } from 'knex';

import { PEOPLE, type Scope, tierQueries } from '#areas/search/found/candidates.view.ts';
import { within } from '#areas/search/found/within.ts';
import { parseQuestion } from '#areas/search/question/parse-question.ts';
import { readTerms, type Terms } from '#areas/search/question/terms.ts';
import { matching } from '#areas/search/suggest/documents.view.ts';
import { matchingStretches } from '#areas/search/transcripts/stretches.view.ts';
import { principalOf } from '#identity/account-row.ts';
import type { Principal } from '#identity/principal.ts';
import { type Api, startApi } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';

const DOCUMENTS = 20_000;
const STRETCHES = 5000;

describe('the statements of search', function () {
  this.timeout(120_000);
  let api: Api;
  let scope: Scope;

  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    const { id } = await givenLibrary(db, 'movies');
    const who = (await principalOf(db, (await api.given.member()).accountId)) as Principal;
    scope = { db, who, kinds: ['item', 'person'], libraryIds: [id, PEOPLE] };
    await db.transaction(async (transaction) => {
      await transaction.raw('set local statement_timeout = 0');
      await transaction.raw(
        `insert into search_documents (id, kind, library_id, type, weight, bare, names, title_words, words)
         select gen_random_uuid(), 'item', :id::uuid, 'movie', (n % 1000) / 1000.0, title, ' ' || title, v, v
         from generate_series(1, :count::int) n
           cross join lateral (select md5(n::text) || ' ' || md5((n % 977)::text) as title) t
           cross join lateral (select foyer_search_vector(string_to_array(title, ' ') || array['frequent'], 'A') as v) w`,
        { id, count: DOCUMENTS },
      );
      await transaction.raw('alter table items disable trigger items_search_made');
      await transaction.raw(
        `insert into items (id, library_id, type, top, identity_key, title, sort_title)
         select id, library_id, 'movie', true, id::text, bare, bare from search_documents`,
      );
      await transaction.raw('alter table transcripts drop constraint transcripts_stream_id_fkey');
      await transaction.raw(
        `insert into transcripts (library_id, stream_id, number, start_ms, cues, words)
         select :id::uuid, gen_random_uuid(), n, n, '[]', foyer_search_vector(array[md5(n::text), md5((n % 977)::text)], 'A')
         from generate_series(1, :count::int) n`,
        { id, count: STRETCHES },
      );
    });
    await db.raw('analyze search_documents');
    await db.raw('analyze items');
    await db.raw('analyze transcripts');
  });

  const termsOf = (q: string): Promise<Terms> => readTerms(api.deps.db, parseQuestion(q), { languages: ['en'] });

  /** The indexes that Postgres reads for a query. */
  async function indexesOf(query: Knex.QueryBuilder): Promise<{ indexes: string[]; scans: boolean }> {
    const { sql, bindings } = query.toSQL();
    const plan = await within(api.deps.db, 10_000, async (db) => {
      const explained = `explain (format json) ${sql}`;
      const { rows } = await db.raw<{ rows: { 'QUERY PLAN': unknown }[] }>(explained, bindings as never);
      return JSON.stringify(rows[0]?.['QUERY PLAN']);
    });
    if (plan === undefined) throw new Error('it took too long');
    const indexes = [...plan.matchAll(/"Index Name":"([a-z_0-9]+)"/g)].map(([, name = '']) => name);
    const scans = /"Seq Scan"[^{}]*"Relation Name":"(search_documents|transcripts|items)"/.test(plan);
    return { indexes, scans };
  }

  it('read documents by an index each, whatever the way to find them', async () => {
    const terms = await termsOf('c4ca4238a0b923820dcc509a6f75849b c81e728d');
    const found = await Promise.all(tierQueries(scope, terms, { cap: 1000, way: 'near' }).map(indexesOf));
    expect(found.map(({ scans }) => scans)).to.deep.equal([false, false, false, false, false, false]);
    const own = found.map(({ indexes }) =>
      indexes.find((name) => name.startsWith('search_documents_') && name !== 'search_documents_pkey'),
    );
    expect(own).to.deep.equal([
      'search_documents_bare',
      'search_documents_bare',
      'search_documents_titles',
      'search_documents_words',
      'search_documents_titles',
      'search_documents_alike',
    ]);
  });

  it('of type-ahead read the items of candidates alone, however many documents fit', async () => {
    for (const q of ['freque', 'c4ca4238a0b923820dcc509a6f75849b c8']) {
      const { indexes, scans } = await indexesOf(matching(scope, await termsOf(q), { limit: 8 }));
      expect(scans).to.equal(false);
      expect(new Set(indexes.filter((name) => name.startsWith('items_')))).to.deep.equal(new Set(['items_pkey']));
      expect(indexes).to.include('search_documents_weight');
    }
  });

  it('read stretches by the words of the libraries that the caller sees', async () => {
    const terms = await termsOf('c4ca4238a0b923820dcc509a6f75849b');
    const { indexes, scans } = await indexesOf(
      matchingStretches(scope, { terms, libraries: [{ id: scope.libraryIds[0], settings: {} }] as never }).select(
        't.id',
      ),
    );
    expect(scans).to.equal(false);
    expect(indexes).to.include('transcripts_words');
  });
});
