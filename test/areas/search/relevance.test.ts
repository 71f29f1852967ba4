import { expect } from 'chai';
import { findTracks, putTrack, stretchesOf } from '#areas/search/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenCredit, givenFile, givenItem, givenLibrary, givenTag } from '#support/given-items.ts';
import { films, questions, quotes, shows, spoken } from './corpus.ts';

const SHARE = 0.95;
const TOGETHER = 10;

describe('what people type', function () {
  this.timeout(180_000);
  let api: Api;
  let me: TestClient;
  const ids = new Map<string, string>();

  async function addFilms(library: GivenLibrary): Promise<void> {
    const people = new Map<string, string>();
    for (const { title, original, year, people: names = [], tags = [], overview } of films) {
      const more = {
        top: true,
        rating: 7,
        year: year ?? null,
        ...(overview && { overview }),
        ...(original && { original_title: original }),
      };
      const id = await givenItem(api.deps.db, library, { title, ...more });
      ids.set(title, id);
      for (const name of names) {
        const personId = people.get(name) ?? newId();
        people.set(name, personId);
        await givenCredit(api.deps.db, id, { name, personId });
      }
      for (const tag of tags) await givenTag(api.deps.db, library, id, ['genre', tag]);
    }
    const words = [
      'Harbour',
      'Garden',
      'Winter',
      'Silver',
      'Stone',
      'River',
      'Glass',
      'Paper',
      'Night',
      'Summer',
      'Iron',
      'Cloud',
    ];
    for (const [i, one] of words.entries())
      for (const other of words.slice(i + 1))
        await givenItem(api.deps.db, library, { title: `${one} of ${other}`, top: true, rating: 6 });
  }

  async function addShows(library: GivenLibrary): Promise<void> {
    for (const { title, episodes } of shows) {
      const show = await givenItem(api.deps.db, library, { type: 'show', title, top: true });
      const season = await givenItem(api.deps.db, library, {
        type: 'season',
        title: 'Season 1',
        parent_id: show,
        index_number: 1,
      });
      const above = { parent_id: season, grandparent_id: show, parent_index: 1 };
      for (const [i, episode] of episodes.entries())
        await givenItem(api.deps.db, library, { type: 'episode', title: episode, ...above, index_number: i + 1 });
    }
  }

  async function addLines(library: GivenLibrary): Promise<void> {
    for (const [film, text] of spoken) {
      const itemId = ids.get(film) ?? '';
      const fileId = await givenFile(api.deps.db, library, itemId, {
        streams: [{ kind: 'subtitle', codec: 'subrip' }],
      });
      const { id = '' } = (await api.deps.db('media_streams').where({ file_id: fileId }).first('id')) ?? {};
      const track = {
        stream_id: String(id),
        file_id: fileId,
        item_id: itemId,
        library_id: library.id,
        language: 'en',
        generated: false,
        content: text,
      };
      await putTrack(api.deps.db, track, stretchesOf([{ startMs: 1000, endMs: 2000, text }]));
      expect(await findTracks(api.deps.db, fileId)).to.have.length(1);
    }
  }

  before(async () => {
    api = await startApi();
    const library = await givenLibrary(api.deps.db, 'movies', { settings: JSON.stringify({ language: 'en' }) });
    await api.deps.db('search_indexes').insert({ library_id: library.id, language: 'en', version: 1 });
    await addFilms(library);
    await addShows(await givenLibrary(api.deps.db, 'shows'));
    await addLines(library);
    me = api.as(await api.given.member());
  });

  /** Questions whose first three hits lack the title. */
  async function misses(cases: typeof questions, first: (q: string) => Promise<string[]>): Promise<string[]> {
    const wrong: string[] = [];
    const look = async ([question, title]: (typeof cases)[number]): Promise<void> => {
      const found = (await first(question)).slice(0, 3);
      if (!found.includes(title)) wrong.push(`${question} → ${title}, not ${found.join(' | ')}`);
    };
    for (let at = 0; at < cases.length; at += TOGETHER) {
      await api.deps.redis.flushdb(); // more than 20 questions a second
      await Promise.all(cases.slice(at, at + TOGETHER).map(look));
    }
    if (wrong.length > 0) console.log(`    ${wrong.length} of ${cases.length}\n      ${wrong.join('\n      ')}`);
    return wrong;
  }

  const best = async (q: string): Promise<string[]> => {
    const { body } = await me.searchAll({ query: { q, transcripts: false } });
    const hits = body.groups.flatMap((group) => group.hits);
    return hits.sort((a, b) => b.score - a.score).map(({ title }) => title);
  };

  it(`is found among the first three in 95 % of ${questions.length} questions`, async () => {
    expect(questions.length).to.be.at.least(300);
    const wrong = await misses(questions, best);
    expect(wrong.length / questions.length).to.be.at.most(1 - SHARE);
  });

  it('is found in the words of films', async () => {
    const first = async (q: string): Promise<string[]> =>
      (await me.searchTranscripts({ query: { q } })).body.items.map(({ item }) => item.title);
    expect(await misses(quotes, first)).to.deep.equal([]);
  });
});
