// A question about a hidden item has the response of one about an item that does not exist, and costs the same statements: what it
// takes shows no more than the response does.
import { expect } from 'chai';
import { within } from '#areas/search/found/within.ts';
import { putTrack, stretchesOf } from '#areas/search/public.ts';
import { newId } from '#platform/ids.ts';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenCredit,
  givenFile,
  givenItem,
  givenLibrary,
  givenMany,
  givenTag,
} from '#support/given-items.ts';

/** Words of one length that are like no other word; no row has the last one. */
const [ELSEWHERE, ADULT, MISSING] = ['quivontrel', 'zembathoul', 'plimdaskor'];
/** Statements of content; others are those of timers and of the session. */
const OF_CONTENT = /\b(?:items|item_\w+|search_\w+|people|person_names|credit\w+|transcripts|collections)\b/;
/** Rows that a hidden title, its person, genre and studio add to all steps: whether each is visible is read from the forty libraries. */
const MOST_ROWS = 400;

interface Node {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Node[];
}

interface Sent {
  sql: string;
  bindings: unknown[];
}

type Question = (by: TestClient, word: string, id: string) => Promise<Answered<unknown>>;

interface Cost {
  answer: string;
  /** Each with the number of rows that it returns, in the order of their texts. */
  statements: string[];
  examined: number;
}

/** What only one of the lists has. */
const unlike = (one: readonly string[], other: readonly string[]): string[] => [
  ...new Set(one).symmetricDifference(new Set(other)),
];

