import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newPlace } from './support.ts';
import { checkStories } from './truth.ts';

describe('a scan, compared with the truth', function () {
  this.timeout(300_000);

  for (const type of ['movies', 'shows']) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    it(`ends in the true state, for ${type} with seed ${seed}`, () => checkStories(type, { seed, forMs: 10_000 }));
  }

  for (const mode of ['quick', 'full'] as const)
    for (const found of ['New (2001)', 'Box/Inner/New (2001)'])
      for (const old of [true, false])
        it(`misses ${found}, which a watcher found and is gone, in a ${mode} scan${old ? ' though no time tells of it' : ''}`, async () => {
          const place = await newPlace('movies');
          await place.put('Keep (2000)/Keep (2000).mkv', 'tiny.mp4');
          if (old) await place.age();
          await place.scan();
          await place.put(`${found}/New (2001).mkv`);
          await place.scan({ trigger: 'watch', targets: [{ folderId: place.folderId, path: found }] });
          await rm(join(place.path, found.split('/')[0] ?? ''), { recursive: true });
          if (old) await place.age();
          await place.scan({ mode });
          if (old && mode === 'quick') await place.scan({ mode }); // the first saw that the folder is gone, and doubts its parent
          const items = await place.items();
          expect(items.map(({ title, availability }) => [title, availability])).to.deep.equal([
            ['Keep', null],
            ['New', 'missing'],
          ]);
        });

  it('marks as missing the rows that a killed worker had written of a folder before it was gone', async () => {
    const place = await newPlace('movies');
    await place.put('Keep (2000)/Keep (2000).mkv', 'tiny.mp4');
    await place.put('New (2001)/New (2001).mkv');
    await place.scan();
    // its directory's own row comes with its last files
    const { db } = place.api.deps;
    await db('scan_directories').where({ folder_id: place.folderId }).whereLike('path', '%/New (2001)').delete();
    await rm(join(place.path, 'New (2001)'), { recursive: true });
    await place.scan();
    expect((await place.items()).find(({ title }) => title === 'New')?.availability).to.equal('missing');
  });

  it('takes no file for moved that is back in its place before a scan saw it', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    await place.put('Keep (2000)/Keep (2000).mkv', 'tiny.mp4');
    await place.scan();
    await rename(join(place.path, 'A (2001)'), join(place.path, '.away'));
    await place.scan();
    await rename(join(place.path, '.away'), join(place.path, 'A (2001)'));
    await mkdir(join(place.path, 'B (2002)'));
    await place.put('B (2002)/B (2002).mkv');
    await place.scan({ targets: [{ folderId: place.folderId, path: 'B (2002)' }] });
    await place.scan();
    const items = await place.items();
    expect(items.map(({ title, availability, file_count }) => [title, availability, file_count])).to.deep.equal([
      ['A', null, 1],
      ['B', null, 1],
      ['Keep', null, 1],
    ]);
  });

  it('groups the items of an earlier version again, without reading it', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    await place.age();
    await place.scan();
    const { db } = place.api.deps;
    const [before] = await place.items();
    const title = 'as it was read before';
    await db('items').where({ id: before?.id }).update({ title, identity_key: 'other' });
    await db('item_layers').where({ item_id: before?.id }).update({ fields: { title } });
    await db('scan_directories').where({ folder_id: place.folderId }).update({ signature: '0', content: 'other' });
    expect((await place.scan()).counts).to.include({ probed: 0, unchanged: 1 });
    expect((await place.items()).map(({ id, title }) => [id, title])).to.deep.equal([[before?.id, 'A']]);
  });
});
