import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { givenFile, givenItem, givenLibrary, givenState } from '#support/given-items.ts';
import { deleteLibraryRows, purgeTrash } from '#workers/library-jobs.ts';
import { Postponed } from '#workers/work.ts';
import { newPlace, type Place } from './scan/support.ts';

const DAY_MS = 86_400_000;

describe('jobs of libraries', function () {
  this.timeout(120_000);
  let place: Place;
  before(async () => {
    place = await newPlace('movies', { trashGraceHours: 0 });
  });

  const trashed = (days: number) => ({
    trashed_at: new Date(Date.now() - days * DAY_MS),
    trash_reason: 'missing',
    top: true,
  });

  it('purges each night the trash whose days are over, of available storages, and keeps a record for a year', async () => {
    const { db } = place.api.deps;
    const [keeps, forever] = [
      await givenLibrary(db, 'movies', { settings: { trashKeepDays: 10 }, trash_count: 3 }),
      await givenLibrary(db, 'movies', { settings: { trashKeepDays: 0 }, trash_count: 1 }),
    ];
    const [old, young, kept] = [
      await givenItem(db, keeps, trashed(11)),
      await givenItem(db, keeps, trashed(9)),
      await givenItem(db, forever, trashed(900)),
    ];
    const trashedItem = await givenItem(db, keeps, trashed(11));
    const storage = { id: newId(), name: 'gone', kind: 'mount', root_name: 'gone', state: 'unavailable' };
    await db('storages').insert(storage);
    await givenFile(db, keeps, old);
    await givenFile(db, keeps, trashedItem, { storage_id: storage.id });
    await db('item_tombstones').insert({
      ...{ item_id: newId(), library_id: keeps.id, type: 'movie', identity_key: 'x', expires_at: new Date(0) },
    });
    await purgeTrash({}, place.work());
    const left = await db('items').whereIn('id', [old, young, kept, trashedItem]).pluck<string[]>('id');
    expect(left).to.have.members([young, kept, trashedItem]);
    const tombs = await db('item_tombstones').where({ library_id: keeps.id }).select('item_id', 'expires_at');
    expect(tombs.map(({ item_id }) => item_id)).to.deep.equal([old]);
    expect(Math.round((tombs[0].expires_at.getTime() - Date.now()) / DAY_MS)).to.equal(365);
    expect(await db('libraries').where({ id: keeps.id }).first('trash_count')).to.deep.equal({ trash_count: 2 });
  });

  for (const [what, name] of [
    ['under its name', 'Up (2009)/Up (2009).mkv'],
    ['under another name', 'Old ones/L-haut (2010)/L-haut (2010).mkv'],
  ] as const) {
    it(`gives a film that was purged and is added again ${what} its old id and state`, async () => {
      const own = await newPlace('movies', { trashGraceHours: 0 });
      const { db } = own.api.deps;
      const { profileId } = await own.api.given.member();
      await own.put('Up (2009)/Up (2009).mkv');
      await own.put('It (2017)/It (2017).mkv', 'tiny.mp4'); // that the folder is not empty
      await own.scan();
      const [before] = (await own.items()).filter(({ title }) => title === 'Up');
      const itemId = before?.id ?? '';
      await givenState(
        db,
        { id: own.libraryId, folderId: own.folderId, type: 'movies' },
        { profileId, itemId, watched: true },
      );
      const aside = join(own.api.mediaRoot, `${itemId}.mkv`);
      await rename(join(own.path, 'Up (2009)/Up (2009).mkv'), aside);
      await rm(join(own.path, 'Up (2009)'), { recursive: true });
      await own.scan();
      await own.scan();
      expect((await own.items()).find(({ id }) => id === itemId)?.trashed_at).to.be.instanceOf(Date);
      await purgeTrash({ libraryId: own.libraryId, before: new Date().toISOString() }, own.work());
      expect((await own.items()).map(({ title }) => title)).to.deep.equal(['It']);
      await own.put(name);
      await own.scan();
      const back = (await own.items()).find(({ title }) => title !== 'It');
      expect(back?.id).to.equal(itemId);
      expect(await db('item_states').where({ item_id: itemId, profile_id: profileId }).first('watched')).to.deep.equal({
        watched: true,
      });
      expect(await db('item_tombstones').where({ item_id: itemId })).to.deep.equal([]);
      await rm(aside);
    });
  }

  it('removes the parts of recordings for a deleted library, once no recorder writes them', async () => {
    const { db, objects } = place.api.deps;
    await objects.prepare(['foyer-recordings']);
    const [gone, other] = [await givenLibrary(db, 'movies'), await givenLibrary(db, 'movies')];
    const [running, waiting, elsewhere] = [newId(), newId(), newId()];
    const times = { start_at: new Date(), end_at: new Date(Date.now() + DAY_MS), start_pad_ms: 0, end_pad_ms: 0 };
    const lease = { lease_holder: 'a', lease_until: new Date(Date.now() + DAY_MS) };
    for (const [id, library, more] of [
      [running, gone, { state: 'recording', ...lease }],
      [waiting, gone, { state: 'completed' }],
      [elsewhere, other, { state: 'recording' }],
    ] as const) {
      await db('recordings').insert({
        id,
        title: 'News',
        channel_name: 'One',
        library_id: library.id,
        ...times,
        ...more,
      });
      for (const track of [id, `${id}~h264`]) await objects.put('foyer-recordings', `${track}/1.ts`, Buffer.from('x'));
    }
    const left = async (): Promise<string[]> => {
      const keys = await Array.fromAsync(objects.list('foyer-recordings', ''));
      return [...new Set(keys.map(({ key }) => key.slice(0, 36)))].sort();
    };
    await db('libraries').where({ id: gone.id }).update({ deleted_at: new Date() });
    const refusal = await deleteLibraryRows({ libraryId: gone.id }, place.work()).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Postponed);
    expect(await db('recordings').where({ id: running }).first('state')).to.deep.equal({ state: 'cancelled' });
    expect(await left()).to.have.lengthOf(3);
    await db('recordings')
      .where({ id: running })
      .update({ lease_until: new Date(0) });
    await deleteLibraryRows({ libraryId: gone.id }, place.work());
    expect(await left()).to.deep.equal([elsewhere]);
    expect(await db('recordings').whereIn('id', [running, waiting, elsewhere]).pluck('id')).to.deep.equal([elsewhere]);
  });

  it('removes a deleted library with all its rows, ends its playback, and touches no file', async () => {
    const { db } = place.api.deps;
    await place.put('Her (2013)/Her (2013).mkv');
    await place.scan();
    const viewer = place.api.as(await place.api.given.member());
    const [item] = await place.items();
    const started = await viewer.startPlayback({
      params: { id: item?.id ?? '' },
      body: { client: { builtIn: 'hls' } },
    });
    expect(started.status, JSON.stringify(started.body)).to.equal(201);
    await db('libraries').where({ id: place.libraryId }).update({ deleted_at: new Date() });
    await deleteLibraryRows({ libraryId: place.libraryId }, place.work());
    await deleteLibraryRows({ libraryId: place.libraryId }, place.work()); // after a fault
    for (const table of ['libraries', 'items', 'media_files', 'library_folders', 'scans', 'item_tombstones']) {
      const column = table === 'libraries' ? 'id' : 'library_id';
      expect(await db(table).where({ [column]: place.libraryId }), table).to.deep.equal([]);
    }
    expect(existsSync(join(place.path, 'Her (2013)/Her (2013).mkv'))).to.equal(true);
    const { body } = await viewer.getPlaybackSession({ params: { id: started.body.session.id } });
    expect(body.state).to.equal('stopped');
  });
});
