import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenCredit,
  givenItem,
  givenLibrary,
  givenShow,
  givenState,
  givenTag,
} from '#support/given-items.ts';

describe('search', () => {
  let api: Api;
  let films: GivenLibrary;
  let shows: GivenLibrary;
  let me: TestClient;
  let person: Person;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.db.raw('truncate libraries, people, search_documents cascade');
    await api.deps.redis.flushdb();
    films = await givenLibrary(api.deps.db, 'movies', { settings: JSON.stringify({ language: 'en' }) });
    shows = await givenLibrary(api.deps.db, 'shows');
    await api.deps
      .db('search_indexes')
      .insert({ library_id: films.id, language: 'en', version: 1 })
      .onConflict('library_id')
      .ignore();
    person = await api.given.member();
    me = api.as(person);
  });

  const film = (title: string, more: Record<string, unknown> = {}): Promise<string> =>
    givenItem(api.deps.db, films, { title, top: true, ...more });

  const found = async (q: string, by = me, query: Record<string, unknown> = {}): Promise<string[]> => {
    const { body } = await by.searchItems({ query: { q, ...query } as never });
    return body.items.map(({ title }) => title);
  };
  const suggested = async (q: string, by = me): Promise<string[]> =>
    (await by.suggest({ query: { q } })).body.items.map(({ text }) => text);

  it('finds an item as soon as it is listed, by its changed title, and not when it is in the trash', async () => {
    const id = await film('Nosferatu');
    expect(await found('nosferatu')).to.deep.equal(['Nosferatu']);
    await api.deps.db('items').where({ id }).update({ title: 'Faust' });
    expect(await found('nosferatu')).to.deep.equal([]);
    expect(await found('faust')).to.deep.equal(['Faust']);
    await api.deps.db('items').where({ id }).update({ trashed_at: new Date() });
    expect(await found('faust')).to.deep.equal([]);
    await api.deps.db('items').where({ id }).update({ trashed_at: null });
    expect(await found('faust')).to.deep.equal(['Faust']);
    await api.deps.db('items').where({ id }).delete();
    expect(await found('faust')).to.deep.equal([]);
    expect(await api.deps.db('search_documents').select('id')).to.deep.equal([]);
  });

  it('ranks the exact title, its beginning, its words, and the other texts in this order', async () => {
    await film('A Night in Alien Skies');
    await film('Aliens', { overview: 'They come back.' });
    await film('The Visit', { overview: 'An alien comes to town.' });
    await film('Alien');
    expect(await found('alien')).to.deep.equal(['Alien', 'Aliens', 'A Night in Alien Skies', 'The Visit']);
  });

  it('reads quotes, exclusions and conditions', async () => {
    await film('Lord of War', { year: 2005 });
    await film('War Lord of the North', { year: 1999 });
    await film('The War Lord', { year: 1965 });
    expect(await found('"lord of war"')).to.deep.equal(['Lord of War']);
    expect(await found('lord war -north')).to.have.members(['Lord of War', 'The War Lord']);
    expect(await found('lord -"war lord"')).to.deep.equal(['Lord of War']);
    expect(await found('war year:1999')).to.deep.equal(['War Lord of the North']);
    expect(await found('war year:lt:2000 type:movie')).to.have.members(['War Lord of the North', 'The War Lord']);
    expect(await found('war', me, { filter: 'year:gt:2000' })).to.deep.equal(['Lord of War']);
    expect(await found('war nothing:eq:here')).to.deep.equal([]);
  });

  it('pages through every sort without losing or repeating a hit', async () => {
    const titles = Array.from({ length: 23 }, (_, i) => `Star ${String.fromCharCode(97 + i)}x`);
    for (const [i, title] of titles.entries())
      await film(title, { year: i % 5 ? 1950 + i : null, rating: i % 3 ? i / 3 : null });
    for (const sort of ['-score', 'title', '-year', 'rating', '-addedAt'] as const) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        await api.deps.redis.flushdb(); // more than 20 questions a second
        const { body } = await me.searchItems({ query: { q: 'star', sort, limit: 5, ...(cursor && { cursor }) } });
        expect(body.items.length).to.be.greaterThan(0);
        seen.push(...body.items.map(({ title }) => title));
        cursor = body.page.cursor ?? undefined;
      } while (cursor);
      expect([...seen].sort(), sort).to.deep.equal(titles);
    }
    const { body } = await me.searchItems({ query: { q: 'star', limit: 5 } });
    expect(body.page.total).to.equal(23);
  });

  it('finds an item by its external id, and refuses two questions at once', async () => {
    await film('Nosferatu', { external_ids: { imdb: 'tt0013442' } });
    const { body } = await me.searchItems({ query: { externalId: 'imdb:tt0013442' } });
    expect(body.items.map(({ title }) => title)).to.deep.equal(['Nosferatu']);
    expect((await me.searchItems({ query: {} })).status).to.equal(400);
    expect((await me.searchItems({ query: { q: 'a', externalId: 'imdb:tt1' } })).status).to.equal(400);
  });

  it('groups by type and kind, and says what matched', async () => {
    const { db } = api.deps;
    const id = await film('Nosferatu', { year: 1922, original_title: 'Eine Symphonie des Grauens' });
    await givenCredit(db, id, { name: 'Max Schreck', character: 'Graf Orlok' });
    await givenTag(db, films, id, ['studio', 'Prana-Film']);
    await givenTag(db, films, id, ['genre', 'Horror']);
    await givenShow(db, shows, { title: 'Schreck lass nach', seasons: 1, episodes: 1 });
    const answer = async (q: string) => {
      const { body } = await me.searchAll({ query: { q } });
      return body.groups.map(({ key, total, hits }) => [
        key,
        total,
        hits.map(({ title, matched }) => `${title} (${matched})`),
      ]);
    };
    expect(await answer('schreck')).to.deep.equal([
      ['show', 1, ['Schreck lass nach (title)']],
      ['person', 1, ['Max Schreck (title)']],
      ['movie', 1, ['Nosferatu (person)']],
      ['season', 1, ['Season 1 (title)']],
      ['episode', 1, ['S1E1 (title)']],
    ]);
    expect(await answer('prana film')).to.deep.equal([
      ['studio', 1, ['Prana-Film (title)']],
      ['movie', 1, ['Nosferatu (studio)']],
    ]);
    expect(await answer('horror')).to.deep.equal([['movie', 1, ['Nosferatu (tag)']]]);
    expect(await answer('symphonie grauens')).to.deep.equal([['movie', 1, ['Nosferatu (original-title)']]]);
    const { body } = await me.searchPeople({ query: { q: 'orlok' } });
    expect(body.items.map(({ title, subtitle, matched }) => [title, subtitle, matched])).to.deep.equal([
      ['Max Schreck', 'Graf Orlok', 'person'],
    ]);
    const marked = (await me.searchAll({ query: { q: 'nosf' } })).body.groups[0]?.hits[0]?.highlight;
    expect(marked).to.deep.equal([{ field: 'title', text: 'Nosferatu', marks: [{ start: 0, length: 9 }] }]);
  });

  it('corrects a spelling by what the caller may see', async () => {
    await film('The Matrix');
    const { body } = await me.searchAll({ query: { q: 'matirx' } });
    expect([body.corrected, body.groups[0]?.hits[0]?.title]).to.deep.equal(['matrix', 'The Matrix']);
    expect((await me.searchAll({ query: { q: 'matrix' } })).body.corrected).to.equal(undefined);
    expect(await found('matirx', me, { exact: true })).to.deep.equal([]);
  });

  it('shows what a profile watches before the rest', async () => {
    const watched = await film('Star Two', { rating: 5 });
    await film('Star One', { rating: 5 });
    expect(await found('star')).to.have.members(['Star One', 'Star Two']);
    await givenState(api.deps.db, films, { profileId: person.profileId, itemId: watched, play_count: 2 });
    expect((await found('star'))[0]).to.equal('Star Two');
  });

  it('suggests titles, people, studios and genres from the first letter on', async () => {
    const { db } = api.deps;
    const id = await film('The Prestige', { rating: 8 });
    await film('Pre-Code', { rating: 4 });
    await givenCredit(db, id, { name: 'Patricia Preston' });
    await givenTag(db, films, id, ['studio', 'Pressure Pictures']);
    await givenTag(db, films, id, ['genre', 'Prehistoric']);
    expect(await suggested('p')).to.include.members(['The Prestige', 'Patricia Preston', 'Pressure Pictures']);
    expect((await suggested('pre'))[0]).to.equal('The Prestige');
    expect(await suggested('prehist')).to.deep.equal(['Prehistoric']);
    expect(await suggested('the prest')).to.deep.equal(['The Prestige', 'Patricia Preston']);
    expect(await suggested('patricia p')).to.deep.equal(['Patricia Preston']);
    expect(await suggested('x')).to.deep.equal([]);
    const { headers } = await me.suggest({ query: { q: 'p' } });
    expect(headers.get('cache-control')).to.equal('private, max-age=30');
  });

  it('keeps the best of a short beginning, without hiding or showing what changed since', async () => {
    const { db } = api.deps;
    for (let i = 0; i < 60; i += 1) await film(`Zebra ${i}`, { rating: 9 - i / 10 });
    expect((await suggested('z'))[0]).to.equal('Zebra 0');
    await db('items').where({ title: 'Zebra 0' }).update({ trashed_at: new Date() });
    expect((await suggested('z'))[0]).to.equal('Zebra 1');
    await db('items').where({ title: 'Zebra 1' }).update({ title: 'Lion' });
    expect((await suggested('z'))[0]).to.equal('Zebra 2');
    expect(await suggested('l')).to.deep.equal(['Lion']);
  });

  it('is answered 20 times a second for one person', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => me.suggest({ query: { q: 'a' } })));
    expect(answers.filter(({ status }) => status === 429).length).to.be.within(1, 10);
  });

  it('finds collections that the caller sees, and channels of those who may watch them', async () => {
    const { db } = api.deps;
    const other = api.as(await api.given.member());
    const groups = async (q: string, by: TestClient, more: Record<string, string> = {}): Promise<string[][]> =>
      (await by.searchAll({ query: { q, ...more } })).body.groups.map(({ key, hits }) => [
        key,
        ...hits.map(({ kind, title }) => `${kind} ${title}`),
      ]);
    const make = async (name: string, sharing: string, itemId: string): Promise<void> => {
      const { body } = await me.createCollection({ body: { name, sharing } });
      await me.addCollectionItems({ params: { id: body.id }, body: { itemIds: [itemId] } });
    };
    const closed = await givenLibrary(db, 'movies', { everyone: false });
    await make('Spider-Man: the films', 'everyone', await film('Heat'));
    await make('Spider secrets', 'private', await film('Ronin'));
    await make('Spider of the vault', 'everyone', await givenItem(db, closed, { title: 'Vault', top: true }));
    const both = ['collection', 'collection Spider secrets', 'collection Spider of the vault'];
    expect(await groups('spiderman', other)).to.deep.equal([['collection', 'collection Spider-Man: the films']]);
    expect(await groups('spider', other, { kinds: 'collection' })).to.deep.equal([
      ['collection', 'collection Spider-Man: the films'],
    ]);
    expect((await groups('spider', me))[0]).to.have.members([...both, 'collection Spider-Man: the films']);
    expect(await groups('spider', me, { kinds: 'movie' })).to.deep.equal([]);
    const tv = await givenLibrary(db, 'livetv');
    await givenItem(db, tv, { title: 'Quiz TV', type: 'channel', top: true });
    expect(await groups('quiz', me)).to.deep.equal([['channel', 'channel Quiz TV']]);
    const denied = api.as(await api.given.person('member', { restrictions: JSON.stringify({ liveTv: 'deny' }) }));
    expect(await groups('quiz', denied)).to.deep.equal([]);
    await db('collections').delete();
  });

  it('shows no account a hit, a count, a suggestion or a correction of hidden items', async () => {
    const { db } = api.deps;
    const closed = await givenLibrary(db, 'movies', { everyone: false });
    const hidden = await givenItem(db, closed, { title: 'Quixotic', top: true });
    await givenCredit(db, hidden, { name: 'Quentin Quist', character: 'Quasimodo' });
    await givenTag(db, closed, hidden, ['studio', 'Quorum']);
    await givenTag(db, closed, hidden, ['genre', 'Quiz']);
    const adult = await film('Quicksand', { age_years: 18 });
    await givenCredit(db, adult, { name: 'Quincy Adult', character: 'Quack' });
    await film('Quiet Family', { age_years: 6 });
    const child = api.as(await api.given.child());
    const admin = api.as(await api.given.admin());
    const everything = async (q: string, by: TestClient): Promise<string[]> => {
      await api.deps.redis.flushdb(); // more than 20 questions a second
      const all = (await by.searchAll({ query: { q } })).body;
      const people = (await by.searchPeople({ query: { q } })).body;
      const items = (await by.searchItems({ query: { q } })).body;
      expect(items.page.total).to.equal(items.items.length);
      expect(people.page.total).to.equal(people.items.length);
      for (const { total, hits } of all.groups) expect(total).to.equal(hits.length);
      return [
        ...new Set(
          [...all.groups.flatMap(({ hits }) => hits), ...people.items, ...items.items]
            .map(({ title }) => title)
            .concat(await suggested(q, by), all.corrected ?? []),
        ),
      ].sort();
    };
    expect(await everything('qu', child)).to.deep.equal(['Quiet Family']);
    expect(await everything('qu', me)).to.deep.equal(['Quicksand', 'Quiet Family', 'Quincy Adult']);
    expect(await everything('qu', admin)).to.include.members([
      'Quixotic',
      'Quentin Quist',
      'Quorum',
      'Quiz',
      'Quicksand',
    ]);
    for (const q of ['quixotix', 'quixotic', 'quasimodo', 'quentin quixt', 'quorum', 'quiz', 'quentin'])
      expect(await everything(q, me), q).to.deep.equal([]);
    for (const q of ['quicksnad', 'quack', 'quincy']) expect(await everything(q, child), q).to.deep.equal([]);
    expect((await me.searchItems({ query: { q: 'qu', libraryId: closed.id } })).body.items).to.deep.equal([]);
    expect((await me.searchItems({ query: { q: 'qu', libraryId: newId() } })).body.items).to.deep.equal([]);
  });
});
