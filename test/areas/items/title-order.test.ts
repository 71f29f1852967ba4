import { expect } from 'chai';
import { lettersOf } from '#areas/items/library-views/letters.ts';
import { ROOT_ORDER, titleOrder } from '#areas/items/listing/title-order.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenMany } from '#support/given-items.ts';
import { makeTitleIndexes } from '#workers/scan/store/title-indexes.ts';

describe("titles in the order of a library's language", () => {
  let api: Api;
  let member: Person;
  const given = async (language: string, titles: readonly string[]): Promise<GivenLibrary> => {
    const library = await givenLibrary(api.deps.db, 'movies', { settings: JSON.stringify({ language }) });
    for (const title of titles) await givenItem(api.deps.db, library, { title });
    return library;
  };
  const titles = async (library: GivenLibrary, query: Record<string, string | number> = {}): Promise<string[]> => {
    const { status, body } = await api.as(member).listLibraryItems({ params: { id: library.id }, query });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.items.map((item) => item.title);
  };
  const bar = async (library: GivenLibrary) => {
    const { status, body } = await api.as(member).getLibraryIndex({ params: { id: library.id } });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.buckets;
  };

  before(async () => {
    api = await startApi();
    member = await api.given.member();
  });

  it('sorts each library by its own, forwards, backwards and page by page, and lists of several by the root order', async () => {
    const names = ['Zorro', 'Ångest', 'Anna', 'Ärlig', 'Örn', 'Ebba'];
    const swedish = await given('sv-SE', names);
    const french = await given('fr', names);
    expect(await titles(swedish)).to.deep.equal(['Anna', 'Ebba', 'Zorro', 'Ångest', 'Ärlig', 'Örn']);
    expect(await titles(swedish, { sort: '-title' })).to.deep.equal((await titles(swedish)).reverse());
    expect(await titles(french)).to.deep.equal(
      ['Ångest', 'Anna', 'Ärlig', 'Ebba', 'Örn', 'Zorro'].sort(new Intl.Collator('fr').compare),
    );
    const paged: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { body } = await api.as(member).listLibraryItems({
        params: { id: swedish.id },
        query: { limit: 2, ...(cursor ? { cursor } : {}) },
      });
      paged.push(...body.items.map((item) => item.title));
      cursor = body.page.hasMore ? body.page.cursor : null;
    }
    expect(paged).to.deep.equal(await titles(swedish));

    const both = await api.as(member).listItems({ query: { libraryIds: `${swedish.id},${french.id}` } });
    expect(both.body.items.map((item) => item.title).slice(-2)).to.deep.equal(['Zorro', 'Zorro']);
    const one = await api.as(member).listItems({ query: { libraryIds: swedish.id } });
    expect(one.body.items.at(-1)?.title).to.equal('Örn');
    const near = await api.as(member).getItemNeighbours({
      params: { id: one.body.items[2]?.id ?? '' },
      query: { within: 'library', sort: 'title' },
    });
    expect(near.body.after.map((item) => item.title)).to.deep.equal(['Ångest']);
  });

  it('follows a changed language at once', async () => {
    const library = await given('en', ['Zorro', 'Åsa']);
    expect(await titles(library)).to.deep.equal(['Åsa', 'Zorro']);
    expect(await titles(library)).to.deep.equal(['Åsa', 'Zorro']);
    await api.deps
      .db('libraries')
      .where({ id: library.id })
      .update({ settings: JSON.stringify({ language: 'sv' }) })
      .increment('change_seq', 1);
    await titles(library); // the state of a library in a process may be one answer old
    expect(await titles(library)).to.deep.equal(['Zorro', 'Åsa']);
  });

  it('cuts the bar into the letters of the collation, each a place in the list', async () => {
    const cases: [language: string, titles: string[], labels: string[]][] = [
      ['sv', ['Örn', 'Anna', 'Zorro', 'Ängel', 'Ålder', '7 sinnen', '...'], ['#', '0-9', 'A', 'Z', 'Å', 'Ä', 'Ö']],
      ['en', ['Örn', 'Anna', 'Ængus', 'Zorro', 'Ålder'], ['A', 'O', 'Z']],
      ['cs', ['Charlie', 'Cirkus', 'Hrad', 'Čas', 'Ibis'], ['C', 'Č', 'H', 'Ch', 'I']],
      ['es', ['Ñandú', 'Nube', 'Oso'], ['N', 'Ñ', 'O']],
      ['zh-Hans', ['北京', '上海', '安', 'Zorro'], ['A', 'B', 'S', 'Z']],
      ['zh-TW', ['人', '一', '三'], ['1劃', '2劃', '3劃']],
      ['ja', ['かに', 'ガメラ', 'あき', 'ヴェネツィア', '東京'], ['あ', 'か', '漢']],
      ['ko', ['하늘', '가방', '까치', '나무'], ['ㄱ', 'ㄴ', 'ㅎ']],
      ['ru', ['Ёлка', 'Ежи', 'Йод', 'Ирис', 'Batman'], ['Е', 'И', 'Й', 'B']],
      ['el', ['Άλφα', 'Βήτα'], ['Α', 'Β']],
    ];
    for (const [language, names, labels] of cases) {
      const library = await given(language, names);
      const buckets = await bar(library);
      expect(
        buckets.map((bucket) => bucket.label),
        language,
      ).to.deep.equal(labels);
      const whole = await titles(library);
      for (const { label, cursor, offset } of buckets) {
        expect((await titles(library, { cursor: cursor ?? '', limit: 1 }))[0], `${language} ${label}`).to.equal(
          whole[offset],
        );
      }
      const letters = lettersOf(titleOrder(language).locale);
      const again = whole.map((title) => letters.initialOf(title.toLowerCase().slice(0, letters.length)).key);
      expect(new Set(again).size, `${language}: each letter is one stretch`).to.equal(
        again.filter((key, i) => key !== again[i - 1]).length,
      );
    }
  });

  it('has a collation for each language that it names, and takes any other for the root order', async () => {
    const languages = ['de', 'no', 'nn-NO', 'zh-HK', 'fr-CA', 'tr', 'nonsense!', 'xx', 'pt-BR'];
    const orders = languages.map(titleOrder);
    expect(orders.map((order) => order.collation)).to.deep.equal([
      'foyer_title',
      'foyer_title_nb',
      'foyer_title_nb',
      'foyer_title_zh_hant',
      'foyer_title_fr_ca',
      'foyer_title_tr',
      ...new Array<string>(3).fill(ROOT_ORDER.collation),
    ]);
    const alphabet = Array.from('abcdefghijklmnopqrstuvwxyz');
    const all = Intl.DateTimeFormat.supportedLocalesOf(alphabet.flatMap((a) => alphabet.map((b) => a + b)));
    const named = [...new Set([...all, ...languages].map((one) => titleOrder(one).collation))];
    const there: string[] = await api.deps.db('pg_collation').whereIn('collname', named).pluck('collname');
    expect(named.filter((name) => !there.includes(name))).to.deep.equal([]);
    expect(named.length).to.be.greaterThan(40);
  });

  it('walks an index once the first scan in that language made it', async function () {
    this.timeout(300_000);
    const { db } = api.deps;
    const library = await given('sv', ['Åsa']);
    await givenMany(db, library, 30_000);
    const { log } = api.deps;
    await Promise.all([makeTitleIndexes({ db, log }, 'sv'), makeTitleIndexes({ db, log }, 'sv')]);
    await makeTitleIndexes({ db, log }, 'sv');
    await db.raw('analyze items');
    const plan = async (order: string, from: string): Promise<string> => {
      const { rows } = await db.raw<{ rows: { 'QUERY PLAN': string }[] }>(
        `explain select i.id from items i where i.library_id = ? and i.type = 'movie' and i.trashed_at is null and i.extra_of is null ${from}
         order by (i.sort_title collate foyer_title_sv) ${order}, i.id limit 51`,
        [library.id],
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    expect(await plan('asc nulls last', ''))
      .to.include('items_by_title_sv')
      .and.not.include('Sort');
    expect(await plan('desc nulls last', ''))
      .to.include('items_by_title_sv_down')
      .and.not.include('Sort');
    const past = `and (i.sort_title collate foyer_title_sv) > 'title 5'::text`;
    const walked = await plan('asc nulls last', past);
    expect(walked)
      .to.match(/Index Cond: .*sort_title/)
      .and.not.include('Sort');
    await makeTitleIndexes({ db, log }, 'de');
    expect(
      await db('pg_indexes').where('indexname', 'like', 'items_by_title%').orderBy('indexname').pluck('indexname'),
    ).to.deep.equal(['items_by_title', 'items_by_title_down', 'items_by_title_sv', 'items_by_title_sv_down']);
    expect((await titles(library, { sort: '-title', limit: 1 }))[0]).to.equal('Åsa');
  });
});
