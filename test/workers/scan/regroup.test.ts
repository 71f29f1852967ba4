import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newPlace } from './support.ts';

describe('library.scan of real folders', function () {
  this.timeout(120_000);

  it('groups a folder again when names are read otherwise than before', async () => {
    const place = await newPlace('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.scan();
    const [before] = await place.items();
    const { db } = place.api.deps;
    const title = 'Heat 1995';
    await db('items').where({ library_id: place.libraryId }).update({ title, identity_key: 'heat 1995|' });
    await db('item_layers').where({ item_id: before?.id }).update({ fields: { title } });
    await db('scan_directories').where({ folder_id: place.folderId }).update({ signature: '', content: 'older' });
    await place.scan();
    expect((await place.items()).map(({ id, title }) => [id, title])).to.deep.equal([[before?.id, 'Heat']]);
  });

  it('writes parts, specials without a number, names of extras and ids of an address', async () => {
    const place = await newPlace('shows');
    await place.put('Show/Season 1/Show S01E01 - Pilot - part1.mkv');
    await place.put('Show/Season 1/Show S01E01 - Pilot - part2.mkv', 'h264-base.mkv');
    await place.put('Show/Specials/Making Of.mkv', 'h264-allintra.mkv');
    await place.put('Show/Season 1/Gag.Reel.1080p.BluRay.x264-GRP-featurette.mkv', 'vp9-opus.webm');
    await writeFile(join(place.path, 'Show/tvshow.nfo'), 'https://www.thetvdb.com/?tab=series&id=81189');
    const scan = await place.scan();
    expect(scan.issues).to.deep.equal([]);
    const items = await place.items();
    expect(items.map((i) => [i.type, i.title, i.parent_index, i.index_number])).to.deep.equal([
      ['episode', 'Making Of', 0, null],
      ['episode', 'Pilot', 1, 1],
      ['season', 'Season 1', null, 1],
      ['season', 'Specials', null, 0],
      ['show', 'Show', null, null],
      ['video', 'Gag Reel', null, null],
    ]);
    const parts = (await place.files())
      .filter(({ part }) => part !== null)
      .map(({ path, part }) => [path.slice(-9, -4), part]);
    expect(parts).to.have.deep.members([
      ['part1', 1],
      ['part2', 2],
    ]);
    const show = await place.api.deps.db('items').where({ library_id: place.libraryId, type: 'show' }).first();
    expect(show).to.deep.include({ title: 'Show', external_ids: { tvdb: '81189' } });
  });
});
