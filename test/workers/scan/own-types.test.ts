import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { requestScan } from '#areas/scanning/public.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { newPlace, type Place } from './support.ts';

type Role = 'container' | 'playable' | 'viewable' | 'file';

const level = (itemType: string, role: Role = 'container') => ({
  ...{ itemType, role, name: itemType.replace('custom:', ''), plural: itemType },
  ...{ poster: 'square' as const, numbered: false, from: 'pattern' as const },
});
const rule = (pattern: string, sample: string, on: 'path' | 'name' | 'folder' = 'path') => ({ pattern, sample, on });

describe('library.scan of owner-made types', function () {
  this.timeout(120_000);
  let api: Api;
  let admin: TestClient;
  let made = 0;
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
  });

  /** A library of a new type over a folder of its own. */
  async function placeOf(type: object): Promise<Place & { key: string }> {
    const key = `custom:scan-${++made}`;
    const created = await admin.createLibraryType({ body: { key, name: key, base: 'movies', ...type } });
    expect(created.status, JSON.stringify(created.body)).to.equal(201);
    const own = await api.deps.db('library_types').where({ key }).first('base', 'item_levels');
    const place = await newPlace(key, {}, api);
    const ownType = JSON.stringify({ base: own?.base, levels: own?.item_levels });
    await api.deps.db('libraries').where({ id: place.libraryId }).update({ own_type: ownType });
    return { ...place, key };
  }

  const shown = async ({ libraryId }: Place) => {
    const query = { libraryIds: libraryId, sort: 'title', limit: 100 };
    return (await admin.listItems({ query })).body.items;
  };
  const stored = async (place: Place) =>
    (await place.items()).map(({ type, title, parent, ...item }) => {
      const own = (item as unknown as { own_type: string | null }).own_type;
      return [own ?? type, title, parent ?? null].join(' < ');
    });

  it('reads films by their own names, and the others as the base does', async () => {
    const field = { key: 'act', label: 'Artist', kind: 'text' as const, itemTypes: ['custom:concert'] };
    expect((await admin.createCustomField({ body: field })).status).to.equal(201);
    const place = await placeOf({
      levels: [level('custom:concert', 'playable')],
      naming: [rule('{custom.act}/{date} {title}[ ({edition})]', 'Björk/1997-07-24 Roseland (Video)')],
    });
    await place.put('Björk/1997-07-24 Roseland.mkv');
    await place.put('Björk/1997-07-24 Roseland (Pro shot).mp4', 'h264-aac.mp4');
    await place.put('Stop Making Sense (1984).mkv', 'h264-base.mkv');
    await place.age();
    expect((await place.scan()).state).to.equal('completed');
    const items = await shown(place);
    expect(items.map(({ type, title, year, releasedOn }) => ({ type, title, year, releasedOn }))).to.deep.equal([
      { type: 'custom:concert', title: 'Roseland', year: 1997, releasedOn: '1997-07-24' },
      { type: 'custom:concert', title: 'Stop Making Sense', year: 1984, releasedOn: undefined },
    ]);
    expect(items[0]?.editionCount).to.equal(2);
    const item = { params: { id: items[0]?.id ?? '' }, query: { include: 'custom' } };
    expect((await admin.getItem(item)).body.custom).to.deep.equal({ act: 'Björk' });
    await api.deps.db('custom_values').update({ text_value: 'Mine', text_key: 'mine' });
    const second = await place.scan({ mode: 'deep' });
    expect((await admin.getItem(item)).body.custom, 'a scan never touches a value').to.deep.equal({ act: 'Mine' });
    expect(second.counts).to.include({ added: 0 });
    expect((await place.scan()).counts).to.include({ probed: 0, added: 0, updated: 0 });
    const library = (await admin.getLibrary({ params: { id: place.libraryId } })).body;
    expect(library.itemCounts).to.deep.equal({ 'custom:concert': 2 });
  });

  it('reads shows of two levels, without seasons', async () => {
    const place = await placeOf({
      base: 'shows',
      levels: [level('custom:series'), level('custom:part', 'playable')],
      naming: [rule('{parent}/{index} {title}', 'Cosmos/01 The Shores')],
    });
    await place.put('Cosmos/01 The Shores.mkv');
    await place.put('Cosmos/02 One Voice.mp4', 'h264-aac.mp4');
    await place.put('Cosmos/Cosmos S01E03.mkv', 'h264-base.mkv');
    await place.age();
    await place.scan();
    expect(await stored(place)).to.have.members([
      'custom:series < Cosmos < ',
      'custom:part < The Shores < Cosmos',
      'custom:part < One Voice < Cosmos',
      'custom:part < Episode 3 < Cosmos',
    ]);
    const [series] = await shown(place);
    expect(series).to.include({ type: 'custom:series', title: 'Cosmos', childCount: 3 });
    const children = (await admin.listItemChildren({ params: { id: series?.id ?? '' } })).body.items;
    expect(children.map(({ type, index }) => [type, index])).to.deep.equal([
      ['custom:part', 1],
      ['custom:part', 2],
      ['custom:part', 3],
    ]);
  });

  it('reads music, photos and plain files by their bases', async () => {
    const music = await placeOf({
      base: 'music',
      levels: [level('custom:speaker'), level('custom:talk', 'playable')],
      naming: [rule('{parent}/{title}', 'Ada/Engines')],
    });
    await music.put('Ada/Engines.mp3', 'mp3.mp3').catch(() => music.put('Ada/Engines.mp4', 'h264-aac.mp4'));
    await music.age();
    await music.scan();
    expect(await stored(music)).to.have.members(['custom:speaker < Ada < ', 'custom:talk < Engines < Ada']);

    const photos = await placeOf({ base: 'photos', levels: [level('custom:scan', 'viewable')] });
    await mkdir(join(photos.path, 'Box'));
    await writeFile(join(photos.path, 'Box', 'letter.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
    await photos.put('Box/clip.mkv');
    await photos.age();
    await photos.scan({}, { settleMs: 0 });
    expect(await stored(photos)).to.include('custom:scan < clip < ');

    const files = await placeOf({ base: 'files', levels: [level('custom:paper', 'file')] });
    await writeFile(join(files.path, 'Lease 2024.docx'), 'words');
    await files.age();
    await files.scan({}, { settleMs: 0 });
    expect(await stored(files)).to.deep.equal(['custom:paper < Lease 2024 < ']);
  });

  it('passes over foreign extensions, small files and sidecars that the type does not take', async () => {
    const place = await placeOf({
      files: {
        ...{ extensions: ['mkv'], sidecars: [], ignore: ['*sample*'], minBytes: 2000, versions: true, parts: true },
      },
    });
    await place.put('One (2001).mkv');
    await place.put('One (2001).nfo', 'en.srt');
    await place.put('Two (2002).mp4', 'h264-aac.mp4');
    await place.put('sample (2003).mkv');
    await writeFile(join(place.path, 'Tiny (2004).mkv'), 'x');
    await place.age();
    await place.scan({}, { settleMs: 0 });
    expect(await stored(place)).to.deep.equal(['movie < One < ']);
  });

  it('ends a running scan by the rules of its begin, and reads every name again with the next full one', async () => {
    const place = await placeOf({ naming: [rule('{title} - {year}', 'Film - 1999', 'name')] });
    await place.put('Alpha - 1999.mkv');
    await place.age();
    const { db } = api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    const stop = new AbortController();
    stop.abort(new Error('the worker was stopped'));
    await scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(stop.signal)).catch(() => undefined);
    const change = { naming: [rule('{year} - {title}', '1999 - Film', 'name')] };
    const params = { key: place.key };
    expect((await admin.updateLibraryType({ params, body: change })).body.affected).to.include({ rescan: true });
    await db('scans')
      .where({ id })
      .update({ lease_until: new Date(0) });
    await scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(), { settleMs: 0 });
    const [first] = await shown(place);
    expect(first).to.include({ title: 'Alpha', year: 1999 });
    await admin.updateLibraryType({ params, body: { naming: [rule('{title} -{*}', 'Film - x', 'name')] } });
    expect((await place.scan()).counts).to.include({ probed: 0, added: 0 });
    const [again] = await shown(place);
    expect(again).to.include({ id: first?.id, title: 'Alpha' });
  });
});
