import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { z } from 'zod';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { DeliveryWorkers, Receiver } from '#support/deliveries.ts';
import { look, planFor } from '#support/hls-render.ts';
import { somebody } from '#support/signing-in.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { commandOf } from '#workers/transcode/command.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { ffmpegArguments } from '#workers/transcode/ffmpeg.ts';
import { filterValue } from '#workers/transcode/filters.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPlace } from '../../workers/scan/support.ts';

const run = promisify(execFile);
const all = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);
describe('replay of published vulnerabilities: addresses that clients name', () => {
  let api: Api;
  let owner: TestClient;
  let receiver: Receiver;
  let canary: string;
  const hits: string[] = [];
  before(async () => {
    api = await startApi({ FOYER_WEBHOOK_NETWORKS: '["127.0.0.1/32"]' });
    owner = api.as(await api.given.owner());
    receiver = await Receiver.start();
    const server = createServer((request, response) => {
      hits.push(request.url ?? '');
      response.end('canary');
    }).listen(0, '127.0.0.2');
    await once(server, 'listening');
    atEnd(() => server.close());
    canary = `http://127.0.0.2:${(server.address() as { port: number }).port}`;
  });
  afterEach(() => expect(hits).to.deep.equal([]));

  it('Jellyfin CVE-2021-29490, Emby CVE-2020-26948, Immich GHSA-hq46-gw2v-q86p: no member of any body makes the server fetch an address', async () => {
    for (const endpoint of all.filter((one) => one.body instanceof z.ZodObject)) {
      const shape = (endpoint.body as z.ZodObject).shape;
      const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      const params = Object.fromEntries(names.map((name) => [name, ABSENT]));
      const everywhere = (value: unknown): object =>
        Object.fromEntries(Object.keys(shape).map((name) => [name, value]));
      const admin = api.as(await api.given.admin()); // a fresh one: some of these end its session
      for (const client of [api.anyone, admin]) {
        const call = client[endpoint.operationId as keyof TestClient];
        for (const body of [everywhere(`${canary}/${endpoint.operationId}`), everywhere([`${canary}/list`])]) {
          const answer = await call({ params, body });
          expect(answer.status, endpoint.operationId).to.be.within(200, 499);
        }
      }
    }
    for (const member of ['posterImageId', 'posterUrl', 'imageUrl', 'avatarUrl', 'url']) {
      const made = await owner.createLibrary({ body: { name: member, type: 'movies', [member]: `${canary}/poster` } });
      expect(made.status, member).to.equal(400);
    }
  });

  it('audiobookshelf CVE-2023-51697, GHSA-jhjx-c3wx-q2x7 and GHSA-mgj7-rfx8-vhpr: the request goes to the address that was judged, also behind a redirect and after a change', async () => {
    const draft = { name: 'hook', events: ['*'] };
    expect((await owner.createWebhook({ body: { ...draft, url: `${canary}/x` } })).status).to.equal(400);
    const made = await owner.createWebhook({ body: { ...draft, url: receiver.url } });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const params = { id: made.body.id };
    const changed = await owner.updateWebhook({ params, body: { url: `${canary}/x` } });
    expect(changed.status).to.equal(400);
    receiver.answer = (response) => response.writeHead(302, { location: `${canary}/latest/meta-data` }).end();
    const workers = new DeliveryWorkers(api);
    const worker = await workers.start();
    const tested = await owner.testWebhook({ params, body: {} });
    await workers.kill(worker);
    expect(tested.status, JSON.stringify(tested.body)).to.equal(200);
    expect(JSON.stringify(tested.body)).to.not.include('canary');
    expect(receiver.got.length, 'the receiver itself got the request').to.be.greaterThan(0);
    const { host } = new URL(canary);
    const port = host.split(':')[1];
    for (const spelt of [
      `2130706434:${port}`,
      `0x7f000002:${port}`,
      `127.2:${port}`,
      `[::ffff:127.0.0.2]:${port}`,
      `0177.0.0.2:${port}`,
    ])
      expect((await owner.createWebhook({ body: { ...draft, url: `http://${spelt}/` } })).status, spelt).to.equal(400);
  });
});

