import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { newId } from '#platform/ids.ts';
import { settingKeys, settingTable } from '#platform/settings.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { errorOf } from '#support/signing-in.ts';

const all = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);
const HTML = `<img src=x onerror=alert('canary')>`;
describe('replay of published vulnerabilities: injection', () => {
  let api: Api;
  let owner: Person;
  let me: TestClient;
  let films: GivenLibrary;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    me = api.as(owner);
    films = await givenLibrary(api.deps.db, 'movies');
  });

  const film = async (more: object = {}): Promise<string> => {
    const id = await givenItem(api.deps.db, films, { runtime_ms: 3_600_000, top: true, ...more });
    const streams = [
      {
        stream_index: 0,
        kind: 'video',
        codec: 'hevc',
        is_default: true,
        probe: { width: 640, height: 360, frameRate: 24 },
      },
      { stream_index: 1, kind: 'audio', codec: 'ac3', is_default: true, probe: { channels: 6, sampleRate: 48_000 } },
    ];
    await givenFile(api.deps.db, films, id, { container: 'matroska', streams });
    return id;
  };

  describe('Jellyfin CVE-2023-49096, CVE-2025-31499 and CVE-2026-35033: arguments of the encoder', () => {
    const evil = [
      'h264 -f lavfi -i movie=canary',
      'h264;canary',
      '-canary',
      '0;-i;canary',
      "a';canary=1[x]",
      '1 -canary',
      '1\ncanary',
      'constructor',
      '__proto__',
      'toString',
    ];

    it('are no text of a client: it is refused, or reaches no argument of the encoder', async () => {
      const id = await film();
      const good = { codec: 'h264' };
      const profiles = (text: string): object[] => [
        { builtIn: text },
        { builtIn: 'hls', maxBitrate: text },
        { builtIn: 'hls', maxWidth: text },
        { builtIn: 'hls', hls: { segments: [text], video: [good], audio: [], audioRenditions: true, webvtt: true } },
        {
          builtIn: 'hls',
          hls: { segments: ['ts'], video: [{ codec: text }], audio: [], audioRenditions: true, webvtt: true },
        },
        {
          builtIn: 'hls',
          hls: {
            segments: ['ts'],
            video: [{ ...good, profiles: [text], maxLevel: 41 }],
            audio: [],
            audioRenditions: true,
            webvtt: true,
          },
        },
        {
          builtIn: 'hls',
          hls: {
            segments: ['ts'],
            video: [{ ...good, maxLevel: text }],
            audio: [],
            audioRenditions: true,
            webvtt: true,
          },
        },
        { builtIn: 'hls', direct: [{ containers: [text.slice(0, 20)], video: [{ ...good, profiles: [text] }] }] },
        { builtIn: 'hls', subtitles: { formats: [text], pictures: false } },
        { builtIn: 'hls', StreamOptions: text },
      ];
      for (const text of evil) {
        const bodies = profiles(text).map((client): object => ({ client }));
        bodies.push({ client: { builtIn: 'hls' }, quality: text.slice(0, 20) });
        bodies.push({ client: { builtIn: 'hls' }, audioStreamId: text }, { client: { builtIn: 'hls' }, startMs: text });
        for (const body of bodies) {
          await api.deps.db('playback_sessions').update({ state: 'stopped', stopped_at: new Date() });
          const answer = await me.startPlayback({ params: { id }, body });
          expect(answer.status, JSON.stringify(body)).to.be.oneOf([201, 400, 415, 429, 503]);
        }
      }
      const taken = await me.startPlayback({
        params: { id },
        body: { client: { builtIn: 'hls' }, allow: { directPlay: false } },
      });
      expect(taken.status).to.equal(201);
      const plans = await api.deps.db('transcode_sessions').where({ item_id: id }).select('*');
      expect(plans.length, 'only the good one was taken').to.equal(1);
      expect(JSON.stringify(plans)).to.not.match(/canary|constructor|lavfi/);
    });

    it('are not in the query of a stream', async () => {
      for (const name of ['codec', 'videoCodec', 'audioCodec', 'StreamOptions', 'static', 'params', 'level', 'tag']) {
        for (const operation of ['getStreamMaster', 'getStreamPlaylist', 'getStreamSegment', 'streamFile'] as const) {
          const params = { id: ABSENT, fileId: ABSENT, rendition: 'v0', segment: '0.m4s' };
          const answer = await me[operation]({ params, query: { [name]: 'h264;-f lavfi' } });
          expect(answer.status, `${operation} ${name}`).to.equal(400);
        }
      }
    });
  });

  it('Jellyfin CVE-2023-48702, Plex TranscoderH264Options, Navidrome CVE-2025-48948: no setting is a program, a command or raw options', async () => {
    const word = /path|command|exec|binary|args|arguments|options|template|(?:^|\W)script|ffmpeg|shell/i;
    expect(settingKeys.filter((key) => word.test(key) && key !== 'subtitles.folder.path')).to.deep.equal([]);
    expect(settingTable['subtitles.folder.path'].schema.safeParse('../../bin/sh').success).to.equal(false);
    for (const key of ['transcode.ffmpegPath', 'transcode.options', 'TranscoderH264Options', 'transcode.command']) {
      expect((await me.setSetting({ params: { key }, body: { value: '/bin/sh' } })).status, key).to.be.oneOf([
        400, 404,
      ]);
      expect((await me.updateSettings({ body: { values: { [key]: '/bin/sh' } } })).status, key).to.equal(400);
    }
    const hardware = await me.setSetting({ params: { key: 'transcode.hardware' }, body: { value: 'auto -f lavfi' } });
    expect(hardware.status).to.equal(400);
    const member = api.as(await api.given.member());
    const tried = await member.setSetting({ params: { key: 'transcode.hardware' }, body: { value: 'off' } });
    expect(tried.status).to.equal(403);
  });

  it('Navidrome CVE-2024-47062: the name of a parameter, a field or a sort is one of a list, never a piece of SQL', async () => {
    await film({ title: 'only' });
    const pieces = [
      "id'--",
      'title) or (1=1',
      '1;select pg_sleep(9)',
      'password_hash',
      'i.title',
      'title"',
      '__proto__',
      'constructor',
    ];
    for (const piece of pieces) {
      for (const query of [
        { [piece]: '1' },
        { sort: piece },
        { sort: `-${piece}` },
        { filter: `${piece}:eq:1` },
        { filter: `${piece}=1` },
        { include: piece },
        { cursor: piece },
      ]) {
        const items = await me.listItems({ query });
        expect(items.status, JSON.stringify(query)).to.equal(400);
        const users = await me.listUsers({ query: query as Record<string, string> });
        expect(users.status, JSON.stringify(query)).to.equal(400);
      }
      const facets = await me.getLibraryFacets({ params: { id: films.id }, query: { fields: piece } });
      expect(facets.status, piece).to.equal(400);
      const sent = await me.exportLibraryItems({ params: { id: films.id }, query: { fields: piece } });
      expect(sent.status, piece).to.equal(400);
    }
  });

  it('Jellyfin CVE-2026-49220, Emby CVE-2025-64325: HTML in the name of a client is text in JSON that no browser reads as a page', async () => {
    const person = await api.given.member();
    const headers = { ...person.headers, 'x-client-name': HTML, 'user-agent': HTML };
    const client = api.as({ ...person, headers });
    await client.updateUserDevice({ params: { id: person.accountId, deviceId: newId() }, body: { name: 'x' } });
    for (const answer of [
      await client.listUserDevices({ params: { id: person.accountId } }),
      await client.listSessions(),
      await client.getItem({ params: { id: ABSENT } }),
      await client.listItems({ query: { sort: HTML } }),
      await client.startPlayback({ params: { id: await film() }, body: { client: { builtIn: 'hls' } } }),
    ]) {
      expect(answer.headers.get('content-type')).to.match(/^application\/json/);
      expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
    }
    for (const path of [
      `/api/v1/${encodeURIComponent(HTML)}`,
      `/${encodeURIComponent(HTML)}`,
      `/api/v1/docs?${HTML}`,
    ]) {
      const page = await api.fetch(path, { headers: { accept: 'text/html' } });
      expect(await page.text(), path).to.not.include(HTML);
    }
  });

  it('Navidrome CVE-2026-25578, audiobookshelf CVE-2026-27973, CVE-2026-27963 and CVE-2026-27974, Immich CVE-2026-35455: metadata of media is never a page', async () => {
    const id = await film({ title: HTML, sort_title: HTML, overview: HTML, tagline: HTML });
    for (const answer of [
      await me.getItem({ params: { id } }),
      await me.listItems(),
      await me.exportLibraryItems({ params: { id: films.id } }),
      await me.exportLibraryItems({ params: { id: films.id }, query: { format: 'csv' } }),
    ]) {
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.match(/^(?:application\/(?:x-nd)?json|text\/csv)/);
      expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
    }
    for (const path of ['/', '/api/v1/docs']) {
      const page = await api.fetch(path, { headers: { accept: 'text/html' } });
      expect(page.headers.get('content-type'), path).to.match(/^text\/html/);
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy, path).to.match(/default-src 'none'/);
      expect(policy, path).to.not.match(/script-src[^;]*'unsafe-(?:inline|eval)'/);
    }
  });

  it('Navidrome CVE-2026-25578: a name that ends a line writes none of its own into a playlist', async () => {
    const id = await film();
    const [file] = await api.deps.db('media_files').where({ item_id: id }).select<{ id: string }[]>('id');
    const title = `x",URI="https://evil.example/a"\n#EXT-X-MAP:URI="file:///etc/passwd"\r\n${HTML}`;
    await api.deps.db('media_streams').where({ file_id: file?.id, kind: 'audio' }).update({ title, language: 'en' });
    await api.deps.db('playback_sessions').update({ state: 'stopped', stopped_at: new Date() });
    const { body, status } = await me.startPlayback({ params: { id }, body: { client: { builtIn: 'hls' } } });
    expect(status, JSON.stringify(body)).to.equal(201);
    const text = await (await api.fetch(body.session.url, { headers: owner.headers })).text();
    expect(text).to.match(/^#EXTM3U/);
    expect(text).to.not.match(/^#EXT-X-MAP/m);
    expect(text).to.not.match(/URI="(?:https|file):/);
  });

  it('found on the way: an invalid offline playback report is rejected alone, and is never a fault of the server', async () => {
    const id = await film();
    const at = new Date().toISOString();
    const report = { itemId: id, at, positionMs: 600_000 };
    const reports = [{ reading: HTML }, { reading: '' }, { fileId: ABSENT }, {}].map((more) => ({
      clientEventId: newId(),
      ...report,
      ...more,
    }));
    const answer = await me.syncPlayback({ body: { reports } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body.results.map(({ outcome }) => outcome)).to.deep.equal([
      'invalid',
      'invalid',
      'invalid',
      'applied',
    ]);
  });

  it('Navidrome CVE-2026-25579 and GHSA-f22h: a size or a count is a number within bounds, also below nothing', async () => {
    const counted = all.filter((one) => one.query && 'limit' in ((one.query as { shape?: object }).shape ?? {}));
    expect(counted.length).to.be.greaterThan(8);
    for (const endpoint of counted) {
      const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      const params = Object.fromEntries(names.map((name) => [name, ABSENT]));
      for (const limit of ['-1', '0', '1e9', '999999999', 'NaN', '1.5', '0x10', '']) {
        const answer = await me[endpoint.operationId as keyof TestClient]({ params, query: { limit } });
        expect([answer.status, errorOf(answer).code], `${endpoint.operationId} ${limit}`).to.deep.equal([
          400,
          'VALIDATION_FAILED',
        ]);
      }
    }
    for (const sheet of ['-320-0.webp', '320--1.webp', '99999999-0.webp', '320-1e9.webp', '0-0.webp'])
      expect((await me.getTrickplaySheet({ params: { fileId: ABSENT, sheet } })).status, sheet).to.be.oneOf([400, 404]);
  });
});
