// Two libraries on two storages: files that move from one to the other keep their rows.
import { appendFile, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { newPlace, type Place } from './support.ts';

/** A library whose folder is a whole storage, so that equal names are equal paths. */
async function onItsOwn(type: string): Promise<Place & { storageId: string }> {
  const place = await newPlace(type);
  const { db } = place.api.deps;
  const storageId = newId();
  const { root_name } = await db('storages').where({ id: place.api.given.storageId }).first('root_name');
  const path = place.path.slice(place.api.mediaRoot.length + 1);
  await db('storages').insert({ id: storageId, name: storageId, kind: 'mount', state: 'available', root_name, path });
  await db('library_folders').where({ id: place.folderId }).update({ storage_id: storageId, path: '' });
  return { ...place, storageId };
}

async function putEpisode(place: Place, name: string, number: number): Promise<void> {
  await place.put(name);
  await appendFile(join(place.path, name), Buffer.from([0xec, 0x82, number, number]));
}

async function move(from: Place, name: string, to: Place): Promise<void> {
  await mkdir(dirname(join(to.path, name)), { recursive: true });
  await rename(join(from.path, name), join(to.path, name));
}

const idsOf = async (place: Place): Promise<string[]> => (await place.items()).map(({ id }) => id).sort();

async function storagesOf({ api, libraryId }: Place): Promise<string[]> {
  return api.deps.db('media_files').where({ library_id: libraryId }).distinct().pluck('storage_id');
}

describe('a show that moves to the library of another storage', function () {
  this.timeout(120_000);

  it('keeps every episode under the same paths, beyond the first part', async () => {
    const [old, next] = [await onItsOwn('shows'), await onItsOwn('shows')];
    for (let number = 1; number <= 70; number += 1)
      await putEpisode(old, `Long/Season 1/Long S01E${number}.mkv`, number);
    await old.scan();
    const before = await idsOf(old);
    expect(before).to.have.length(72);
    await move(old, 'Long', next);
    const { counts } = await next.scan();
    expect(counts).to.include({ moved: 70, added: 0, probed: 0 });
    expect(await idsOf(next)).to.deep.equal(before);
    expect(await old.items()).to.deep.equal([]);
    expect(await storagesOf(next)).to.deep.equal([next.storageId]);
  });

  it('leaves no row on the old storage when a season follows later', async () => {
    const [old, next] = [await onItsOwn('shows'), await onItsOwn('shows')];
    await putEpisode(old, 'Long/Season 1/Long S01E01.mkv', 1);
    await putEpisode(old, 'Long/Season 2/Long S02E01.mkv', 2);
    await old.scan();
    const before = await idsOf(old);
    await rename(join(old.path, 'Long/Season 2'), join(old.path, '../aside'));
    await move(old, 'Long', next);
    await next.scan();
    await rename(join(old.path, '../aside'), join(next.path, 'Long/Season 2'));
    await next.scan();
    expect(await idsOf(next)).to.deep.equal(before);
    expect((await next.items()).filter(({ availability }) => availability !== null)).to.deep.equal([]);
    expect(await storagesOf(next)).to.deep.equal([next.storageId]);
  });

  it('replaces files that the new library lost at the same place of the old storage', async () => {
    const [old, next] = [await onItsOwn('shows'), await onItsOwn('shows')];
    const { db } = old.api.deps;
    await putEpisode(old, 'Long/Season 1/Long S01E01.mkv', 1);
    await putEpisode(old, 'Long/Season 2/Long S02E01.mkv', 2);
    await putEpisode(next, 'Other/Season 1/Other S01E01.mkv', 3);
    await putEpisode(next, 'Other/Season 1/Other S01E02.mkv', 4);
    await old.scan();
    await next.scan();
    const [, , lost] = await next.items();
    const held = (await next.files()).find(({ path }) => path.endsWith('E02.mkv'));
    await db('media_files')
      .where({ id: held?.id })
      .update({
        ...{ storage_id: old.storageId, path: 'Long/Season 2/Long S02E01.mkv', missing_since: new Date() },
      });
    const before = await idsOf(old);
    await rename(join(old.path, 'Long/Season 2'), join(old.path, `../aside-${next.libraryId}`));
    await move(old, 'Long', next);
    expect((await next.scan()).state).to.equal('completed');
    expect(lost).to.not.equal(undefined);
    expect(await idsOf(next)).to.include.members(before);
  });
});
