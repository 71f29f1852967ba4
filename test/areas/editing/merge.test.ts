import { expect } from 'chai';
import { purgeEntries } from '#areas/libraries/trash/trash.store.ts';
import { errorOf } from '#support/answers.ts';
import type { Api } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenFile, givenItem, givenLibrary, givenShow, givenState } from '#support/given-items.ts';
import { newPlace, type Place } from '../../workers/scan/support.ts';

describe('merging items', function () {
  this.timeout(120_000);
  let place: Place;
  let api: Api;
  let owner: Person;

  const merge = (body: object) => api.as(owner).mergeItems({ body } as never);
  const titled = async (title: string) => (await place.items()).find((item) => item.title === title)?.id ?? '';

  before(async () => {
    place = await newPlace('movies');
    api = place.api;
    owner = await api.given.owner();
    await api.deps.db('libraries').where({ id: place.libraryId }).update({ everyone: true });
  });

  it('makes films one with the files of both, which later scans keep', async () => {
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.put('Warm (1996)/Warm (1996).mkv', 'h264-allintra.mkv');
    await place.scan();
    const [heat, warm] = [await titled('Heat'), await titled('Warm')];
    const { profileId } = owner;
    const library = { id: place.libraryId, folderId: place.folderId, type: 'movies' };
    const { db } = api.deps;
    await givenState(db, library, { profileId, itemId: heat, play_count: 1, updated_at: new Date(0) });
    await givenState(db, library, { profileId, itemId: warm, play_count: 3, position_ms: 700, rating: 8 });
    const tried = await merge({ intoId: heat, itemIds: [warm], dryRun: true });
    expect([tried.body.files, tried.body.dryRun, (await place.items()).length]).to.deep.equal([1, true, 2]);
    const { status, body } = await merge({ intoId: heat, itemIds: [warm] });
    expect([status, body.item.id, body.item.files.length]).to.deep.equal([200, heat, 2]);
    expect(body.item.userState).to.deep.include({ playCount: 3, positionMs: 700, rating: 8 });
    const old = await api.as(owner).getItem({ params: { id: warm } });
    expect([old.body.id, old.headers.get('content-location')]).to.deep.equal([heat, `/api/v1/items/${heat}`]);
    await place.age();
    await place.put('Warm (1996)/Warm (1996) - Directors Cut.mkv', 'vp9-opus.webm');
    await place.scan();
    const items = await place.items();
    expect(items.map(({ id, title, file_count: files }) => [id, title, files])).to.deep.equal([[heat, 'Heat', 3]]);
    const counted = await db('libraries').where({ id: place.libraryId }).first('item_counts');
    expect(counted?.item_counts).to.deep.equal({ movie: 1 });
  });

  it('merges shows child by child', async () => {
    const { db } = api.deps;
    const shows = await givenLibrary(db, 'shows', { everyone: true });
    const one = await givenShow(db, shows, { seasons: 1, episodes: 2, title: 'One' });
    const two = await givenShow(db, shows, { seasons: 2, episodes: 3, title: 'Two' });
    for (const id of two.episodes.flat()) await givenFile(db, shows, id);
    const { body } = await merge({ intoId: one.id, itemIds: [two.id] });
    expect([body.files, body.children]).to.deep.equal([6, 8]);
    const query = { type: 'episode' } as never;
    const episodes = await api.as(owner).listItemChildren({ params: { id: one.id }, query });
    expect(episodes.body.items.map(({ parentIndex, index }) => `${parentIndex}x${index}`)).to.deep.equal([
      ...['1x1', '1x2', '1x3'],
      ...['2x1', '2x2', '2x3'],
    ]);
    const ids = episodes.body.items.map((item) => ('id' in item ? item.id : ''));
    expect(ids.slice(0, 2)).to.deep.equal(one.episodes[0]);
    expect(ids.slice(2)).to.deep.equal([two.episodes[0]?.[2], ...(two.episodes[1] ?? [])]);
    const former = two.episodes[0]?.[0] ?? '';
    expect((await api.as(owner).getItem({ params: { id: former } })).body.id).to.equal(one.episodes[0]?.[0]);
  });

  it('keeps the higher age limit, the chosen tracks, and albums below their artist', async () => {
    const { db } = api.deps;
    const music = await givenLibrary(db, 'music', { everyone: true });
    const artist = await givenItem(db, music, { type: 'artist', top: true });
    const albumOf = (title: string, more: object) =>
      givenItem(db, music, { type: 'album', title, parent_id: artist, ...more });
    const [into, from] = [await albumOf('One', {}), await albumOf('Two', { age_rating: 'R', age_years: 17 })];
    const song = { type: 'track', parent_id: from, grandparent_id: artist, index_number: 1 };
    const track = await givenItem(db, music, { ...song, title: 'Song' });
    await db('track_choices').insert({ profile_id: owner.profileId, item_id: from, audio_language: 'de' });
    expect((await merge({ intoId: into, itemIds: [from] })).status).to.equal(200);
    expect(await db('items').where({ id: track }).first()).to.include({ parent_id: into, grandparent_id: artist });
    expect(await db('items').where({ id: into }).first()).to.include({ age_rating: 'R', age_years: 17 });
    expect(await db('track_choices').where({ item_id: into }).first()).to.include({ audio_language: 'de' });
    await api.as(owner).setItemLocks({ params: { id: into }, body: { fields: [] } } as never);
    await api.as(owner).updateItem({ params: { id: into }, body: { tagline: 'settled' } });
    expect(await db('items').where({ id: into }).first()).to.include({ age_years: 17 });
  });

  it('leaves episodes in the trash apart from those outside', async () => {
    const { db } = api.deps;
    const shows = await givenLibrary(db, 'shows', { everyone: true });
    const one = await givenShow(db, shows, { seasons: 1, episodes: 1, title: 'Kept' });
    const two = await givenShow(db, shows, { seasons: 1, episodes: 1, title: 'Joined' });
    const [trashed, live] = [one.episodes[0]?.[0] ?? '', two.episodes[0]?.[0] ?? ''];
    for (const id of [trashed, live]) await givenFile(db, shows, id);
    expect((await api.as(owner).deleteItem({ params: { id: trashed } })).status).to.be.oneOf([200, 204]);
    expect((await merge({ intoId: one.id, itemIds: [two.id] })).status).to.equal(200);
    expect(await db('items').where({ id: live }).first()).to.include({ trashed_at: null, parent_id: one.seasons[0] });
    await purgeEntries(db, shows.id, [trashed, one.seasons[0] ?? '']);
    expect(await db('items').whereIn('id', [trashed, live]).pluck('id')).to.deep.equal([live]);
  });

  it('refuses items of another type or library, unknown ones, and an item itself', async () => {
    const { db } = api.deps;
    const [films, others] = [await givenLibrary(db, 'movies'), await givenLibrary(db, 'movies')];
    const [film, other] = [await givenItem(db, films, { top: true }), await givenItem(db, others, { top: true })];
    const differs = await merge({ intoId: film, itemIds: [other] });
    expect([differs.status, errorOf(differs).details]).to.deep.equal([
      409,
      { reason: 'type-differs', itemIds: [other] },
    ]);
    const wrong = await merge({ intoId: film, itemIds: [film, '01900000-0000-7000-8000-00000000abcd'] });
    const codes = (errorOf(wrong).details['issues'] as { code: string }[]).map(({ code }) => code);
    expect([wrong.status, codes]).to.deep.equal([400, ['itself', 'unknown_item']]);
  });
});
