import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import type { Api } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenFile, givenItem, givenLibrary, givenShow, givenState } from '#support/given-items.ts';
import { newPlace, type Place } from '../../workers/scan/support.ts';

describe('splitting items', function () {
  this.timeout(120_000);
  let place: Place;
  let api: Api;
  let owner: Person;

  const split = (id: string, body: object) => api.as(owner).splitItem({ params: { id }, body } as never);

  /** Titles, with the names of their files. */
  async function seen(at = place): Promise<Record<string, string[]>> {
    const files = await at.files();
    const entries = (await at.items()).map((item): [string, string[]] => [
      `${item.title}${item.year === null ? '' : ` ${item.year}`}`,
      files.flatMap((file) => (file.item_id === item.id ? [file.path.split('/').at(-1) ?? ''] : [])).sort(),
    ]);
    return Object.fromEntries(entries);
  }

  async function scan(at = place, request: Parameters<Place['scan']>[0] = {}): Promise<void> {
    await at.age();
    await at.scan(request);
  }

  const idOf = async (name: string, at = place): Promise<string> =>
    (await at.files()).find(({ path }) => path.endsWith(name))?.id ?? '';
  const itemOf = async (name: string, at = place): Promise<string> =>
    (await at.files()).find(({ path }) => path.endsWith(name))?.item_id ?? '';

  async function move(from: string, to: string, at = place): Promise<void> {
    await mkdir(dirname(join(at.path, to)), { recursive: true });
    await rename(join(at.path, from), join(at.path, to));
  }

  before(async () => {
    place = await newPlace('movies');
    api = place.api;
    owner = await api.given.owner();
    await api.deps.db('libraries').where({ id: place.libraryId }).update({ everyone: true });
  });

  it('makes an item of files, which stay in it whatever scans read and wherever they move', async () => {
    const { db } = api.deps;
    await place.put('Crash (1996)/Crash (1996).mkv');
    await place.put('Crash (1996)/Crash (1996) - Other.mkv', 'h264-allintra.mkv');
    await place.scan();
    const crash = await itemOf('Crash (1996).mkv');
    const [mine, other] = [await idOf('Crash (1996).mkv'), await idOf('Other.mkv')];
    await api.as(owner).updateItem({ params: { id: crash }, body: { ageRating: 'R' } });
    const library = { id: place.libraryId, folderId: place.folderId, type: 'movies' };
    const child = await api.given.member();
    for (const [profileId, fileId] of [
      [owner.profileId, other],
      [child.profileId, mine],
    ] as const)
      await givenState(db, library, { profileId, itemId: crash, position_ms: 700, rating: 8, file_id: fileId });
    const { status, body } = await split(crash, { fileIds: [other] });
    expect(status, JSON.stringify(body)).to.equal(200);
    const [created] = body.created;
    const id = created?.id ?? '';
    expect([body.item.id, body.item.files.map((file) => file.id), body.created.length]).to.deep.equal([
      crash,
      [mine],
      1,
    ]);
    expect(created).to.include({ type: 'movie', title: 'Crash', year: 1996, ageRating: 'R' });
    expect(created?.userState).to.include({ positionMs: 700, rating: 8 });
    expect(body.item.userState).to.include({ positionMs: 0 });
    const state = await db('item_states').where({ profile_id: child.profileId }).first('item_id');
    expect(state?.item_id).to.equal(crash);
    const counted = await db('libraries').where({ id: place.libraryId }).first('item_counts');
    expect(counted?.item_counts).to.deep.equal({ movie: 2 });
    const job = await db('jobs').where({ kind: 'metadata.refresh' }).whereRaw(`target ->> 'id' = ?`, [id]).first();
    expect(job?.payload).to.deep.include({ itemId: id });

    for (const mode of ['full', 'deep'] as const) {
      await scan(place, { mode });
      expect([await itemOf('Crash (1996).mkv'), await itemOf('Other.mkv')]).to.deep.equal([crash, id]);
    }
    await place.put('Crash (1996)/Crash (1996) - Third.mkv', 'vp9-opus.webm');
    await scan();
    expect(await itemOf('Third.mkv')).to.equal(crash);
    await move('Crash (1996)/Crash (1996) - Other.mkv', 'Elsewhere/Crash (1996) - Renamed.mkv');
    await scan();
    expect([await itemOf('Renamed.mkv'), await idOf('Renamed.mkv')]).to.deep.equal([id, other]);
    expect((await place.items()).length).to.equal(2);
    const events = await place.events('item.added');
    expect(events.map(({ payload }) => payload['itemId'])).to.include(id);
  });

  it('undoes a wrong merge, after which new files follow their names again', async () => {
    const at = await newPlace('movies', {}, api);
    await api.deps.db('libraries').where({ id: at.libraryId }).update({ everyone: true });
    await at.put('Heat (1995)/Heat (1995).mkv');
    await at.put('Warm (1996)/Warm (1996).mkv', 'h264-allintra.mkv');
    await at.scan();
    const [heat, warm] = [await itemOf('Heat (1995).mkv', at), await itemOf('Warm (1996).mkv', at)];
    await api.as(owner).mergeItems({ body: { intoId: heat, itemIds: [warm] } } as never);
    await scan(at);
    const { body } = await split(heat, { fileIds: [await idOf('Warm (1996).mkv', at)] });
    expect(body.created[0]).to.include({ title: 'Warm', year: 1996 });
    await at.put('Warm (1996)/Warm (1996) - Directors Cut.mkv', 'vp9-opus.webm');
    await scan(at);
    expect(await seen(at)).to.deep.equal({
      'Heat 1995': ['Heat (1995).mkv'],
      'Warm 1996': ['Warm (1996) - Directors Cut.mkv', 'Warm (1996).mkv'],
    });
    await move('Warm (1996)', 'Warmer (1997)', at);
    await move('Warmer (1997)/Warm (1996).mkv', 'Warmer (1997)/Warmer (1997).mkv', at);
    await move('Warmer (1997)/Warm (1996) - Directors Cut.mkv', 'Warmer (1997)/Warmer (1997) - Directors Cut.mkv', at);
    await scan(at);
    expect(Object.keys(await seen(at))).to.deep.equal(['Heat 1995', 'Warmer 1997']);
    expect(await itemOf('Warmer (1997).mkv', at)).to.equal(body.created[0]?.id);
  });

  it('brings files of an episode to the one of a number, in a season that it makes', async () => {
    const at = await newPlace('shows', {}, api);
    await api.deps.db('libraries').where({ id: at.libraryId }).update({ everyone: true });
    await at.put('Alpha/Season 1/Alpha S01E01.mkv');
    await at.put('Alpha/Season 1/Alpha S01E01 - Wrong.mkv', 'h264-allintra.mkv');
    await at.put('Alpha/Season 1/Alpha S01E02.mkv', 'vp9-opus.webm');
    await at.scan();
    const [first, second] = [await itemOf('S01E01.mkv', at), await itemOf('S01E02.mkv', at)];
    const wrong = await idOf('Wrong.mkv', at);
    const made = await split(first, { fileIds: [wrong], target: { parentIndex: 2, index: 5 } });
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    const id = made.body.created[0]?.id ?? '';
    await scan(at, { mode: 'deep' });
    const row = await api.deps.db('items').where({ id }).first('parent_index', 'index_number', 'parent_id');
    const season = await api.deps
      .db('items')
      .where({ id: row?.parent_id ?? '' })
      .first('index_number');
    expect([row?.parent_index, row?.index_number, season?.index_number]).to.deep.equal([2, 5, 2]);
    expect(await itemOf('Wrong.mkv', at)).to.equal(id);
    const joined = await split(id, { fileIds: [wrong], target: { parentIndex: 1, index: 2 } });
    expect([joined.status, joined.body.item.id, joined.body.created]).to.deep.equal([200, second, []]);
    const old = await api.as(owner).getItem({ params: { id } });
    expect(old.body.id).to.equal(second);
    await scan(at, { mode: 'deep' });
    expect(await itemOf('Wrong.mkv', at)).to.equal(second);
    expect((await at.items()).filter(({ type }) => type === 'episode').length).to.equal(2);
    const only = await idOf('S01E01.mkv', at);
    const whole = await split(first, { fileIds: [only], target: { parentIndex: 1, index: 7 } });
    expect([whole.body.item.id, whole.body.item.index, whole.body.created]).to.deep.equal([first, 7, []]);
    await scan(at, { mode: 'deep' });
    expect(await itemOf('S01E01.mkv', at)).to.equal(first);
    expect((await at.items()).filter(({ type }) => type === 'episode').length).to.equal(2);
  });

  it('refuses what would leave nothing, unknown files, and targets of another type', async () => {
    const { db } = api.deps;
    const films = await givenLibrary(db, 'movies', { everyone: true });
    const shows = await givenLibrary(db, 'shows', { everyone: true });
    const film = await givenItem(db, films, { top: true });
    const file = await givenFile(db, films, film);
    const alpha = await givenShow(db, shows, { seasons: 1, episodes: 1, title: 'Alpha' });
    const all = await split(film, { fileIds: [file] });
    expect([all.status, errorOf(all).details]).to.deep.equal([409, { reason: 'nothing-left' }]);
    const type = await split(film, { fileIds: [file], target: { itemId: alpha.id } });
    expect([type.status, errorOf(type).details['reason']]).to.deep.equal([409, 'type-differs']);
    const codes = async (body: object) => {
      const answer = await split(film, body);
      return [answer.status, ...(errorOf(answer).details['issues'] as { code: string }[]).map(({ code }) => code)];
    };
    expect(await codes({ fileIds: [film] })).to.deep.equal([400, 'unknown_file']);
    expect(await codes({ fileIds: [file], target: { itemId: file } })).to.deep.equal([400, 'unknown_item']);
    expect(await codes({ fileIds: [file], target: { itemId: film } })).to.deep.equal([400, 'itself']);
    expect(await codes({ fileIds: [file], target: { parentIndex: 1, index: 1 } })).to.deep.equal([400, 'wrong_type']);
  });
});