describe('replay of published vulnerabilities: uploaded pictures', () => {
  it('Jellyfin CVE-2024-43801 and GHSA-cf3c-8m59-2vhx, Immich GHSA-q89f-h332-8q2h: a drawing is served as pixels, without its scripts and references', async () => {
    const api = await startApi();
    const { me } = await somebody(api, 'owner');
    const hits: string[] = [];
    const server = createServer((request, response) => {
      hits.push(request.url ?? '');
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.close());
    const address = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const drawing = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 300 300" onload="alert(1)"><script>alert('canary')</script><image xlink:href="${address}/a.png" width="9" height="9"/><image href="msl:/etc/passwd" width="9" height="9"/><use href="${address}/b.svg#x"/><rect width="300" height="300" fill="#f80"/></svg>`,
    );
    for (const type of ['image/svg+xml', 'image/png', 'image/webp']) {
      const { id } = (await me.getMe()).body.profile;
      const avatar = await me.setProfileAvatar({ params: { id }, body: drawing, headers: { 'content-type': type } });
      expect(avatar.status, type).to.equal(415);
    }
    const place = { kind: 'main', scheme: 'dark' };
    const logo = await me.setBrandingLogo({
      params: place,
      body: drawing,
      headers: { 'content-type': 'image/svg+xml' },
    });
    expect(logo.status).to.be.oneOf([200, 201, 400, 415]);
    const served = await api.anyone.getBrandingLogo({ params: place });
    expect(served.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(served.headers.get('content-security-policy')).to.match(/default-src 'none'/);
    expect((served.body as unknown as Buffer).toString('latin1')).to.not.match(/canary|onload|etc\/passwd/);
    expect(hits).to.deep.equal([]);
  });
});

describe('replay of published vulnerabilities: media files', function () {
  this.timeout(120_000);
  let made: string;
  before(async function () {
    this.timeout(600_000);
    ({ made } = await fixtures());
  });

  /** The output of the encoder for a file that was replaced after its probe. */
  const encodeChanged = async (
    name: string,
    change: (path: string) => void,
  ): Promise<{ code: number; bytes: number }> => {
    const path = join(temporaryFolder('changed'), name);
    copyFileSync(join(made, name), path);
    const looked = await look(path);
    const plan = planFor(looked, { mode: 'encode' });
    change(path);
    const more = { plan, from: 0, video: 'v0', file: path, keyframes: [], encoder: SOFTWARE, threads: 1 };
    return run('ffmpeg', ffmpegArguments(commandOf(more)), { encoding: 'buffer', maxBuffer: 1 << 28 }).then(
      ({ stdout }) => ({ code: 0, bytes: stdout.length }),
      (error: { code: number; stdout: Buffer }) => ({ code: error.code, bytes: error.stdout.length }),
    );
  };

  it('FFmpeg CVE-2016-1897, CVE-2016-1898, CVE-2023-6602, CVE-2023-6604 and CVE-2023-6605: a list of other files put in the place of a film is not read', async () => {
    const untouched = await encodeChanged('h264-aac.mp4', () => undefined);
    expect([untouched.code, untouched.bytes > 1000], 'the film itself').to.deep.equal([0, true]);
    const lists = [
      (file: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n${file}\n#EXT-X-ENDLIST\n`,
      (file: string) => `ffconcat version 1.0\nfile '${file}'\n`,
    ];
    for (const list of lists) {
      const changed = await encodeChanged('h264-aac.mp4', (path) => {
        const secret = `${path}.ts`;
        copyFileSync(join(made, 'h264-aac-offset.ts'), secret);
        writeFileSync(path, list(secret.split('/').at(-1) ?? ''));
      });
      expect(changed).to.deep.include({ bytes: 0 });
      expect(changed.code).to.not.equal(0);
    }
  });

  it('FFmpeg CVE-2026-8461 (PixelSmash): the encoder runs no decoder beyond the list, even for a file that was replaced after its probe', async () => {
    const untouched = await encodeChanged('mpeg4-mp3.avi', () => undefined);
    expect([untouched.code, untouched.bytes > 1000], 'the film itself').to.deep.equal([0, true]);
    const changed = await encodeChanged('mpeg4-mp3.avi', (path) => copyFileSync(join(made, 'magicyuv.avi'), path));
    expect(changed.code).to.not.equal(0);
    expect(changed.bytes).to.equal(0);
  });

  it('Jellyfin CVE-2026-48793: the name of a subtitle file is a name within the filter, with any content', async () => {
    const folder = temporaryFolder('subtitles');
    const names = [
      `a"b.srt`,
      `a'b.srt`,
      `a',movie=x[c];[c]b.srt`,
      'a:b=c.srt',
      'a\\b,c;d.srt',
      `[a]'\\'',nullsink.srt`,
      'a%d\nb.srt',
      '-i.srt',
    ];
    for (const name of names) {
      const path = join(folder, name);
      writeFileSync(path, '1\n00:00:00,000 --> 00:00:02,000\nHello\n');
      const filter = `subtitles=filename=${filterValue(path)}`;
      const words = ['-nostdin', '-loglevel', 'error', '-f', 'lavfi', '-i', 'color=s=64x64:d=0.1', '-vf', filter];
      const { stderr } = await run('ffmpeg', [...words, '-f', 'null', '-']);
      expect(stderr, name).to.equal('');
    }
  });

  it('Jellyfin CVE-2026-35031: a file that holds an address, or another path, is no item', async () => {
    const place = await newPlace('movies');
    await place.put('Real (2001)/Real (2001).mkv');
    for (const [name, text] of [
      ['Evil (2002).strm', 'file:///etc/passwd'],
      ['Lan (2003).strm', 'http://169.254.169.254/latest'],
      ['List (2004).m3u8', '#EXTM3U\nfile:///etc/passwd\n'],
      ['Short (2005).url', '[InternetShortcut]\nURL=file:///etc/passwd\n'],
      ['Named (2006).strm.mkv', 'file:///etc/passwd'],
    ] as const)
      writeFileSync(join(place.path, name), text);
    await place.age();
    await place.scan();
    const items = await place.items();
    expect(items.map(({ title }) => title)).to.deep.equal(['Real']);
    expect((await place.files()).filter(({ item_id }) => item_id).length).to.equal(1);
  });
});

describe('replay of published vulnerabilities: denial of service', () => {
  /** Places of a schema where text or a list has no end. */
  function endless(schema: unknown, at: string): string[] {
    if (typeof schema !== 'object' || schema === null) return [];
    const one = schema as Record<string, unknown>;
    const bounded = ['maxLength', 'enum', 'const', 'format', 'pattern'].some((name) => name in one);
    const here =
      (one['type'] === 'string' && !bounded) || (one['type'] === 'array' && !('maxItems' in one)) ? [at] : [];
    return [...here, ...Object.entries(one).flatMap(([name, value]) => endless(value, `${at}.${name}`))];
  }

  it('Jellyfin GHSA-v2jv-54xj-h76w: each text and list that a client sends has an end', () => {
    const found = all
      .filter((one) => one.body)
      .flatMap((one) =>
        endless(z.toJSONSchema(one.body as z.ZodType, { io: 'input', unrepresentable: 'any' }), one.operationId),
      );
    expect(found).to.deep.equal([]);
  });

  it('Jellyfin GHSA-v2jv-54xj-h76w: names of 2,000 letters and of blanks alone are refused', async () => {
    const api = await startApi();
    const owner = api.as(await api.given.owner());
    for (const name of ['x'.repeat(2000), '   ', '']) {
      for (const answer of [
        await owner.createLibrary({ body: { name, type: 'movies' } }),
        await owner.createUser({ body: { username: name, role: 'member' } }),
        await owner.createProfile({ body: { name } }),
        await owner.createApiKey({ body: { name, scopes: ['library:view'], expiresAt: null } }),
        await owner.createWebhook({ body: { name, url: 'https://example.org', events: ['*'] } }),
        await owner.updateSettings({ body: { values: { 'server.name': name } } }),
      ])
        expect(answer.status).to.equal(400);
    }
  });
});
