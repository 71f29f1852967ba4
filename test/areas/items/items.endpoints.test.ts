import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenCredit,
  givenFile,
  givenItem,
  givenLibrary,
  givenShow,
  givenState,
  givenTag,
} from '#support/given-items.ts';

describe('items', () => {
  let api: Api;
  let member: Person;
  let films: GivenLibrary;

  before(async () => {
    api = await startApi();
    member = await api.given.member();
    films = await givenLibrary(api.deps.db, 'movies');
  });

  describe('getItem', () => {
    it('returns every field of a film, and the requested relations', async () => {
      const { db } = api.deps;
      const id = await givenItem(db, films, {
        title: 'Amélie',
        year: 2001,
        overview: 'A waitress.',
        rating: 8.3,
        height: 1600,
        released_on: '2001-04-25',
        external_ids: { imdb: 'tt0211915' },
        details: { ratings: [{ source: 'imdb', value: 8.3, votes: 10 }], isbn: 7, originalLanguage: 'fr' },
      });
      await givenTag(db, films, id, ['genre', 'Romance']);
      await givenTag(db, films, id, ['studio', 'UGC']);
      await givenCredit(db, id, { name: 'Audrey Tautou', character: 'Amélie' });
      const fileId = await givenFile(db, films, id, {
        edition: 'Director',
        streams: [
          { probe: { width: 1920, height: 800 } },
          { kind: 'audio', codec: 'aac', language: 'fr', probe: { channels: 6 } },
        ],
      });
      await db('chapters').insert({ file_id: fileId, number: 0, title: 'Begin', start_ms: 0, end_ms: 1000 });
      await givenState(db, films, {
        profileId: member.profileId,
        itemId: id,
        position_ms: 5000,
        progress: 0.25,
        rating: 8.5,
      });

      const include = 'people,chapters,parents,children,extras,similar,lyrics,markers';
      const { status, body, headers } = await api.as(member).getItem({ params: { id }, query: { include } });

      expect(status).to.equal(200);
      expect(body).to.deep.include({
        title: 'Amélie',
        year: 2001,
        releasedOn: '2001-04-25',
        rating: 8.3,
        resolution: '4k',
      });
      expect(body).to.deep.include({ genres: ['Romance'], originalLanguage: 'fr' });
      expect(body.studios?.map(({ name }) => name)).to.deep.equal(['UGC']);
      expect(body.externalIds).to.deep.equal({ imdb: 'tt0211915' });
      expect(body).not.to.have.any.keys('isbn', 'matched', 'path'); // a number is no ISBN; matched is for editors
      expect(body.userState).to.deep.include({ positionMs: 5000, progress: 0.25, rating: 8.5, watched: false });
      expect(body.files[0]?.streams.map((stream) => [stream.kind, stream.width, stream.channels])).to.deep.equal([
        ['video', 1920, undefined],
        ['audio', undefined, 6],
      ]);
      expect(body.people?.items.map((credit) => [credit.name, credit.character])).to.deep.equal([
        ['Audrey Tautou', 'Amélie'],
      ]);
      expect(body.chapters?.items.map((chapter) => chapter.title)).to.deep.equal(['Begin']);
      expect(body.may).to.deep.equal({ edit: false, delete: false, download: true, refresh: false });
      expect(headers.get('etag')).to.match(/^"1\./);
      expect(headers.get('cache-control')).to.equal('private, no-cache');
    });

    it('answers 304 until the library or the caller changes it', async () => {
      const { db } = api.deps;
      const id = await givenItem(db, films);
      const first = await api.as(member).getItem({ params: { id } });
      const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
      expect((await api.as(member).getItem({ params: { id }, headers })).status).to.equal(304);

      await givenState(db, films, { profileId: member.profileId, itemId: id, favorite: true, updated_at: new Date() });
      const changed = await api.as(member).getItem({ params: { id }, headers });
      expect(changed.status).to.equal(200);
      expect(changed.body.userState.favorite).to.equal(true);

      const known = { 'if-none-match': changed.headers.get('etag') ?? '' };
      await db('libraries').where({ id: films.id }).increment('change_seq', 1);
      expect((await api.as(member).getItem({ params: { id }, headers: known })).status).to.equal(200);
    });

    it('returns the same 404 for items that are absent, trashed, in a library not granted, or above the age', async () => {
      const { db } = api.deps;
      const closed = await givenLibrary(db, 'movies', { everyone: false });
      const child = await api.given.child(12);
      const hidden = [
        newId(),
        await givenItem(db, films, { trashed_at: new Date() }),
        await givenItem(db, closed),
        await givenItem(db, films, { age_years: 16 }),
      ];
      for (const id of hidden) expect((await api.as(child).getItem({ params: { id } })).status).to.equal(404);
      const own = await givenItem(db, films, { age_years: 6 });
      expect((await api.as(child).getItem({ params: { id: own } })).status).to.equal(200);
    });

    it('continues with the episode that was begun, then with the one after the last played', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'shows');
      const show = await givenShow(db, library, { seasons: 2, episodes: 2 });
      const next = async (): Promise<string | undefined> =>
        (await api.as(member).getItem({ params: { id: show.id } })).body.next?.title;
      const state = (season: number, episode: number, more: Record<string, unknown>): Promise<void> =>
        givenState(db, library, {
          profileId: member.profileId,
          itemId: show.episodes[season]?.[episode] ?? '',
          ...more,
        });
      expect(await next()).to.equal('S1E1');
      await state(0, 1, { watched: true, last_played_at: new Date('2026-01-01') });
      expect(await next()).to.equal('S2E1');
      await state(0, 0, { position_ms: 60_000, last_played_at: new Date('2026-01-02') });
      expect(await next()).to.equal('S1E1');
    });
  });

  describe('listItemChildren', () => {
    it('lists seasons, a season, or all episodes as one list with specials last, inline or hidden', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'shows');
      const show = await givenShow(db, library, { seasons: 2, episodes: 2 });
      const specials = await givenItem(db, library, {
        type: 'season',
        title: 'Specials',
        parent_id: show.id,
        index_number: 0,
      });
      await givenItem(db, library, {
        type: 'episode',
        title: 'Special',
        parent_id: specials,
        grandparent_id: show.id,
        parent_index: 0,
        index_number: 1,
        airs_before: { season: 2, episode: 2 },
      });
      const titles = async (id: string, query: Record<string, string | number> = {}): Promise<string[]> =>
        (await api.as(member).listItemChildren({ params: { id }, query })).body.items.map((item) => item.title);

      expect(await titles(show.id)).to.deep.equal(['Season 1', 'Season 2', 'Specials']);
      expect(await titles(show.seasons[0] ?? '')).to.deep.equal(['S1E1', 'S1E2']);
      expect(await titles(show.id, { type: 'episode' })).to.deep.equal(['S1E1', 'S1E2', 'S2E1', 'S2E2', 'Special']);
      expect(await titles(show.id, { type: 'episode', specials: 'inline' })).to.deep.equal([
        'S1E1',
        'S1E2',
        'S2E1',
        'Special',
        'S2E2',
      ]);
      expect(await titles(show.id, { type: 'episode', specials: 'hidden' })).to.deep.equal([
        'S1E1',
        'S1E2',
        'S2E1',
        'S2E2',
      ]);
      expect(await titles(show.id, { season: 2 })).to.deep.equal(['S2E1', 'S2E2']);
      expect(await titles(show.seasons[1] ?? '', { specials: 'inline' })).to.deep.equal(['S2E1', 'Special', 'S2E2']);
      expect(await titles(show.episodes[0]?.[0] ?? '')).to.deep.equal([]);
    });
  });

  describe('listItemFiles', () => {
    it('shows where files lie to managers alone, and sums of a container', async () => {
      const { db } = api.deps;
      const id = await givenItem(db, films);
      await givenFile(db, films, id, { path: 'a.mkv', missing_since: new Date() });
      await givenFile(db, films, id, { path: 'b.mkv' });
      const seen = await api.as(member).listItemFiles({ params: { id } });
      expect(seen.body.items.map((file) => [file.missing, file.path])).to.deep.equal([
        [false, undefined],
        [true, undefined],
      ]);
      const managed = await api.as(await api.given.admin()).listItemFiles({ params: { id } });
      expect(managed.body.items.map((file) => file.path)).to.deep.equal([
        `media/${films.id}/b.mkv`,
        `media/${films.id}/a.mkv`,
      ]);

      const shows = await givenLibrary(db, 'shows');
      const show = await givenShow(db, shows, { seasons: 1, episodes: 2 });
      for (const episode of show.episodes[0] ?? []) await givenFile(db, shows, episode);
      const sum = await api.as(member).listItemFiles({ params: { id: show.id } });
      expect(sum.body).to.deep.equal({
        items: [],
        totals: { files: 2, sizeBytes: 2_000_000_000, durationMs: 7_200_000 },
      });
    });
  });
});
