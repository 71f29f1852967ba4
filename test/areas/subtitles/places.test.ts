import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { writeSidecar } from '#areas/subtitles/fetch/sidecar.ts';
import type { Film } from '#areas/subtitles/film.ts';
import { movieHashOf } from '#areas/subtitles/find/moviehash.ts';
import { saveSettings } from '#platform/settings.ts';
import { errorOf } from '#support/answers.ts';
import type { Api } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { zipOf } from '#support/zip-files.ts';
import { indexSubtitleFolder } from '#workers/subtitles/folder-job.ts';
import { newPlace, type Place } from '../../workers/scan/support.ts';

const say = (words: string): string => `1\n00:00:01,000 --> 00:00:02,500\n${words}\n`;

describe('subtitles in a folder of a storage', function () {
  this.timeout(120_000);
  let place: Place;
  let api: Api;
  let admin: Person;
  let top: string;
  let itemId: string;

  before(async () => {
    place = await newPlace('movies');
    ({ api } = place);
    await api.deps.objects.prepare(['foyer-subtitles']);
    await api.given.owner();
    admin = await api.given.admin();
    await place.put('Heat (1995)/Heat (1995).mkv', 'h264-base.mkv');
    await place.scan();
    const [item] = await place.items();
    itemId = item?.id ?? '';
    await api.deps.db('items').where({ id: itemId }).update({ external_ids: '{"imdb":"tt0113277"}' });
    top = join(api.mediaRoot, 'subtitles');
    mkdirSync(top);
    await settings({ 'subtitles.folder.storageId': api.given.storageId, 'subtitles.folder.path': 'subtitles' });
  });

  const settings = async (values: Record<string, unknown>): Promise<void> => {
    await saveSettings(api.deps.db, values, null);
    await api.deps.settings.reload();
  };
  const put = (name: string, bytes: string | Buffer): void => {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), bytes);
  };
  const index = () => indexSubtitleFolder({}, place.work()) as Promise<Record<string, number>>;
  const search = async (query: Record<string, string> = {}) =>
    (await api.as(admin).searchSubtitles({ params: { id: itemId }, query: { languages: 'de,en', ...query } })).body
      .items;
  const download = (candidateId: string, more = {}) =>
    api.as(admin).downloadSubtitle({ params: { id: itemId }, body: { candidateId, ...more } });

  it('are found by hash, id, release and title, in archives too, and read again only when they change', async () => {
    const hash = await movieHashOf(join(place.path, 'Heat (1995)/Heat (1995).mkv'));
    put(`${hash}.de.srt`, say('By hash'));
    put('some [imdb-tt0113277]/whatever.de.sdh.srt', say('By id'));
    put('Heat (1995).forced.de.srt', say('By release'));
    put('Heat.1995.720p.en.srt', say('By title'));
    put('Heat.1986.de.srt', say('Another film'));
    put('packs.zip', zipOf({ 'Heat.1995.DVD.de.srt': say('Packed'), 'Ronin.1998.de.srt': say('Ronin') }, 'deflated'));
    put('Heat.1995.WEB-DL.srt', say('Ich weiß nicht, was das ist. Du und ich, wir haben es nicht.').repeat(20));
    put('notes.md', 'x');
    expect(await index()).to.deep.equal({ files: 7, read: 7, gone: 0 });
    expect(await index()).to.include({ read: 0 });
    const found = await search();
    const seen = found.map(({ matchedBy, language, release }) => `${matchedBy} ${language} ${release}`);
    expect(seen).to.have.members([
      `hash de ${hash}`,
      'id de whatever',
      'release de Heat (1995)',
      'title en Heat.1995.720p',
      'title de Heat.1995.DVD',
      'title de Heat.1995.WEB-DL',
    ]);
    expect(found[0]).to.include({ matchedBy: 'hash', providerName: 'Folder' });
    expect(found.find(({ release }) => release === 'whatever')).to.include({ hearingImpaired: true });
    expect(found.find(({ matchedBy }) => matchedBy === 'release')).to.include({ forced: true });
    const packed = await download(found.find(({ release }) => release === 'Heat.1995.DVD')?.id ?? '');
    expect(packed.status, JSON.stringify(packed.body)).to.equal(201);
    const file = { id: itemId, file: packed.body.subtitle.file };
    const text = await api.fetch(`/api/v1/items/${file.id}/subtitles/${file.file}`, { headers: admin.headers });
    expect(await text.text()).to.contain('Packed');
    rmSync(join(top, 'packs.zip'));
    expect(await index()).to.include({ read: 0, gone: 1 });
  });

  it('are Norwegian under any of its three codes', async () => {
    for (const code of ['nb', 'nn', 'no']) put(`norsk [imdb-tt0113277]/norsk.${code}.srt`, say(code));
    await index();
    for (const languages of ['nb', 'nn', 'no'])
      expect((await search({ languages })).filter(({ release }) => release === 'norsk')).to.have.length(3);
  });

  it('are written next to the film under a name that a scan knows, and never over a file', async () => {
    const folder = join(place.path, 'Heat (1995)');
    writeFileSync(join(folder, 'Heat (1995).de.sdh.srt'), say('Mine'));
    put('Heat.1995.BDRip.de.srt', say('One'));
    put('Heat.1995.DVDRip.de.srt', say('Two'));
    await index();
    await api.deps.db('subtitle_searches').delete();
    const found = await search({ languages: 'de' });
    const named = (release: string): string => found.find((one) => one.release === release)?.id ?? '';
    const one = await download(named('Heat.1995.BDRip'), { place: 'beside', hearingImpaired: true });
    expect(one.status, JSON.stringify(one.body)).to.equal(201);
    expect(one.body.subtitle).to.include({
      source: 'sidecar',
      hearingImpaired: true,
      language: 'de',
      mayRemove: false,
    });
    const two = await download(named('Heat.1995.DVDRip'), { place: 'beside', language: 'pt-BR', forced: true });
    expect(two.body.subtitle.file).to.equal('Heat (1995).pt-BR.forced.srt');
    expect(readdirSync(folder).filter((name) => name !== 'Heat (1995).mkv')).to.have.members([
      ...['Heat (1995).de.sdh.srt', 'Heat (1995).de.sdh.2.srt', 'Heat (1995).pt-BR.forced.srt'],
    ]);
    expect(readFileSync(join(folder, 'Heat (1995).de.sdh.srt'), 'utf8')).to.equal(say('Mine'));
    expect(errorOf(await download(named('Heat.1995.DVDRip'))).details).to.deep.equal({
      ...{ reason: 'already-here', streamId: two.body.subtitle.id },
    });
    const rows = () =>
      api.deps
        .db('media_streams')
        .whereNotNull('external_path')
        .orderBy('external_path')
        .select('id', 'external_path', 'language', 'forced', 'hearing_impaired', 'title');
    const before = await rows();
    await place.age();
    utimesSync(folder, new Date(), new Date());
    await place.scan();
    const after = await rows();
    expect(after).to.have.length(3);
    for (const row of before) expect(after).to.deep.include(row);
    await api.deps.db('storages').where({ id: api.given.storageId }).update({ read_only: true });
    const refused = await download(named('Heat.1995.WEB-DL'), { place: 'beside' });
    expect(errorOf(refused).details).to.include({ reason: 'read-only-storage' });
    await api.deps.db('storages').where({ id: api.given.storageId }).update({ read_only: false });
  });

  it('are indexed past names that are no UTF-8, folders that are not readable, and archives with a name twice', async () => {
    await index();
    const bad = Buffer.concat([Buffer.from(join(top, 'Heat.')), Buffer.from([0xff, 0xe9]), Buffer.from('.srt')]);
    writeFileSync(bad, say('Not UTF-8'));
    put('locked/Heat.1995.LOCKED.de.srt', say('Locked'));
    chmodSync(join(top, 'locked'), 0);
    const twice = zipOf({ 'aax.de.srt': say('First'), 'bbx.de.srt': say('Second') });
    put('twice [imdb-tt0113277].zip', Buffer.from(twice.toString('latin1').replaceAll('bbx', 'aax'), 'latin1'));
    put('zz [imdb-tt0113277]/last.de.srt', say('Last'));
    const { read } = await index();
    chmodSync(join(top, 'locked'), 0o755);
    rmSync(bad);
    expect(read).to.be.within(2, 3);
    const rows = await api.deps.db('subtitle_folder').where('path', 'like', 'twice%').pluck('entry');
    expect(rows).to.deep.equal(['aax.de.srt']);
    await api.deps.db('subtitle_searches').delete();
    expect((await search()).map(({ release }) => release)).to.include.members(['last', 'aax']);
  });

  it('stay in the folder of the film, whatever the languages of a profile say', async () => {
    const languages = JSON.stringify({ subtitleLanguages: ['../../../x', 'nl'] });
    await api.deps.db('profiles').where({ id: admin.profileId }).update({ preferences: languages });
    put('Heat.1995.HDTV.srt', say('Short'));
    await index();
    const { body } = await api.as(admin).searchSubtitles({ params: { id: itemId }, query: {} });
    expect(body.languages).to.deep.equal(['nl']);
    const id = body.items.find(({ release }) => release === 'Heat.1995.HDTV')?.id ?? '';
    const one = await download(id, { place: 'beside' });
    expect(one.body.subtitle.file, JSON.stringify(one.body)).to.equal('Heat (1995).nl.srt');
  });

  it('have no name next to a film with another language or a name that is too long', async () => {
    const directory = join(top, 'beside', 'film');
    mkdirSync(directory, { recursive: true });
    const text = { bytes: Buffer.from(say('x')), format: 'srt', cueCount: 1 } as const;
    const write = (stem: string, language: string, forced = false) =>
      writeSidecar(directory, { path: `film/${stem}.mkv` } as Film, {
        ...{ text, marks: { language, forced, hearingImpaired: false } },
      }).then(
        ({ path }) => path,
        (error: { details?: { reason?: string } }) => error.details?.reason,
      );
    for (const language of ['../x', '../../x', '..', '', 'a/b', 'de\0'])
      expect(await write('Heat', language)).to.equal('name');
    const long = 'ü'.repeat(122);
    expect(await write(long, 'de')).to.equal(`film/${long}.de.srt`);
    expect(await write(long, 'de', true)).to.equal('name');
    expect(readdirSync(directory)).to.deep.equal([`${long}.de.srt`]);
    expect(readdirSync(dirname(directory))).to.deep.equal(['film']);
    rmSync(dirname(directory), { recursive: true });
  });

  it('are indexed when the settings change', async () => {
    const body = { values: { 'subtitles.folder.path': 'elsewhere' } };
    const changed = await api.as(admin).updateSettings({ body });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    expect(await api.deps.db('jobs').where({ kind: 'subtitles.folder', state: 'waiting' })).to.have.length(1);
  });
});
