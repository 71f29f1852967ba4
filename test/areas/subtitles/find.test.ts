import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { movieHashOf } from '#areas/subtitles/find/moviehash.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { saveSettings } from '#platform/settings.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, clientFor, startApi } from '#support/api.ts';
import { faults } from '#support/catalogues/catalogue.ts';
import { localOutbound } from '#support/catalogues/local.ts';
import {
  type OpenSubtitlesFake,
  startOpenSubtitles,
  subtitlesKey,
  subtitlesUser,
} from '#support/catalogues/opensubtitles.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';
import { replicaOf } from '#support/replica.ts';
import { eventually } from '#support/stores.ts';
import { zipOf } from '#support/zip-files.ts';

const SRT = '1\r\n00:00:01,000 --> 00:00:03,000\r\nGuten Tag\r\n';

describe('subtitles of providers', function () {
  this.timeout(60_000);
  let api: Api;
  let fake: OpenSubtitlesFake;
  let films: GivenLibrary;
  let viewer: Person;
  let editor: Person;
  let itemId: string;
  let fileId: string;

  before(async () => {
    api = await startApi({
      FOYER_OPENSUBTITLES_API_KEY: subtitlesKey,
      FOYER_OPENSUBTITLES_USERNAME: subtitlesUser.username,
      FOYER_OPENSUBTITLES_PASSWORD: subtitlesUser.password,
    });
    await api.deps.objects.prepare(['foyer-subtitles']);
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    fake = await startOpenSubtitles();
    await settings({ 'subtitles.opensubtitles.baseUrl': fake.main.url });
    await api.given.owner();
    editor = await api.given.admin();
    films = await givenLibrary(api.deps.db, 'movies');
  });
  beforeEach(async () => {
    Object.assign(fake.state, { uploaded: [], remaining: 20, deadLinks: false, loginHost: undefined });
    for (const one of [fake.main, fake.vip, fake.files]) one.got.length = 0;
    for (const one of [fake.main, fake.vip, fake.files]) one.fault = undefined;
    await api.deps.redis.flushdb();
    viewer = await api.given.member();
    ({ itemId, fileId } = await film('Heat', { imdb: 'tt0113277' }));
  });

  const settings = async (values: Record<string, unknown>): Promise<void> => {
    await saveSettings(api.deps.db, values, null);
    await api.deps.settings.reload();
  };
  const film = async (title: string, ids: Record<string, string>) => {
    const id = await givenItem(api.deps.db, films, { title, year: 1995, top: true, external_ids: ids });
    const bytes = randomBytes(200_000);
    const file = await givenFile(api.deps.db, films, id, {
      ...{ path: `${id}/Heat.1995.1080p.BluRay.mkv`, size_bytes: bytes.length },
    });
    const path = join(api.mediaRoot, 'media', films.id, id, 'Heat.1995.1080p.BluRay.mkv');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return { itemId: id, fileId: file, path };
  };
  const upload = (more: Partial<(typeof fake.state.uploaded)[number]> = {}) => {
    const id = 1000 + fake.state.uploaded.length;
    fake.state.uploaded.push({
      ...{ language: 'de', release: 'Heat.1995.1080p.BluRay', imdb: 113_277, files: [{ id, bytes: SRT }] },
      ...more,
    });
    return id;
  };
  const find = (person: Person, query: Record<string, string> = {}, id = itemId) =>
    api.as(person).findSubtitles({ params: { id }, query: { languages: 'de', ...query } });
  const fetchIt = (person: Person, candidateId: string, { id = itemId, ...more }: Record<string, unknown> = {}) =>
    api.as(person).fetchSubtitle({ params: { id: String(id) }, body: { candidateId, ...more } });

  it('are found by hash and id, with parameters in the order that the service wants, at the host of the login', async () => {
    const path = join(api.mediaRoot, 'media', films.id, itemId, 'Heat.1995.1080p.BluRay.mkv');
    const movieHash = (await movieHashOf(path)) ?? '';
    upload({ downloads: 9000 });
    upload({ release: 'Heat.DVDRip', movieHash });
    upload({ machine: true });
    upload({ forced: true });
    upload({ language: 'fr' });
    upload({
      files: [
        { id: 77, bytes: SRT, name: 'Heat.CD1' },
        { id: 78, bytes: SRT, name: 'Heat.CD2' },
      ],
    });
    const { status, body } = await find(viewer);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.items.map(({ matchedBy }) => matchedBy)).to.deep.equal(['hash', 'id', 'id', 'id', 'id']);
    expect(body.items.map(({ score }) => score)).to.deep.equal(
      [...body.items.map(({ score }) => score)].sort((a, b) => b - a),
    );
    expect(body.items.at(-1)).to.include({ translatedByMachine: true, language: 'de', providerName: 'OpenSubtitles' });
    expect(body).to.deep.include({ languages: ['de'], searchesLeft: 29 });
    expect(body.providers).to.have.length(1);
    expect(body.providers[0]).to.include({ id: 'opensubtitles', ok: true, found: 5 });
    const [request] = fake.vip.at('/api/v1/subtitles');
    expect(request?.search).to.equal(
      `foreign_parts_only=exclude&imdb_id=113277&languages=de&machine_translated=include&moviehash=${movieHash}`,
    );
    expect(fake.main.at('/api/v1/subtitles')).to.have.length(0);
  });

  it('of an episode are found by its show, season and number, and by title without ids', async () => {
    const shows = await givenLibrary(api.deps.db, 'shows');
    const { episodes, id: show } = await givenShow(api.deps.db, shows, { title: 'Dark', seasons: 1, episodes: 1 });
    const ids = JSON.stringify({ tmdb: '70523' });
    await api.deps.db('items').where({ id: show }).update({ external_ids: ids });
    const first = episodes[0]?.[0];
    upload({ title: 'Dark', parentTmdb: 70_523, season: 1, episode: 1, imdb: 0 });
    const by = await find(viewer, {}, first);
    expect(by.body.items.map(({ matchedBy }) => matchedBy)).to.deep.equal(['episode']);
    expect(fake.vip.got.at(-1)?.search)
      .to.contain('episode_number=1')
      .and.contain('parent_tmdb_id=70523&season_number=1');
    await api.deps.db('items').where({ id: show }).update({ external_ids: '{}' });
    expect((await find(viewer, {}, first)).body.items).to.have.length(1);
    expect(fake.vip.got.at(-1)?.query.get('query')).to.equal('dark');
    expect(errorOf(await find(viewer, {}, show))).to.deep.include({
      code: 'CONFLICT',
      details: { reason: 'wrong-type' },
    });
  });

  it('are found whatever letters their names have', async () => {
    upload({ release: `${'x'.repeat(299)}🎬 cut`, uploader: `${'u'.repeat(99)}🎬` });
    upload({ release: 'Heat\0.1995', uploader: 'A\0da' });
    upload({ release: '\ud83dHeat', uploader: '\udc00' });
    const { status, body } = await find(viewer);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.items.map(({ release }) => release)).to.have.members([
      'Heat.1995',
      '\ufffdHeat',
      `${'x'.repeat(299)}\ufffd`,
    ]);
    expect(body.items.map(({ uploader }) => uploader)).to.include.members(['Ada', '\ufffd']);
  });

  it('are Norwegian under any of its three codes', async () => {
    upload({ language: 'no' });
    for (const languages of ['nb', 'nn-NO', 'no'])
      expect((await find(viewer, { languages })).body.items, languages).to.have.length(1);
  });

  it('come from several pages, and an equal question within minutes sends no request but counts', async () => {
    for (let n = 0; n < 60; n += 1) upload({ release: `Heat.${n}` });
    const first = await find(viewer);
    expect(first.body.items).to.have.length(60);
    expect(fake.vip.at('/api/v1/subtitles').map(({ query }) => query.get('page'))).to.deep.equal([null, '2']);
    const again = await find(viewer);
    expect(again.body).to.deep.include({ searchesLeft: 28 });
    expect(again.body.items.map(({ release }) => release)).to.deep.equal(
      first.body.items.map(({ release }) => release),
    );
    expect(fake.vip.at('/api/v1/subtitles')).to.have.length(2);
    await api.deps.db('subtitle_searches').update({ queried_at: api.deps.db.raw("now() - interval '11 minutes'") });
    await find(viewer);
    expect(fake.vip.at('/api/v1/subtitles')).to.have.length(4);
  });

  it('are fetched for a use, shown as a track, known as here, and given to no one who did not find them', async () => {
    const id = upload();
    const { body: found } = await find(viewer);
    const [one] = found.items;
    const other = await api.given.member();
    expect(errorOf(await fetchIt(other, one?.id ?? '')).code).to.equal('NOT_FOUND');
    const own = { language: 'fr', hearingImpaired: true, forced: true, place: 'beside' };
    const { status, body } = await fetchIt(viewer, one?.id ?? '', own);
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body.allowance).to.include({ used: 1, left: 9 });
    expect(body.subtitle).to.deep.include({
      ...{ source: 'fetched', provider: 'opensubtitles', language: 'de', hearingImpaired: false, forced: false },
      ...{ cueCount: 1, mayRemove: true, fileId, release: 'Heat.1995.1080p.BluRay' },
    });
    const text = await api.as(viewer).getSubtitleFile({ params: { id: itemId, file: body.subtitle.file } });
    expect(text.status).to.equal(200);
    expect(JSON.stringify(fake.files.got.map(({ path }) => path))).to.contain(`/download/${id}`);
    const again = await fetchIt(viewer, one?.id ?? '');
    expect(errorOf(again)).to.deep.include({
      ...{ code: 'CONFLICT', details: { reason: 'already-here', streamId: body.subtitle.id } },
    });
    expect((await find(viewer)).body.items[0]).to.include({ alreadyHere: body.subtitle.id });
    const row = await api.deps
      .db('subtitle_uses')
      .where({ account_id: viewer.accountId })
      .select('given_back_at', 'pending_until');
    expect(row).to.deep.equal([{ given_back_at: null, pending_until: null }]);
    await api.deps.db('subtitle_searches').update({ made_at: api.deps.db.raw("now() - interval '31 minutes'") });
    expect(errorOf(await fetchIt(viewer, one?.id ?? '')).code).to.equal('NOT_FOUND');
  });

  it('give the use back when the provider fails in any way', async () => {
    const bad = { page: '<!DOCTYPE html><title>Sign in</title>', none: 'no cues at all', big: 'x'.repeat(7 << 20) };
    const cases: [name: string, set: () => void, details: Record<string, unknown>][] = [
      ['dead link', () => Object.assign(fake.state, { deadLinks: true }), { reason: 'down' }],
      ['quota', () => Object.assign(fake.state, { remaining: 0 }), { reason: 'quota' }],
      ['web page', () => Object.assign(fake.files, { fault: () => ({ body: bad.page }) }), { reason: 'bad-file' }],
      ['no cues', () => Object.assign(fake.files, { fault: () => ({ body: bad.none }) }), { reason: 'bad-file' }],
      ['too large', () => Object.assign(fake.files, { fault: () => ({ body: bad.big }) }), { reason: 'bad-file' }],
      ['endless', () => Object.assign(fake.files, { fault: faults.endless() }), { reason: 'bad-file' }],
      ['cut', () => Object.assign(fake.files, { fault: faults.cut() }), { reason: 'down' }],
      ['HTML of the API', () => Object.assign(fake.vip, { fault: faults.html() }), { reason: 'down' }],
    ];
    for (const [name, set, details] of cases) {
      await api.deps.redis.flushdb();
      Object.assign(fake.state, { deadLinks: false, remaining: 20 });
      for (const one of [fake.main, fake.vip, fake.files]) one.fault = undefined;
      upload({ release: name });
      const { body } = await find(viewer, {}, (await film(name, { imdb: 'tt0113277' })).itemId);
      const target = await api.deps.db('subtitle_searches').orderBy('made_at', 'desc').first('item_id');
      set();
      const answer = await fetchIt(viewer, body.items[0]?.id ?? '', { id: target?.item_id });
      expect(errorOf(answer), name).to.deep.include({ code: 'PROVIDER_UNAVAILABLE' });
      expect(errorOf(answer).details, name).to.include(details);
      if (name === 'quota')
        expect((errorOf(answer).details as { retryAfterSec: number }).retryAfterSec).to.be.within(5300, 5401);
    }
    const rows = await api.deps.db('subtitle_uses').where({ account_id: viewer.accountId, given_back_at: null });
    expect(rows).to.have.length(0);
    expect(await api.deps.db('kept_subtitles').where({ account_id: viewer.accountId })).to.have.length(0);
  });

  it('are found again after a token ended, and a key that is refused is known as such', async () => {
    upload();
    await find(viewer);
    fake.endTokens();
    fake.vip.got.length = 0;
    expect((await find(viewer, { hearingImpaired: 'exclude' })).status).to.equal(200);
    expect(fake.vip.got.map(({ path }) => path)).to.deep.equal(['/api/v1/subtitles', '/api/v1/subtitles']);
    expect(fake.state.logins).to.be.at.least(2);
    fake.vip.fault = faults.refused();
    const { error } = (await find(viewer, { hearingImpaired: 'only' })).body as never as { error: { details: object } };
    expect(JSON.stringify(error.details)).to.contain('"reason":"refused"');
    const refused = () =>
      api.deps.db('catalogue_keys').where('name', 'like', 'opensubtitles%').whereNotNull('refused_at');
    expect(await refused()).to.have.length(3);
    expect(fake.vip.got).to.have.length(4);
    await find(viewer, { hearingImpaired: 'only' });
    expect(fake.vip.got, 'requests after a refusal').to.have.length(4);
    await api.deps.redis.flushdb();
    fake.vip.fault = undefined;
    expect((await find(viewer, { hearingImpaired: 'only' })).status).to.equal(200);
    expect(await refused()).to.have.length(0);
  });

  it('count as a search though the client leaves, and an answer that lacks a provider is not given again', async () => {
    upload();
    const gone = new AbortController();
    fake.vip.fault = () => {
      gone.abort();
      return 'written';
    };
    const path = `/api/v1/items/${itemId}/subtitles/find?languages=de`;
    await api.fetch(path, { headers: viewer.headers, signal: gone.signal }).catch(() => undefined);
    expect(gone.signal.aborted).to.equal(true);
    fake.vip.fault = undefined;
    await eventually(
      async () => (await api.deps.db('subtitle_leases').where({ account_id: viewer.accountId })).length === 0,
    );
    const { body } = await find(viewer);
    expect(body).to.include({ searchesLeft: 28 });
    expect(body.items).to.have.length(1);
    const providers = JSON.stringify([
      ...body.providers,
      { id: 'folder', name: 'Folder', ok: false, found: 0, tookMs: 1 },
    ]);
    await api.deps.db('subtitle_searches').where({ account_id: viewer.accountId }).update({ providers });
    const before = fake.vip.got.length;
    await find(viewer);
    expect(fake.vip.got).to.have.length(before + 1);
  });

  it('are kept for the use though the client leaves', async () => {
    upload();
    const { body } = await find(viewer);
    const gone = new AbortController();
    fake.files.fault = (_request, response) => {
      gone.abort();
      setTimeout(() => response.writeHead(200).end(SRT), 300);
      return 'written';
    };
    const init = {
      method: 'POST',
      headers: { ...viewer.headers, 'content-type': 'application/json' },
      signal: gone.signal,
    };
    const sent = JSON.stringify({ candidateId: body.items[0]?.id });
    await api.fetch(`/api/v1/items/${itemId}/subtitles/fetch`, { ...init, body: sent }).catch(() => undefined);
    expect(gone.signal.aborted).to.equal(true);
    const own = { account_id: viewer.accountId };
    await eventually(
      async () => (await api.deps.db('subtitle_uses').where({ ...own, pending_until: null })).length > 0,
    );
    expect(await api.deps.db('kept_subtitles').where(own)).to.have.length(1);
    expect(await api.deps.db('subtitle_uses').where({ ...own, given_back_at: null })).to.have.length(1);
  });

  it('spend the use when they are kept, though they cannot be shown then', async () => {
    upload();
    const { body } = await find(viewer);
    const { db } = api.deps;
    await db.raw(`create function lose_stream() returns trigger language plpgsql as $$ begin
      update media_streams set kind = 'attachment' where id = new.stream_id;
      return new; end $$; create trigger lose_stream after insert on kept_subtitles for each row execute function lose_stream()`);
    const answer = await fetchIt(viewer, body.items[0]?.id ?? '');
    await db.raw('drop trigger lose_stream on kept_subtitles; drop function lose_stream()');
    expect(errorOf(answer).code).to.equal('NOT_FOUND');
    const own = { account_id: viewer.accountId };
    expect(await db('kept_subtitles').where(own)).to.have.length(1);
    expect(await db('subtitle_uses').where({ ...own, given_back_at: null })).to.have.length(1);
  });

  it('of an episode come out of the archive of its season', async () => {
    const shows = await givenLibrary(api.deps.db, 'shows');
    const { episodes, id: show } = await givenShow(api.deps.db, shows, { title: 'Dark', seasons: 1, episodes: 2 });
    await api.deps.db('items').where({ id: show }).update({ external_ids: '{"tmdb":"70523"}' });
    const second = episodes[0]?.[1] ?? '';
    await givenFile(api.deps.db, shows, second, { path: `${second}.mkv` });
    const bytes = zipOf({ 'S01E01.srt': `${SRT}\n${SRT}`, 'S01E02.srt': SRT.replace('Guten Tag', 'Die zweite') });
    upload({ title: 'Dark', parentTmdb: 70_523, season: 1, episode: 2, imdb: 0, files: [{ id: 555, bytes }] });
    const found = await find(viewer, {}, second);
    const { status, body } = await fetchIt(viewer, found.body.items[0]?.id ?? '', { id: second });
    expect(status, JSON.stringify(body)).to.equal(201);
    const text = await api.fetch(`/api/v1/items/${second}/subtitles/${body.subtitle.file}`, {
      headers: viewer.headers,
    });
    expect(await text.text()).to.contain('Die zweite');
  });

  it('keep the token of one address from any other', async () => {
    fake.state.loginHost = `localhost:${new URL(fake.vip.url).port}`;
    await find(viewer);
    expect(fake.vip.got).to.have.length(0);
    expect(fake.main.at('/api/v1/subtitles')).to.have.length(1);
    await api.deps.redis.flushdb();
    fake.state.loginHost = undefined;
    await find(viewer, { hearingImpaired: 'only' });
    const got = fake.vip.got.length;
    expect(got).to.be.at.least(1);
    const other = await startOpenSubtitles();
    await settings({ 'subtitles.opensubtitles.baseUrl': other.main.url });
    await find(viewer, { hearingImpaired: 'exclude' });
    await settings({ 'subtitles.opensubtitles.baseUrl': fake.main.url });
    expect(other.state.logins).to.equal(1);
    expect(fake.vip.got).to.have.length(got);
  });

  it('are requested no more often than the service takes, and not at all after five failures', async () => {
    fake.vip.fault = faults.tooMany(40);
    const limited = await find(viewer);
    expect(errorOf(limited).details).to.include({ reason: 'quota' });
    const before = fake.vip.got.length;
    const soon = errorOf(await find(viewer, { hearingImpaired: 'only' }));
    expect((soon.details as { retryAfterSec: number }).retryAfterSec).to.be.within(30, 40);
    expect(fake.vip.got).to.have.length(before);
    await api.deps.redis.flushdb();
    fake.vip.fault = () => ({ status: 500 });
    for (let n = 0; n < 7; n += 1) expect(errorOf(await find(viewer)).code).to.equal('PROVIDER_UNAVAILABLE');
    expect(fake.vip.at('/api/v1/subtitles')).to.have.length(before + 5);
  });

  it('are limited to an account: a use left, one search at a time, thirty an hour, no other title, no forced ones', async () => {
    upload();
    expect(errorOf(await find(viewer, { query: 'Ronin' }))).to.deep.include({
      code: 'FORBIDDEN',
      details: { by: 'title' },
    });
    expect((await find(editor, { query: 'Heat' })).status).to.equal(200);
    fake.vip.fault = (_request, response) => {
      setTimeout(() => response.writeHead(200).end('{"data":[],"total_pages":0}'), 400);
      return 'written';
    };
    const both = await Promise.all([find(viewer), find(viewer, { hearingImpaired: 'only' })]);
    expect(both.map(({ status }) => status)).to.have.members([200, 429]);
    fake.vip.fault = undefined;
    for (let n = 0; n < 29; n += 1) expect((await find(viewer)).status).to.equal(200);
    const spent = errorOf(await find(viewer));
    expect(spent.code).to.equal('RATE_LIMITED');
    expect((spent.details as { retryAfterSec: number }).retryAfterSec).to.be.within(3500, 3600);
    const poor = await api.given.member();
    await api.deps
      .db('accounts')
      .where({ id: poor.accountId })
      .update({ limits: JSON.stringify({ subtitleDaily: 0 }) });
    expect(errorOf(await find(poor)).code).to.equal('RATE_LIMITED');
    expect(errorOf(await find(await api.given.child())).details).to.include({ restriction: 'subtitleTools' });
    await settings({ 'subtitles.providers': [] });
    expect(errorOf(await find(editor)).details).to.include({ reason: 'no-provider' });
    await settings({ 'subtitles.providers': null });
  });

  it('are counted once each, whichever of three replicas answers', async () => {
    const replicas = await Promise.all(
      [1, 2].map(async () => {
        const { url, deps } = await replicaOf(api);
        Object.assign(deps, { catalogues: new Catalogues(deps, localOutbound()) });
        return clientFor(url, viewer.headers);
      }),
    );
    const clients = [api.as(viewer), ...replicas];
    const languages = ['de', 'fr', 'es', 'it', 'nl', 'pl', 'sv', 'da', 'fi', 'cs', 'hu', 'ro'];
    const questions = ['include', 'exclude', 'only'].flatMap((hearingImpaired) =>
      languages.map((language) => ({ languages: language, hearingImpaired })),
    );
    for (const language of languages)
      for (const hearingImpaired of [true, false]) upload({ language, hearingImpaired });
    let answered = 0;
    const statuses = new Set<number>();
    for (let at = 0; at < questions.length; at += 3) {
      const requests = clients.map((client, n) =>
        client.findSubtitles({ params: { id: itemId }, query: questions[at + n] ?? {} }),
      );
      for (const { status } of await Promise.all(requests)) {
        statuses.add(status);
        if (status === 200) answered += 1;
      }
    }
    expect([...statuses]).to.have.members([200, 429]);
    expect(fake.vip.at('/api/v1/subtitles')).to.have.length(answered);
    const searched = await api.deps.db('subtitle_searches').where({ account_id: viewer.accountId });
    expect(searched).to.have.length(answered);
    const { body } = await find(viewer);
    expect(body.searchesLeft).to.equal(30 - answered - 1);

    const [one] = body.items;
    const before = fake.state.remaining;
    const taken = await Promise.all(
      clients.map((client) => client.fetchSubtitle({ params: { id: itemId }, body: { candidateId: one?.id ?? '' } })),
    );
    expect(taken.map(({ status }) => status)).to.have.members([201, 409, 409]);
    expect(fake.vip.at('/api/v1/download')).to.have.length(before - fake.state.remaining);
    const uses = api.deps.db('subtitle_uses').where({ account_id: viewer.accountId, given_back_at: null });
    expect(await uses).to.have.length(1);
  });

  it('are taken by editors without a use, for a day, with their own language', async () => {
    upload();
    const found = await api
      .as(editor)
      .searchSubtitles({ params: { id: itemId }, query: { languages: 'de', query: 'Heat' } });
    const body = { candidateId: found.body.items[0]?.id, language: 'nl', forced: true };
    const taken = await api.as(editor).downloadSubtitle({ params: { id: itemId }, body });
    expect(taken.status, JSON.stringify(taken.body)).to.equal(201);
    expect(taken.body.subtitle).to.include({ language: 'nl', forced: true });
    expect(await api.deps.db('subtitle_uses').where({ account_id: editor.accountId })).to.have.length(0);
  });
});
