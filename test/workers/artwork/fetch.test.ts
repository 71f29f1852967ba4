import { appendFile, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { newPicturedPlace, type PicturedPlace, painted } from './support.ts';

const kindsIn = async (place: PicturedPlace, title?: string) =>
  (await place.images(title)).map(({ kind, source }) => `${kind} ${source}`);

describe('artwork.fetch', function () {
  this.timeout(120_000);

  it('copies pictures next to a film into the store, with their looks, and the item carries them', async () => {
    const place = await newPicturedPlace('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    const poster = await place.picture('Heat (1995)/poster.jpg');
    await place.picture('Heat (1995)/fanart.jpg', { width: 800, height: 450, colour: '#20c040' });
    await place.picture('Heat (1995)/fanart2.jpg', { width: 640, height: 360, colour: '#2040c0' });
    await place.picture('Heat (1995)/Heat (1995)-clearlogo.png', { width: 300, height: 100 });
    await place.picture('Heat (1995)/landscape.jpg', { width: 640, height: 360 });
    await place.picture('Heat (1995)/banner.jpg', { width: 1000, height: 185 });
    await place.show();
    expect(await kindsIn(place)).to.deep.equal([
      'backdrop local',
      'backdrop local',
      'banner local',
      'logo local',
      'poster local',
      'thumb local',
    ]);
    const artwork = await place.artworkOf('Heat');
    expect(Object.keys(artwork).sort()).to.deep.equal(['backdrop', 'logo', 'poster', 'thumb']);
    const row = (await place.images('Heat')).find(({ kind }) => kind === 'poster');
    expect(artwork['poster']).to.deep.equal({
      ...{ id: row?.id, kind: 'poster', width: 400, height: 600, version: '1' },
      blurhash: row?.blurhash,
    });
    expect(row?.palette).to.include.members(['#102030', '#c14020']);
    expect(row?.blurhash).to.match(/^.{28}$/);
    const stored = await buffer(await place.api.deps.objects.get('foyer-artwork', row?.sha256 ?? ''));
    expect(Buffer.compare(stored, poster)).to.equal(0);
    expect(artwork['backdrop']?.width, 'the one without a number first').to.equal(800);
    const [event] = await place.events('item.updated');
    expect(event?.payload).to.deep.include({ changed: ['artwork'], title: 'Heat' });
  });

  it('opens nothing at a scan that changes nothing, and replaces a changed picture in its row', async () => {
    const place = await newPicturedPlace('movies');
    await place.put('Ran (1985)/Ran (1985).mkv');
    await place.picture('Ran (1985)/poster.jpg');
    await place.show();
    const [before] = await place.images('Ran');
    await place.age();
    await place.show();
    const { db } = place.api.deps;
    expect(await db('artwork_pending').where({ library_id: place.libraryId })).to.deep.equal([]);
    expect(await place.images('Ran')).to.deep.equal([before, ...(await place.images('Ran')).slice(1)]);
    await place.picture('Ran (1985)/poster.jpg', { width: 500, height: 750, at: new Date(Date.now() - 60_000) });
    await place.show();
    const after = (await place.images('Ran')).find(({ kind }) => kind === 'poster');
    expect(after).to.include({ id: before?.id, version: 2, width: 500, height: 750 });
    expect((await place.artworkOf('Ran'))['poster']).to.include({ id: before?.id, version: '2', width: 500 });
    await rm(join(place.path, 'Ran (1985)/poster.jpg'));
    await place.show();
    expect((await place.images('Ran')).filter(({ source }) => source === 'local')).to.deep.equal([]);
  });

  it('takes covers out of Matroska and MP4', async () => {
    const place = await newPicturedPlace('movies');
    await place.put('Heat (1995)/Heat (1995).mkv', 'h264-multi.mkv');
    await place.show();
    expect(await kindsIn(place, 'Heat')).to.include('poster embedded');
    const [cover] = (await place.images('Heat')).filter(({ source }) => source === 'embedded');
    expect(cover?.width).to.be.greaterThan(40);
  });

  it('gives shows, seasons and episodes theirs; a season without one shows that of its show', async () => {
    const place = await newPicturedPlace('shows');
    await place.put('Dark/Season 01/Dark S01E01.mkv');
    await place.put('Dark/Season 02/Dark S02E01.mkv');
    await place.picture('Dark/poster.jpg');
    await place.picture('Dark/season02-poster.jpg', { width: 300, height: 450 });
    await place.picture('Dark/Season 01/Dark S01E01-thumb.jpg', { width: 480, height: 270 });
    await place.show();
    const all = await place.images();
    expect(all.map(({ title, kind, source }) => [title, kind, source])).to.deep.include.members([
      ['Dark', 'poster', 'local'],
      ['Season 2', 'poster', 'local'],
      ['Episode 1', 'still', 'local'],
    ]);
    const show = (await place.artworkOf('Dark'))['poster'];
    expect((await place.artworkOf('Season 1'))['poster']).to.deep.equal(show);
    expect((await place.artworkOf('Season 2'))['poster']).to.include({ width: 300 });
  });

  it('passes over files that are not pictures, and over large ones', async () => {
    const place = await newPicturedPlace('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.write('Heat (1995)/poster.jpg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    await place.write('Heat (1995)/fanart.jpg', (await painted(800, 450, '#ff0000')).subarray(0, 900));
    await place.write('Heat (1995)/logo.png', Buffer.alloc(26 << 20, 7));
    await place.show();
    expect((await kindsIn(place)).filter((one) => one.endsWith('local'))).to.deep.equal([]);
    expect(await place.api.deps.db('artwork_pending').where({ library_id: place.libraryId })).to.deep.equal([]);
  });

  it('waits while the storage is unavailable', async () => {
    const place = await newPicturedPlace('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.picture('Heat (1995)/poster.jpg');
    const { db } = place.api.deps;
    await place.scan();
    await db('storages').where({ id: place.api.given.storageId }).update({ state: 'unreachable' });
    try {
      await place.fetch();
      expect(await place.images()).to.deep.equal([]);
      const [waiting] = await db('artwork_pending').where({ library_id: place.libraryId });
      expect(waiting).to.include({ stage: 'fetch', tries: 1 });
    } finally {
      await db('storages').where({ id: place.api.given.storageId }).update({ state: 'available' });
    }
    await db('artwork_pending').update({ due_at: db.raw('now()') });
    await place.fetch();
    expect(await kindsIn(place)).to.include('poster local');
  });

  it('makes a frame of a film without a picture, upright for its poster', async () => {
    const place = await newPicturedPlace('movies');
    await place.put('Plain (2001)/Plain (2001).mkv', 'h264-base.mkv');
    await place.show();
    expect(await kindsIn(place)).to.deep.equal(['backdrop frame', 'poster frame', 'thumb frame']);
    const { poster, backdrop } = await place.artworkOf('Plain');
    expect((poster?.width ?? 0) / (poster?.height ?? 1)).to.be.closeTo(2 / 3, 0.02);
    expect((backdrop?.width ?? 0) / (backdrop?.height ?? 1)).to.be.closeTo(16 / 9, 0.1);
    await utimes(join(place.path, 'Plain (2001)/Plain (2001).mkv'), new Date(), new Date(Date.now() - 30_000));
    await appendFile(join(place.path, 'Plain (2001)/Plain (2001).mkv'), Buffer.from([0xec, 0x81, 0]));
    await place.show();
    expect(await kindsIn(place), 'no second one').to.deep.equal(['backdrop frame', 'poster frame', 'thumb frame']);
  });

  it('makes a mosaic for a show without a picture from the frames of its episodes, once', async () => {
    const place = await newPicturedPlace('shows');
    for (const number of [1, 2, 3, 4]) await place.put(`Bare/Season 01/Bare S01E0${number}.mkv`, 'h264-base.mkv');
    await place.show();
    expect(await kindsIn(place, 'Bare')).to.deep.equal(['poster mosaic']);
    expect(await kindsIn(place, 'Episode 1')).to.deep.equal(['still frame']);
    const poster = (await place.artworkOf('Bare'))['poster'];
    expect(poster).to.include({ width: 800, height: 1200 });
    expect((await place.artworkOf('Season 1'))['poster']).to.deep.equal(poster);
    await place.age();
    await place.show();
    expect((await place.artworkOf('Bare'))['poster']).to.deep.equal(poster);
  });

  it('leaves the choice of a person alone when pictures come and go', async () => {
    const place = await newPicturedPlace('movies');
    await place.put('Chosen (2003)/Chosen (2003).mkv');
    await place.picture('Chosen (2003)/poster.jpg');
    await place.picture('Chosen (2003)/fanart.jpg', { width: 800, height: 450 });
    await place.show();
    const { db } = place.api.deps;
    const [item] = await db('items').where({ library_id: place.libraryId, title: 'Chosen' });
    const admin = place.api.as(await place.api.given.admin());
    const choice = { params: { id: item.id, kind: 'poster' }, body: { imageIds: [] } };
    expect((await admin.setItemArtwork(choice)).status).to.equal(200);
    await place.picture('Chosen (2003)/poster.jpg', { colour: '#20c040', at: new Date(Date.now() - 60_000) });
    await place.show();
    const artwork = await place.artworkOf('Chosen');
    expect([artwork['poster'], artwork['backdrop']?.width]).to.deep.equal([undefined, 800]);
  });
});