describe('a question about a hidden item', function () {
  this.timeout(120_000);
  let api: Api;
  const people: Record<string, Person> = {};
  /** Hidden items, by the person from whom each is hidden and the word that would find it. */
  const hidden: { who: string; word: string; id: string }[] = [];

  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    const mine = await Promise.all(['movies', 'shows', 'music'].map((type) => givenLibrary(db, type)));
    Object.assign(people, {
      'a child': await api.given.child(12),
      'a guest': await api.given.guest(),
      'a member with three of forty libraries': await api.given.member(),
    });
    const [films, shows] = mine as [GivenLibrary, GivenLibrary];
    await givenMany(db, films, 2000);
    const others: GivenLibrary[] = [];
    for (let n = 0; n < 37; n += 1) others.push(await givenLibrary(db, 'movies'));
    await db('libraries').update({ everyone: false });
    for (const { accountId } of Object.values(people))
      await db('library_access').insert(mine.map(({ id }) => ({ library_id: id, account_id: accountId })));
    const elsewhere = await fill(others[0] as GivenLibrary, ELSEWHERE, 6);
    for (const who of Object.keys(people)) hidden.push({ who, word: ELSEWHERE, id: elsewhere });
    hidden.push({ who: 'a child', word: ADULT, id: await fill(films, ADULT, 18) });
    for (const [library, age, genre] of [
      ...[[films, 18, 'Wexford A'] as const, [films, 18, 'Wexford B'] as const],
      ...[[films, 18, 'Wexford C'] as const, [shows, 6, 'Wexford C'] as const],
    ])
      await givenTag(db, library, await givenItem(db, library, { top: true, age_years: age }), ['genre', genre]);
    const hiddenShow = await givenItem(db, shows, { top: true, age_years: 18 });
    for (let n = 0; n < 25; n += 1) await givenTag(db, shows, hiddenShow, ['genre', `Wexford B ${n}`]);
    for (const [age, name] of [
      [18, 'Zoee Adler'],
      [6, 'Zoe'],
    ] as const)
      await givenCredit(db, await givenItem(db, films, { top: true, age_years: age }), { name });
    for (const table of ['items', 'search_documents', 'libraries', 'people', 'credits', 'transcripts'])
      await db.raw(`vacuum analyze ${table}`);
  });

  /** An item that its word finds everywhere. */
  async function fill(library: GivenLibrary, word: string, age: number): Promise<string> {
    const { db } = api.deps;
    const id = await givenItem(db, library, { top: true, title: `The ${word}`, age_years: age });
    await db('items')
      .where({ id })
      .update({ external_ids: JSON.stringify({ tmdb: word }) });
    await givenCredit(db, id, { name: `Ada ${word}` });
    for (const kind of ['genre', 'studio']) await givenTag(db, library, id, [kind, word]);
    const fileId = await givenFile(db, library, id, { streams: [{ kind: 'subtitle', codec: 'subrip' }] });
    const stream = await db('media_streams').where({ file_id: fileId }).first('id');
    const content = `they say ${word}`;
    const track = { stream_id: String(stream?.id), file_id: fileId, item_id: id, library_id: library.id };
    const made = { ...track, language: 'en', generated: false, content };
    await putTrack(db, made, stretchesOf([{ startMs: 1000, endMs: 2000, text: content }]));
    return id;
  }

  /** Each request that takes a word or an id. */
  const questions: Record<string, Question> = {
    searchAll: (by, q) => by.searchAll({ query: { q } }),
    searchItems: (by, q) => by.searchItems({ query: { q } }),
    searchPeople: (by, q) => by.searchPeople({ query: { q } }),
    searchTranscripts: (by, q) => by.searchTranscripts({ query: { q } }),
    suggest: (by, q) => by.suggest({ query: { q } }),
    'suggest, five letters': (by, word) => by.suggest({ query: { q: word.slice(0, 5) } }),
    'suggest, three letters': (by, word) => by.suggest({ query: { q: word.slice(0, 3) } }),
    listPeople: (by, q) => by.listPeople({ query: { q } }),
    'listItems by title': (by, word) => by.listItems({ query: { filter: `title:contains:${word}` } }),
    'listItems by id': (by, _word, ids) => by.listItems({ query: { ids } }),
    'listItems by external id': (by, word) => by.listItems({ query: { externalIds: `tmdb:${word}` } }),
    getItem: (by, _word, id) => by.getItem({ params: { id } }),
    listItemChildren: (by, _word, id) => by.listItemChildren({ params: { id } }),
    listSimilarItems: (by, _word, id) => by.listSimilarItems({ params: { id } }),
  };

  const sumOf = (node: Node): number =>
    ((node['Actual Rows'] ?? 0) +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0) +
      (node['Rows Removed by Join Filter'] ?? 0)) *
      node['Actual Loops'] +
    (node.Plans ?? []).reduce((sum, one) => sum + sumOf(one), 0);

  async function costOf(question: Question, { as, word, id }: { as: Person; word: string; id: string }): Promise<Cost> {
    const { db, redis } = api.deps;
    await redis.flushdb();
    const sent: Sent[] = [];
    const note = (one: Sent): void => void sent.push(one);
    db.on('query', note);
    const { status, body } = await question(api.as(as), word, id);
    db.off('query', note);
    const text = JSON.stringify({ status, body }, (key, value: unknown) =>
      ['tookMs', 'requestId'].includes(key) ? 0 : value,
    );
    const cost: Cost = { answer: text.replaceAll(word, 'WORD').replaceAll(id, 'ID'), statements: [], examined: 0 };
    for (const { sql, bindings } of sent.filter((one) => OF_CONTENT.test(one.sql))) {
      const reads = /^\s*(?:select|with|\()/.test(sql);
      const plan = reads ? await planOf({ sql, bindings }) : undefined;
      cost.statements.push(`${plan?.['Actual Rows'] ?? ''} ${sql}`);
      cost.examined += plan ? sumOf(plan) : 0;
    }
    cost.statements.sort();
    return cost;
  }

  /** As in search, which forbids to read whole tables: what large tables would do anyway. */
  async function planOf({ sql, bindings }: Sent): Promise<Node> {
    const places = sql.replaceAll(/\$\d+/g, '?');
    const found = await within(api.deps.db, 10_000, async (db) => {
      const { rows } = await db.raw<{ rows: { 'QUERY PLAN': { Plan: Node }[] }[] }>(
        `explain (analyze, timing off, format json) ${places}`,
        bindings as never,
      );
      return rows[0]?.['QUERY PLAN'][0]?.Plan;
    });
    if (!found) throw new Error(`no plan of ${sql}`);
    return found;
  }

  for (const [name, question] of Object.entries(questions))
    it(`by ${name} has the response and the statements of one about none`, async () => {
      for (const { who, word, id } of hidden) {
        const as = people[who] as Person;
        const there = await costOf(question, { as, word, id });
        const none = await costOf(question, { as, word: MISSING, id: newId() });
        expect(there.answer, who).to.equal(none.answer);
        expect(unlike(there.statements, none.statements), who).to.deep.equal([]);
        expect(there.statements.length, who).to.equal(none.statements.length);
        expect(there.examined - none.examined, `${who}: rows`).to.be.within(-MOST_ROWS, MOST_ROWS);
      }
    });

  it('by a genre or a person that only hidden items have takes no place of a visible one', async () => {
    const child = api.as(people['a child'] as Person);
    const texts = async (q: string): Promise<string[]> =>
      (await child.suggest({ query: { q } })).body.items.map(({ text }) => text);
    expect(await texts('wexford')).to.deep.equal(['Wexford C']);
    const { body } = await child.listPeople({ query: { q: 'zoee' } });
    expect(body.items.map(({ name }) => name)).to.deep.equal(['Zoe']);
  });
});
