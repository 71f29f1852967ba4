import { appendFile, copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import type { Person } from '#support/given.ts';
import { newPlace, type Place } from './support.ts';

/** Moves a file or folder, from one library's folder to another's. */
async function move(from: Place, names: string | [name: string, newName: string], to: Place): Promise<void> {
  const [name, newName] = typeof names === 'string' ? [names, names] : names;
  await mkdir(dirname(join(to.path, newName)), { recursive: true });
  await rename(join(from.path, name), join(to.path, newName));
}

/** A member who sees these libraries alone. */
async function memberOf(...places: Place[]): Promise<Person> {
  const [{ api }] = places as [Place];
  const member = await api.given.member();
  await api.deps.db('accounts').where({ id: member.accountId }).update({ library_mode: 'only' });
  for (const { libraryId } of places)
    await api.deps.db('library_access').insert({ library_id: libraryId, account_id: member.accountId });
  return member;
}

async function two(type: string): Promise<[old: Place, next: Place]> {
  return [await newPlace(type), await newPlace(type)];
}

/** The sums on a library's row, and the values that they must have. */
async function sumsOf({ api: { deps }, libraryId }: Place): Promise<[kept: object, real: object]> {
  const { db } = deps;
  const row = await db('libraries').where({ id: libraryId }).first('item_counts', 'size_bytes', 'missing_count');
  const items = await db('items').where({ library_id: libraryId, extra_of: null }).whereNull('trashed_at').select('*');
  const counts: Record<string, number> = {};
  for (const { type } of items) counts[type] = (counts[type] ?? 0) + 1;
  const real = {
    item_counts: counts,
    size_bytes: items.reduce((sum, item) => sum + Number(item.size_bytes), 0),
    missing_count: items.filter((item) => item.availability === 'missing' && !['show', 'season'].includes(item.type))
      .length,
  };
  return [row, real];
}

async function expectSums(...places: Place[]): Promise<void> {
  for (const place of places) {
    const [kept, real] = await sumsOf(place);
    expect(kept).to.deep.equal(real);
  }
}

/** Rows whose file and item are in different libraries: there must never be any. */
async function expectNothingBetween(place: Place): Promise<void> {
  const { db } = place.api.deps;
  const files = await db('media_files as f')
    .join('items as i', 'i.id', 'f.item_id')
    .join('library_folders as lf', 'lf.id', 'f.folder_id')
    .whereRaw('f.library_id <> i.library_id or lf.library_id <> i.library_id')
    .select('f.path');
  expect(files).to.deep.equal([]);
  const items = await db('items as i')
    .join('items as above', (on) => on.on(db.raw('above.id in (i.parent_id, i.grandparent_id, i.extra_of)')))
    .whereRaw('above.library_id <> i.library_id')
    .select('i.title', 'i.type');
  expect(items).to.deep.equal([]);
  for (const table of ['item_tags', 'item_states', 'playback_sessions']) {
    const rows = await db(`${table} as t`)
      .join('items as i', 'i.id', 't.item_id')
      .whereRaw('t.library_id <> i.library_id')
      .select('t.item_id');
    expect(rows, table).to.deep.equal([]);
  }
}

describe('a film that moves to another library', function () {
  this.timeout(120_000);

  for (const first of ['old', 'new'] as const) {
    it(`goes there with its item, its rights and its sums when the ${first} library is scanned first`, async () => {
      const [old, next] = await two('movies');
      const { api } = old;
      const { db } = api.deps;
      const [before, after] = [await memberOf(old), await memberOf(next)];
      await old.put('Heat (1995)/Heat (1995).mkv');
      await old.put('Heat (1995)/trailer.mkv', 'tiny.mp4');
      await old.put('Up (2009)/Up (2009).mkv', 'h264-base.mkv');
      await next.put('It (2017)/It (2017).mkv');
      await old.scan();
      await next.scan();
      const [heat] = (await old.items()).filter(({ title }) => title === 'Heat');
      const id = heat?.id ?? '';
      const [file] = await old.files();
      await db('item_tags').insert({
        ...{ item_id: id, library_id: old.libraryId, kind: 'genre', name: 'Crime', name_folded: 'crime' },
      });
      await api.as(before).markWatched({ params: { id } });
      await move(old, 'Heat (1995)', next);
      for (const place of first === 'old' ? [old, next] : [next, old]) await place.scan();
      const [moved] = await next.files();
      expect(moved).to.include({ id: file?.id, item_id: id });
      expect((await next.items()).map(({ title }) => title)).to.have.members(['Heat', 'It', 'Trailer']);
      expect((await old.items()).map(({ title }) => title)).to.deep.equal(['Up']);
      await expectNothingBetween(old);
      await expectSums(old, next);

      const stream = (person: Person) => api.as(person).streamFile({ params: { fileId: file?.id ?? '' } });
      expect((await stream(before)).status, 'who saw it before').to.equal(404);
      expect((await api.as(before).getItem({ params: { id } })).status).to.equal(404);
      expect((await stream(after)).status, 'who sees the new library').to.equal(200);
      expect((await api.as(after).getItem({ params: { id } })).status).to.equal(200);
      const listed = async (person: Person, { libraryId }: Place): Promise<string[]> => {
        const { body } = await api
          .as(person)
          .listLibraryItems({ params: { id: libraryId }, query: { filter: 'genre:eq:Crime' } });
        return body.items.map((item) => item.id);
      };
      expect(await listed(after, next)).to.deep.equal([id]);
      expect(await listed(before, old)).to.deep.equal([]);
    });
  }

  it('leaves the item and the other version where they are when one version of two moves', async () => {
    for (const [from, to] of [await two('movies'), await same('movies')]) {
      const { db } = from.api.deps;
      await from.put('Heat (1995)/Heat (1995) - 1080p.mkv', 'h264-base.mkv');
      await from.put('Heat (1995)/Heat (1995) - 480p.mkv');
      await to.put('It (2017)/It (2017).mkv', 'tiny.mp4');
      await from.scan();
      const heat = (await from.items()).find(({ title }) => title === 'Heat');
      const kept = (await from.files()).find(({ path }) => path.includes('1080p'));
      await db('items').where({ id: heat?.id }).update({ age_rating: 'R', age_years: 17 });
      await move(from, ['Heat (1995)/Heat (1995) - 480p.mkv', 'Other (2001)/Other (2001).mkv'], to);
      await to.scan();
      await from.scan();
      expect(await db('items').where({ id: heat?.id }).first()).to.deep.include({
        ...{ title: 'Heat', library_id: from.libraryId, file_count: 1, availability: null },
      });
      expect(await db('media_files').where({ id: kept?.id }).first('item_id')).to.deep.equal({ item_id: heat?.id });
      const other = (await to.items()).find(({ title }) => title === 'Other');
      expect(other, 'the same film is for the same ages').to.deep.include({ file_count: 1, age_years: 17 });
      await expectNothingBetween(from);
      await expectSums(from, to);
    }
  });

  it('joins the film that is there already, and leaves nothing behind', async () => {
    const [old, next] = await two('movies');
    await old.put('Heat (1995)/Heat (1995).mkv', 'h264-base.mkv');
    await old.put('Up (2009)/Up (2009).mkv', 'tiny.mp4');
    await next.put('Heat (1995)/Heat (1995) - 480p.mkv');
    await old.scan();
    await next.scan();
    const [there] = await next.items();
    await move(old, ['Heat (1995)/Heat (1995).mkv', 'Heat (1995)/Heat (1995) - 1080p.mkv'], next);
    await next.scan();
    await old.scan();
    expect((await next.items()).map(({ id, file_count }) => [id, file_count])).to.deep.equal([[there?.id, 2]]);
    expect((await old.items()).map(({ title }) => title)).to.deep.equal(['Up']);
    await expectNothingBetween(old);
    await expectSums(old, next);
  });

  it('is a new one in a library of another type, and goes missing in its own', async () => {
    const [old, other] = [await newPlace('movies'), await newPlace('videos')];
    await old.put('Heat (1995)/Heat (1995).mkv');
    await old.put('Up (2009)/Up (2009).mkv', 'tiny.mp4');
    await old.scan();
    const heat = (await old.items()).find(({ title }) => title === 'Heat');
    await move(old, 'Heat (1995)', other);
    await other.scan();
    await old.scan();
    expect((await old.items()).map(({ id, availability }) => [id, availability])).to.deep.include([
      heat?.id,
      'missing',
    ]);
    expect(await other.items()).to.have.length(1);
    expect((await other.items())[0]?.id).to.not.equal(heat?.id);
    await expectNothingBetween(old);
    await expectSums(old, other);
  });

  it('is followed back', async () => {
    const [old, next] = await two('movies');
    await old.put('Heat (1995)/Heat (1995).mkv');
    await old.scan();
    const [before] = await old.items();
    await move(old, 'Heat (1995)', next);
    await next.scan();
    await move(next, 'Heat (1995)', old);
    await old.scan();
    expect((await old.items()).map(({ id }) => id)).to.deep.equal([before?.id]);
    expect(await next.items()).to.deep.equal([]);
    await expectSums(old, next);
  });

  it('leaves an extra that stayed, which belongs to no film then', async () => {
    const [old, next] = await two('movies');
    await old.put('Heat (1995)/Heat (1995).mkv');
    await old.put('Heat (1995)/Trailers/Teaser.mkv', 'tiny.mp4');
    await old.scan();
    await move(old, 'Heat (1995)/Heat (1995).mkv', next);
    await next.scan();
    await old.scan();
    expect((await next.items()).map(({ title }) => title)).to.deep.equal(['Heat']);
    expect(await old.items()).to.deep.equal([]);
    await expectNothingBetween(old);
  });

  it('takes an extra along that cannot be looked for now', async () => {
    const [old, next] = await two('movies');
    await old.put('Heat (1995)/Heat (1995).mkv');
    await old.put('Heat (1995)/Trailers/Teaser.mkv', 'tiny.mp4');
    await old.scan();
    const before = (await old.items()).map(({ id }) => id).sort();
    await move(old, 'Heat (1995)/Heat (1995).mkv', next);
    await rm(join(old.path, 'Heat (1995)/Trailers'), { recursive: true });
    await symlink('Trailers', join(old.path, 'Heat (1995)/Trailers')); // a link to itself: ELOOP
    await next.scan();
    expect((await next.items()).map(({ id }) => id).sort()).to.deep.equal(before);
    expect((await next.items()).map(({ title, availability }) => [title, availability])).to.deep.include([
      'Teaser',
      'missing',
    ]);
    await expectNothingBetween(old);
  });

  it('is not taken for an equal one of another library that was renamed too', async () => {
    const [old, next] = await two('movies');
    await old.put('One (2001).mkv');
    await copyFile(join(old.path, 'One (2001).mkv'), join(next.path, 'Two (2002).mkv'));
    await old.scan();
    await next.scan();
    const [[one], [other]] = [await old.files(), await next.files()];
    await rename(join(old.path, 'One (2001).mkv'), join(old.path, 'Two (2002).mkv'));
    await rename(join(next.path, 'Two (2002).mkv'), join(next.path, 'One (2001).mkv'));
    await old.scan();
    await next.scan();
    expect((await old.files()).map(({ id }) => id)).to.deep.equal([one?.id]);
    expect((await next.files()).map(({ id }) => id)).to.deep.equal([other?.id]);
  });

  it('announces to viewers of the old library that it left, and to viewers of the new one that it came', async () => {
    const [old, next] = await two('movies');
    await old.put('Heat (1995)/Heat (1995).mkv');
    await next.put('It (2017)/It (2017).mkv', 'tiny.mp4');
    await old.scan();
    await next.scan();
    const [heat] = await old.items();
    const { db } = old.api.deps;
    const { change_seq: since } = await db('libraries').where({ id: old.libraryId }).first('change_seq');
    await move(old, 'Heat (1995)', next);
    await next.scan();
    const itemEvents = async (place: Place) =>
      (await place.events())
        .filter(({ event }) => event.startsWith('item.'))
        .map((one) => [one.event, one.payload.itemId]);
    expect(await itemEvents(old)).to.deep.equal([['item.deleted', heat?.id]]);
    expect(await itemEvents(next)).to.deep.equal([['item.added', heat?.id]]);
    const removals = await db('library_removals').where({ library_id: old.libraryId }).select('item_id', 'seq');
    expect(removals.map(({ item_id }) => item_id)).to.deep.equal([heat?.id]);
    expect(Number(removals[0]?.seq)).to.be.above(Number(since));
  });

  for (const state of ['available', 'suspect'] as const) {
    it(`is ${state === 'available' ? 'a move too' : 'none'} when its old storage is another one that is ${state}`, async () => {
      const [old, next] = await two('movies');
      const { db } = old.api.deps;
      const storageId = newId();
      const path = old.path.slice(old.api.mediaRoot.length + 1);
      const { root_name } = await db('storages').where({ id: old.api.given.storageId }).first('root_name');
      await db('storages').insert({
        id: storageId,
        name: storageId,
        kind: 'mount',
        state: 'available',
        root_name,
        path,
      });
      await db('library_folders').where({ id: old.folderId }).update({ storage_id: storageId, path: '' });
      await old.put('Heat (1995)/Heat (1995).mkv');
      await old.scan();
      const [heat] = await old.items();
      await db('storages').where({ id: storageId }).update({ state });
      await move(old, 'Heat (1995)', next);
      await next.scan();
      const ids = (await next.items()).map(({ id }) => id);
      if (state === 'available') expect(ids).to.deep.equal([heat?.id]);
      else expect(ids).to.not.include(heat?.id);
      await db('storages').where({ id: storageId }).update({ state: 'available' });
    });
  }
});

async function same(type: string): Promise<[Place, Place]> {
  const place = await newPlace(type);
  return [place, place];
}

describe('a show that moves to another library', function () {
  this.timeout(120_000);

  it('goes there with seasons, episodes, extras and the data of people', async () => {
    const [old, next] = await two('shows');
    const { api } = old;
    const viewer = await api.given.admin();
    const fixtures = ['tiny.mkv', 'h264-base.mkv', 'h264-aac.mp4', 'tiny.mp4'];
    for (const [i, name] of ['Season 1/S01E01', 'Season 1/S01E02', 'Season 2/S02E01', 'Extras/Making of'].entries())
      await old.put(`Firefly/${name}.mkv`, fixtures[i]);
    await old.put('Lost/Season 1/Lost S01E01.mkv', 'h264-allintra.mkv');
    await old.scan();
    const show = (await old.items()).find(({ title }) => title === 'Firefly');
    const mine = (await old.files()).filter(({ path }) => path.includes('/Firefly/'));
    await api.as(viewer).setItemRating({ params: { id: show?.id ?? '' }, body: { favorite: true } });
    await move(old, ['Firefly', 'Sci-Fi/Firefly (2002)'], next);
    await next.scan();
    await old.scan();
    const ids = (await next.items()).map(({ id }) => id);
    expect(ids).to.include.members([show?.id, ...mine.map(({ item_id }) => item_id)]);
    expect(
      (await next.items())
        .filter(({ type }) => type !== 'video')
        .map(({ type }) => type)
        .sort(),
    ).to.deep.equal(['episode', 'episode', 'episode', 'season', 'season', 'show']);
    expect((await old.items()).map(({ type }) => type).sort()).to.deep.equal(['episode', 'season', 'show']);
    await expectNothingBetween(old);
    await expectSums(old, next);
  });

  it('is announced as added, with all that it holds but extras', async () => {
    const [old, next] = await two('shows');
    await old.put('Firefly/Season 1/S01E01.mkv');
    await old.put('Firefly/Season 1/S01E02.mkv', 'h264-base.mkv');
    await old.put('Firefly/Extras/Making of.mkv', 'tiny.mp4');
    await next.put('Lost/Season 1/Lost S01E01.mkv', 'h264-allintra.mkv');
    await old.scan();
    await next.scan();
    const itemEvents = (await old.items()).filter(({ extra_kind }) => extra_kind === null).map(({ id }) => id);
    expect(itemEvents).to.have.length(4);
    await rm(join(old.path, 'Firefly/Season 1/S01E02.mkv'));
    await move(old, 'Firefly', next);
    await next.scan();
    const added = (await next.events('item.added')).map(({ payload }) => payload.itemId);
    expect(added).to.have.members(itemEvents);
  });

  it('goes there whole when it is written in several parts', async () => {
    const [old, next] = await two('shows');
    for (let number = 1; number <= 150; number += 1) {
      const name = `Long/Season ${number > 100 ? 2 : 1}/Long S0${number > 100 ? 2 : 1}E${number}.mkv`;
      await old.put(name);
      await appendFile(join(old.path, name), Buffer.from([0xec, 0x82, number, number]));
    }
    await old.scan();
    const before = (await old.items()).map(({ id }) => id).sort();
    expect(before).to.have.length(153);
    await move(old, 'Long', next);
    const scan = await next.scan();
    expect(scan.counts).to.include({ moved: 150, added: 0, probed: 0 });
    await old.scan();
    expect((await next.items()).map(({ id }) => id).sort()).to.deep.equal(before);
    expect((await next.items()).filter(({ availability }) => availability !== null)).to.deep.equal([]);
    await expectNothingBetween(old);
    await expectSums(old, next);
  });

  it('moves one episode alone, and leaves its show unchanged', async () => {
    const [old, next] = await two('shows');
    await old.put('Firefly/Season 1/S01E01.mkv');
    await old.put('Firefly/Season 1/S01E02.mkv', 'h264-base.mkv');
    await old.scan();
    const before = await old.items();
    const second = before.find(({ index_number, type }) => type === 'episode' && index_number === 2);
    await move(old, ['Firefly/Season 1/S01E02.mkv', 'Serenity/Season 1/S01E02.mkv'], next);
    await next.scan();
    await old.scan();
    expect((await old.items()).map(({ id }) => id).sort()).to.deep.equal(
      before
        .map(({ id }) => id)
        .filter((id) => id !== second?.id)
        .sort(),
    );
    expect((await old.items()).find(({ type }) => type === 'show')?.title).to.equal('Firefly');
    expect((await next.items()).map(({ type, title }) => [type, title])).to.deep.equal([
      ['episode', 'Episode 2'],
      ['season', 'Season 1'],
      ['show', 'Serenity'],
    ]);
    expect((await next.items())[0]?.id).to.equal(second?.id);
    await expectNothingBetween(old);
    await expectSums(old, next);
  });

  it('takes along files that were lost on the way, as missing', async () => {
    const [old, next] = await two('shows');
    await old.put('Firefly/Season 1/S01E01.mkv');
    await old.put('Firefly/Season 1/S01E02.mkv', 'h264-base.mkv');
    await old.scan();
    const before = await old.items();
    await rm(join(old.path, 'Firefly/Season 1/S01E02.mkv'));
    await move(old, 'Firefly', next);
    await next.scan();
    await old.scan();
    expect(await old.items()).to.deep.equal([]);
    expect((await next.items()).map(({ id }) => id).sort()).to.deep.equal(before.map(({ id }) => id).sort());
    expect((await next.items()).filter(({ availability }) => availability).map(({ title }) => title)).to.deep.equal([
      'Episode 2',
    ]);
    await expectNothingBetween(old);
    await expectSums(old, next);
    await old.put('Firefly/Season 1/S01E02.mkv', 'h264-base.mkv');
    await old.scan();
    expect((await old.items()).map(({ type }) => type)).to.deep.equal(['episode', 'season', 'show']);
    expect((await old.items())[0]?.id, 'what returns is the one it was').to.equal(
      before.find(({ index_number, type }) => type === 'episode' && index_number === 2)?.id,
    );
    await expectNothingBetween(old);
    await expectSums(old, next);
  });
});
