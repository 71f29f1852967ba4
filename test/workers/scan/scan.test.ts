import { mkdir, mkdtemp, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { tool } from '#support/hls-validator.ts';
import { newPlace, type Place } from './support.ts';

async function touch(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  const old = new Date(Date.now() - 3_600_000);
  await utimes(path, old, old);
}

const shown = (place: Place) => place.items().then((items) => items.map((i) => [i.type, i.title, i.year]));

describe('library.scan of films', function () {
  this.timeout(120_000);

  it('makes an item of each film, with versions, parts, extras, sidecars and pictures', async () => {
    const place = await newPlace('movies');
    await place.put('Heat (1995)/Heat (1995) - 1080p.mkv', 'h264-multi.mkv');
    await place.put('Heat (1995)/Heat (1995) - 480p.mp4', 'h264-aac.mp4');
    await place.put('Heat (1995)/Trailers/Teaser.mkv');
    await place.put('Heat (1995)/Heat (1995) - 1080p.en.forced.srt', 'en.srt');
    await place.put('Heat (1995)/poster.jpg', 'cover.jpg');
    await place.put('Long (2000)/Long (2000) cd1.mkv');
    await place.put('Long (2000)/Long (2000) cd2.mkv', 'h264-allintra.mkv');
    await place.put('Sintel.2010.1080p.mkv', 'h264-base.mkv');
    const scan = await place.scan();
    expect(scan).to.deep.include({ state: 'completed', issues: [] });
    expect(scan.counts).to.include({ found: 6, added: 6, probed: 6, unchanged: 0 });
    expect(await shown(place)).to.deep.equal([
      ['movie', 'Heat', 1995],
      ['movie', 'Long', 2000],
      ['movie', 'Sintel', 2010],
      ['video', 'Teaser', null],
    ]);
    const files = await place.files();
    expect(files.map((f) => [f.path.split('/').slice(1).join('/'), f.edition, f.part])).to.deep.equal([
      ['Heat (1995)/Heat (1995) - 1080p.mkv', '1080p', null],
      ['Heat (1995)/Heat (1995) - 480p.mp4', '480p', null],
      ['Heat (1995)/Trailers/Teaser.mkv', null, null],
      ['Long (2000)/Long (2000) cd1.mkv', null, 1],
      ['Long (2000)/Long (2000) cd2.mkv', null, 2],
      ['Sintel.2010.1080p.mkv', '1080p', null],
    ]);
    const { db } = place.api.deps;
    const heat = await db('items').where({ library_id: place.libraryId, title: 'Heat' }).first();
    expect(heat).to.include({ runtime_ms: 20_041, height: 180, file_count: 2, top: true, sort_title: 'heat' });
    expect(heat.local_artwork.poster.path).to.match(/Heat \(1995\)\/poster\.jpg$/);
    const long = await db('items').where({ library_id: place.libraryId, title: 'Long' }).first();
    expect(long.runtime_ms).to.equal(2021 + 6021);
    const teaser = await db('items').where({ library_id: place.libraryId, title: 'Teaser' }).first();
    expect(teaser).to.include({ extra_of: heat.id, extra_kind: 'trailer', top: false });
    const streams = await db('media_streams').where({ file_id: files[0]?.id }).orderBy('stream_index');
    expect(streams.map((s) => [s.stream_index, s.kind, s.codec, s.language, s.forced])).to.deep.equal([
      [0, 'video', 'h264', null, false],
      [1, 'audio', 'aac', 'en', false],
      [2, 'audio', 'ac3', 'fr', false],
      [3, 'audio', 'eac3', 'es', false],
      [4, 'subtitle', 'subrip', 'en', true],
      [5, 'subtitle', 'ass', 'de', false],
      [6, 'subtitle', 'pgs', 'pt-BR', false],
      [7, 'attachment', 'ttf', null, false],
      [8, 'video', 'mjpeg', null, false],
      [1000, 'subtitle', 'subrip', 'en', true],
    ]);
    expect(await db('chapters').where({ file_id: files[0]?.id }).orderBy('number').pluck('title')).to.deep.equal([
      'Opening',
      'Middle',
      'Credits',
    ]);
    const library = await db('libraries').where({ id: place.libraryId }).first();
    expect(library.item_counts).to.deep.equal({ movie: 3 });
    expect(library.duration_ms).to.equal(20_041 + 8042 + 20_041);
    expect(library.size_bytes).to.equal(
      Number(
        (await db('items').where({ library_id: place.libraryId }).whereNull('extra_of').sum('size_bytes as n').first())
          ?.n,
      ),
    );
    expect(library.first_scanned_at).to.be.an.instanceOf(Date);
  });

  it('emits no item event in the first scan and one event for each new item later', async () => {
    const place = await newPlace('movies');
    await place.put('Up (2009)/Up (2009).mkv');
    await place.scan();
    expect((await place.events()).map((e) => e.event).filter((e) => e.startsWith('item.'))).to.deep.equal([]);
    await place.put('It (2017)/It (2017).mkv');
    await place.put('It (2017)/trailer.mkv', 'tiny.mp4');
    await place.scan();
    const added = await place.events('item.added');
    expect(added.map((e) => e.payload.title)).to.deep.equal(['It']);
    const names = (await place.events()).map((e) => e.event).filter((e) => e !== 'library.scan.progress');
    expect(names.filter((e) => e.startsWith('library.'))).to.deep.equal([
      'library.scan.started',
      'library.scan.completed',
      'library.scan.started',
      'library.scan.completed',
    ]);
  });

  it('opens nothing that did not change', async () => {
    const place = await newPlace('movies');
    for (const name of ['A (2001)', 'B (2002)', 'C (2003)']) await place.put(`${name}/${name}.mkv`);
    await place.age();
    await place.scan();
    const before = await place.files();
    const again = await place.scan();
    expect(again.counts).to.include({ found: 3, unchanged: 3, probed: 0, added: 0, updated: 0 });
    expect(await place.files()).to.deep.equal(before);
    const quick = await place.scan({ mode: 'quick' });
    expect(quick.counts).to.include({ unchanged: 3, probed: 0, directoriesSkipped: 4 });
    const deep = await place.scan({ mode: 'deep' });
    expect(deep.counts).to.include({ probed: 3, added: 0 });
  });

  it('finds new files in a directory whose time changed, and only those', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    await place.put('B (2002)/B (2002).mkv');
    await place.scan();
    await place.put('B (2002)/B (2002) - 4K.mkv', 'tiny.mp4');
    const quick = await place.scan({ mode: 'quick' });
    expect(quick.counts).to.include({ added: 1, probed: 1 });
    const items = await place.items();
    expect(items.map((i) => [i.title, i.file_count])).to.deep.equal([
      ['A', 1],
      ['B', 2],
    ]);
  });

  it('keeps the item and replaces the file when its content is another', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    await place.scan();
    const [before] = await place.files();
    await place.put('A (2001)/A (2001).mkv', 'h264-base.mkv');
    const scan = await place.scan();
    expect(scan.counts).to.include({ updated: 1, added: 0 });
    const [after] = await place.files();
    expect(after).to.include({ id: before?.id, item_id: before?.item_id, duration_ms: 20_041 });
    expect((await place.events('item.updated')).map((e) => e.payload.itemId)).to.include(before?.item_id);
  });

  it('follows a file that moved or was renamed: same item, same file', async () => {
    const place = await newPlace('movies');
    await place.put('Wrong name/Wrong name.mkv');
    await place.put('Other (2002)/Other (2002).mkv', 'h264-base.mkv');
    await place.scan();
    const [other, wrong] = await place.files();
    await place.api.deps
      .db('items')
      .where({ id: wrong?.item_id })
      .update({ overview: 'mine', locked_fields: ['overview'] });
    await rename(join(place.path, 'Wrong name'), join(place.path, 'Right (2001)'));
    await rename(join(place.path, 'Right (2001)/Wrong name.mkv'), join(place.path, 'Right (2001)/Right (2001).mkv'));
    const scan = await place.scan();
    expect(scan.counts).to.include({ moved: 1, added: 0, missing: 0, probed: 0 });
    const files = await place.files();
    expect(files.map((f) => [f.id, f.item_id])).to.deep.equal([
      [other?.id, other?.item_id],
      [wrong?.id, wrong?.item_id],
    ]);
    const item = await place.api.deps.db('items').where({ id: wrong?.item_id }).first();
    expect(item).to.include({ title: 'Right', year: 2001, overview: 'mine' });
    expect(await place.items()).to.have.length(2);
  });

  it('marks missing files as missing, brings them back with their ids, and trashes them when grace is over', async () => {
    const place = await newPlace('movies', { trashGraceHours: 24 });
    await place.put('A (2001)/A (2001).mkv');
    await place.put('B (2002)/B (2002).mkv', 'h264-base.mkv');
    await place.scan();
    const [a] = await place.items();
    await rm(join(place.path, 'A (2001)'), { recursive: true });
    const lost = await place.scan();
    expect(lost.counts.missing).to.equal(1);
    expect((await place.items())[0]).to.include({ id: a?.id, availability: 'missing', trashed_at: null });
    expect((await place.api.deps.db('libraries').where({ id: place.libraryId }).first()).missing_count).to.equal(1);
    await place.put('A (2001)/A (2001).mkv');
    const back = await place.scan();
    expect(back.counts).to.include({ added: 0 });
    expect((await place.items())[0]).to.include({ id: a?.id, availability: null });
    expect((await place.api.deps.db('libraries').where({ id: place.libraryId }).first()).missing_count).to.equal(0);
    await rm(join(place.path, 'A (2001)'), { recursive: true });
    await place.scan();
    const { db } = place.api.deps;
    await db('items')
      .where({ id: a?.id })
      .update({ missing_since: new Date(Date.now() - 25 * 3_600_000) });
    await db('media_files')
      .where({ item_id: a?.id })
      .update({ missing_since: new Date(Date.now() - 25 * 3_600_000) });
    await place.scan();
    expect((await place.items())[0]?.trashed_at).to.be.an.instanceOf(Date);
    expect((await db('libraries').where({ id: place.libraryId }).first()).item_counts).to.deep.equal({ movie: 1 });
    expect((await place.events('item.deleted')).map((e) => e.payload.itemId)).to.deep.equal([a?.id]);
    await place.put('A (2001)/A (2001).mkv');
    await place.scan();
    expect((await place.items())[0]).to.include({ id: a?.id, trashed_at: null, availability: null });
    expect((await db('libraries').where({ id: place.libraryId }).first()).item_counts).to.deep.equal({ movie: 2 });
  });

  it('restores the items that a removed folder took to the trash when the folder returns', async () => {
    for (const type of ['movies', 'shows'] as const) {
      const place = await newPlace(type);
      await place.put(type === 'movies' ? 'A (2001)/A (2001).mkv' : 'A/Season 1/A - S01E01.mkv');
      await place.scan();
      const before = await place.items();
      const { db } = place.api.deps;
      const admin = place.api.as(await place.api.given.admin());
      const params = { id: place.libraryId };
      const [folder] = (await admin.getLibrary({ params })).body.folders;
      const again = { storageId: folder?.storageId, path: folder?.path };
      await admin.updateLibrary({ params, body: { folders: [], confirmRemoval: true } });
      expect((await place.items()).map((item) => item.trashed_at)).to.not.include(null);
      await admin.updateLibrary({ params, body: { folders: [again] } });
      await db('scans').where({ library_id: place.libraryId, state: 'queued' }).delete();
      await place.scan();
      const after = await place.items();
      expect(after.map((item) => [item.id, item.trashed_at])).to.deep.equal(before.map((item) => [item.id, null]));
      const { itemCounts, trashCount } = (await admin.getLibrary({ params })).body;
      const found = type === 'movies' ? { movie: 1 } : { show: 1, season: 1, episode: 1 };
      expect({ itemCounts, trashCount }).to.deep.equal({ itemCounts: found, trashCount: 0 });
    }
  });

  it('never takes an empty, absent or unreadable folder for a loss', async () => {
    const place = await newPlace('movies', { guardMinimum: 1000 });
    for (const name of ['A (2001)', 'B (2002)']) await place.put(`${name}/${name}.mkv`);
    await place.scan();
    await rename(place.path, `${place.path}-away`);
    const gone = await place.scan();
    expect(gone.folders[0]).to.include({ state: 'skipped', reason: 'storage-unavailable' });
    await mkdir(place.path);
    const empty = await place.scan();
    expect(empty.folders[0]).to.include({ state: 'skipped', reason: 'empty-root' });
    expect((await place.files()).filter((f) => f.missing_since)).to.deep.equal([]);
    await rm(place.path, { recursive: true });
    await rename(`${place.path}-away`, place.path);
    expect((await place.scan()).counts).to.include({ unchanged: 2, missing: 0 });
  });

  it('stops when it would lose too much, and does not request a decision twice', async () => {
    const place = await newPlace('movies', { guardMinimum: 3, guardPercent: 50 });
    for (let i = 0; i < 6; i += 1)
      await place.put(
        `F${i} (200${i})/F${i} (200${i}).mkv`,
        ['tiny.mkv', 'tiny.mp4', 'h264-base.mkv', 'h264-aac.mp4', 'hevc-hlg.mp4', 'vp9-opus.webm'][i],
      );
    await place.scan();
    for (let i = 0; i < 3; i += 1) await rm(join(place.path, `F${i} (200${i})`), { recursive: true });
    const held = await place.scan();
    expect(held.folders[0]).to.include({ state: 'held', reason: 'guard', missing: 0 });
    expect(held.guard).to.include({ decision: 'pending', wouldMiss: 3, ofTotal: 6, percent: 50 });
    expect((await place.files()).filter((f) => f.missing_since)).to.deep.equal([]);
    const again = await place.scan();
    expect(again.guard).to.equal(null);
    expect(again.folders[0]?.state).to.equal('held');
    await rm(join(place.path, 'F3 (2003)'), { recursive: true });
    const more = await place.scan();
    expect(more.guard).to.include({ decision: 'pending', wouldMiss: 4 });
    for (let i = 0; i < 3; i += 1)
      await place.put(`F${i} (200${i})/F${i} (200${i}).mkv`, ['tiny.mkv', 'tiny.mp4', 'h264-base.mkv'][i]);
    const withdrawn = await place.scan();
    expect(withdrawn.folders[0]).to.include({ state: 'listed', missing: 1 });
    expect((await place.files()).filter((f) => f.missing_since)).to.have.length(1);
  });

  it('reports faulty files and continues', async () => {
    const place = await newPlace('movies');
    await place.put('Good (2001)/Good (2001).mkv');
    await place.put('Bad (2002)/Bad (2002).mkv', 'garbage.mkv');
    await place.put('Half (2003)/Half (2003).mkv', 'truncated.mkv');
    await place.put('Hollow (2006)/Hollow (2006).mkv', 'zeroed.mkv');
    await place.put('Hole (2007)/Hole (2007).mp4', 'zeroed.mp4');
    await place.put('List (2004)/List (2004).mp4', 'playlist.mp4');
    await place.put('Magic (2005)/Magic (2005).avi', 'magicyuv.avi');
    const first = await place.scan();
    expect(first.state).to.equal('completed');
    const short = (path: string): string => path.split('/').at(-1) ?? '';
    expect(first.issues.map((i) => [i.kind, short(i.path), i.detail?.split(':')[0]])).to.deep.equal([
      ['corrupt', 'Bad (2002).mkv', 'not-media'],
      ['corrupt', 'Half (2003).mkv', 'truncated'],
      ['corrupt', 'Hole (2007).mp4', 'unfinished'],
      ['corrupt', 'Hollow (2006).mkv', 'unfinished'],
      ['corrupt', 'List (2004).mp4', 'playlist-refused'],
      ['corrupt', 'Magic (2005).avi', 'codec-refused'],
    ]);
    expect((await shown(place)).map(([, title]) => title)).to.deep.equal(['Good', 'Half', 'Hole', 'Hollow']);
    const itemOf = async (name: string) => (await place.files()).find(({ path }) => path.includes(name))?.item_id;
    const items = [await itemOf('Half'), await itemOf('Hole'), await itemOf('Hollow')];
    expect(first.issues.map(({ item_id }) => item_id)).to.deep.equal([null, ...items, null, null]);
    const again = await place.scan();
    expect(again.counts).to.include({ probed: 0, unreadable: 3 });
    await place.put('Bad (2002)/Bad (2002).mkv', 'h264-base.mkv');
    expect((await place.scan()).counts).to.include({ added: 1 });
  });

  it('refuses links that lead out, and takes those inside', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    const outside = await mkdtemp(join(tmpdir(), 'foyer-outside-'));
    try {
      await touch(join(outside, 'secret.mkv'), 'secret');
      await symlink(join(outside, 'secret.mkv'), join(place.path, 'Secret (2002).mkv'));
      await symlink(outside, join(place.path, 'Elsewhere'));
      await symlink(place.path, join(place.path, 'A (2001)/loop'));
      await symlink(join(place.path, 'A (2001)/A (2001).mkv'), join(place.path, 'Link (2003).mkv'));
      const scan = await place.scan();
      expect(scan.issues.map((i) => [i.kind, i.path.split('/').at(-1)])).to.deep.equal([
        ['link-outside', 'Elsewhere'],
        ['link-outside', 'Secret (2002).mkv'],
      ]);
      expect((await shown(place)).map(([, title]) => title)).to.deep.equal(['A', 'Link']);
      await place.age();
      await place.scan();
      for (const mode of ['quick', 'full'] as const) {
        expect((await place.scan({ mode })).counts, mode).to.include({ found: 2, unchanged: 2, missing: 0, probed: 0 });
      }
      expect((await place.files()).filter((file) => file.missing_since)).to.deep.equal([]);
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  it('takes every odd name and reports those that are no UTF-8', async () => {
    const place = await newPlace('movies');
    const names = await readdir(join(place.made, 'names'), 'buffer');
    for (const name of names) {
      const { copyFile } = await import('node:fs/promises');
      const target = Buffer.concat([Buffer.from(`${place.path}/`), name]);
      await copyFile(Buffer.concat([Buffer.from(`${place.made}/names/`), name]), target);
      await utimes(target, new Date(0), new Date(0));
    }
    const scan = await place.scan();
    expect(scan.issues.map((i) => i.kind)).to.deep.equal(['bad-encoding']);
    expect(await place.files()).to.have.length(names.length - 1);
    expect((await place.scan()).counts).to.include({ unchanged: names.length - 1, probed: 0 });
  });

  it('leaves files alone that may still be written, and takes them when they settled', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    await place.put('B (2002)/B (2002).mkv');
    await utimes(join(place.path, 'B (2002)/B (2002).mkv'), new Date(), new Date());
    const scan = await place.scan({}, { settleMs: 1500 });
    expect(scan.counts).to.include({ added: 2 });
    await place.put('C (2003)/C (2003).mkv');
    const path = join(place.path, 'C (2003)/C (2003).mkv');
    await utimes(path, new Date(), new Date());
    const writer = setInterval(() => void utimes(path, new Date(), new Date()), 100);
    const growing = await place.scan({}, { settleMs: 800 });
    clearInterval(writer);
    expect(growing.counts).to.include({ added: 0 });
    const { db } = place.api.deps;
    const queued = await db('scans').where({ library_id: place.libraryId, state: 'queued' }).first();
    expect(queued.targets).to.deep.equal([{ folderId: place.folderId, path: 'C (2003)' }]);
    await utimes(path, new Date(0), new Date(0));
    expect((await place.scan()).counts).to.include({ added: 1 });
  });

  it('scans one directory alone', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    await place.put('B (2002)/B (2002).mkv');
    const scan = await place.scan({ targets: [{ folderId: place.folderId, path: 'B (2002)' }] });
    expect(scan.counts).to.include({ directories: 1, added: 1 });
    const nearest = await place.scan({ targets: [{ folderId: place.folderId, path: 'A (2001)/not/there' }] });
    expect(nearest.counts).to.include({ directories: 1, added: 1 });
  });

  it('takes nothing for missing that the listed directories do not hold', async () => {
    const place = await newPlace('movies', { guardMinimum: 1000 });
    for (const name of ['A (2001)', 'B (2002)']) await place.put(`${name}/${name}.mkv`);
    await place.scan();
    for (const name of ['A (2001)', 'B (2002)']) await rm(join(place.path, name), { recursive: true });
    await place.put('B (2002)/trailer.mkv', 'h264-base.mkv');
    // As a listing leaves it that broke off: it lacked a file and was not trusted.
    await place.api.deps
      .db('media_files')
      .where({ library_id: place.libraryId })
      .whereLike('path', '%A (2001).mkv')
      .update({ absent_scan: newId() });
    const one = await place.scan({ targets: [{ folderId: place.folderId, path: 'B (2002)' }] });
    expect(one.counts).to.include({ missing: 1 });
    const missing = async (): Promise<(string | undefined)[]> =>
      (await place.files()).filter((file) => file.missing_since).map((file) => file.path.split('/')[1]);
    expect(await missing()).to.deep.equal(['B (2002)']);
    await place.scan();
    expect(await missing()).to.deep.equal(['A (2001)', 'B (2002)']);
  });

  it('passes over ignored files', async () => {
    const place = await newPlace('movies', { ignore: ['*.sample.mkv', 'Private/'] });
    await place.put('A (2001)/A (2001).mkv');
    await place.put('A (2001)/a.sample.mkv');
    await place.put('Private/P (2002).mkv');
    await place.put('B (2003)/B (2003).mkv');
    await place.put('.hidden/H (2004).mkv');
    await place.put('half.mkv.part');
    await touch(join(place.path, 'B (2003)/.foyerignore'), '# ignored\n*.mkv\n');
    const scan = await place.scan();
    expect((await shown(place)).map(([, title]) => title)).to.deep.equal(['A']);
    expect(scan.issues).to.deep.equal([]);
  });

  it('reads NFO files, and leaves fields alone that a person locked', async () => {
    const place = await newPlace('movies');
    await place.put('Sintel (2010)/Sintel (2010).mkv');
    await touch(
      join(place.path, 'Sintel (2010)/movie.nfo'),
      '<movie><title>Sintel!</title><plot>A dragon.</plot><genre>Fantasy</genre><uniqueid type="imdb">tt1727587</uniqueid><actor><name>Halina Reijn</name><role>Sintel</role></actor><originallanguage>dut</originallanguage></movie>',
    );
    await place.scan();
    const { db } = place.api.deps;
    const item = await db('items').where({ library_id: place.libraryId }).first();
    expect(item).to.deep.include({
      title: 'Sintel!',
      overview: 'A dragon.',
      year: 2010,
      external_ids: { imdb: 'tt1727587' },
      details: { originalLanguage: 'nl' },
    });
    expect(await db('item_tags').where({ item_id: item.id }).pluck('name')).to.deep.equal(['Fantasy']);
    expect(
      await db('credits')
        .join('people', 'people.id', 'person_id')
        .where({ item_id: item.id })
        .first('name', 'role', 'character'),
    ).to.deep.equal({
      name: 'Halina Reijn',
      role: 'actor',
      character: 'Sintel',
    });
    await db('items')
      .where({ id: item.id })
      .update({ title: 'Mine', locked_fields: ['title'] });
    await touch(
      join(place.path, 'Sintel (2010)/movie.nfo'),
      '<movie><title>Other</title><plot>Two dragons.</plot></movie>',
    );
    const scan = await place.scan();
    expect(scan.counts).to.include({ probed: 0 });
    expect(await db('items').where({ id: item.id }).first()).to.deep.include({
      title: 'Mine',
      overview: 'Two dragons.',
    });
  });

  it('reads the tags inside a file, for values that its name leaves open', async () => {
    const place = await newPlace('movies');
    await place.put('Sintel/Sintel.mkv');
    const path = join(place.path, 'Sintel/Sintel.mkv');
    const tags = ['title=Junk', 'date=2010-09-27', 'genre=Fantasy', 'synopsis=A dragon.'];
    const written = tags.flatMap((tag) => ['-metadata', tag]);
    await tool('ffmpeg', ['-v', 'error', '-y', '-i', join(place.made, 'tiny.mkv'), '-c', 'copy', ...written, path]);
    await place.age();
    await place.scan({ mode: 'deep' });
    const { db } = place.api.deps;
    const item = await db('items').where({ library_id: place.libraryId }).first();
    expect(item).to.include({ title: 'Sintel', year: 2010, overview: 'A dragon.' });
    expect(await db('item_tags').where({ item_id: item.id }).pluck('name')).to.deep.equal(['Fantasy']);
  });

  it('notices a sidecar that came, changed or went, without a probe', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    await place.scan();
    const { db } = place.api.deps;
    const tracks = () =>
      db('media_streams')
        .whereNotNull('external_path')
        .whereIn('file_id', db('media_files').select('id').where({ library_id: place.libraryId }))
        .orderBy('stream_index')
        .select('id', 'stream_index', 'language');
    await touch(join(place.path, 'A (2001)/A (2001).en.srt'), '1\n00:00:01,000 --> 00:00:02,000\nHi\n');
    await touch(join(place.path, 'A (2001)/A (2001).de.srt'), '1\n00:00:01,000 --> 00:00:02,000\nHallo\n');
    const scan = await place.scan({ mode: 'quick' });
    expect(scan.counts).to.include({ probed: 0 });
    const before = await tracks();
    expect(before.map((t) => [t.stream_index, t.language])).to.deep.equal([
      [1000, 'de'],
      [1001, 'en'],
    ]);
    await touch(join(place.path, 'A (2001)/A (2001).en.srt'), '1\n00:00:01,000 --> 00:00:02,000\nHello\n');
    await rm(join(place.path, 'A (2001)/A (2001).de.srt'));
    await place.scan();
    expect(await tracks()).to.deep.equal([before[1]]);
  });
});
