import { copyFileSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type Film, film } from '#support/hls-session.ts';
import { tool } from '#support/hls-validator.ts';
import { eventually } from '#support/stores.ts';
import { preparePreroll } from '#workers/transcode/preroll-job.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import type { Work } from '../../../workers/work.ts';

describe('files over HTTP', function () {
  this.timeout(60_000);
  let api: Api;
  let viewer: Person;
  let made: string;
  let one: Film;
  let bytes: Buffer;

  before(async function () {
    this.timeout(600_000);
    ({ made } = await fixtures());
    api = await startApi({ FOYER_TRUSTED_PROXIES: '["127.0.0.0/8"]' });
    viewer = await api.given.owner();
    one = await place('h264-aac.mp4');
    bytes = readFileSync(one.looked.file);
  });

  async function place(name: string): Promise<Film> {
    copyFileSync(join(made, name), join(api.mediaRoot, name));
    return film(api.deps.db, join(api.mediaRoot, name), api.given.storageId);
  }

  const fetchFile = (headers: Record<string, string> = {}, more: RequestInit & { path?: string } = {}) =>
    api.fetch(`/api/v1/files/${one.fileId}/${more.path ?? 'stream'}`, {
      ...more,
      headers: { ...viewer.headers, ...headers },
    });
  const body = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

  it('sends the bytes unchanged with a strong ETag, and nothing for HEAD', async () => {
    const whole = await fetchFile();
    expect(whole.status).to.equal(200);
    expect(whole.headers.get('content-type')).to.equal('video/mp4');
    expect(whole.headers.get('etag')).to.match(/^"[^"]+"$/);
    expect((await body(whole)).equals(bytes)).to.equal(true);
    const head = await fetchFile({}, { method: 'HEAD' });
    expect(head.headers.get('content-length')).to.equal(String(bytes.length));
    expect((await body(head)).length).to.equal(0);
  });

  it('sends ranges, one or several, and 416 beyond the end', async () => {
    const part = await fetchFile({ range: 'bytes=100-199' });
    expect(part.status).to.equal(206);
    expect(part.headers.get('content-range')).to.equal(`bytes 100-199/${bytes.length}`);
    expect((await body(part)).equals(bytes.subarray(100, 200))).to.equal(true);
    const many = await fetchFile({ range: 'bytes=0-9,-5' });
    const border = /boundary=(\w+)/.exec(many.headers.get('content-type') ?? '')?.[1];
    const text = await body(many);
    expect(text.length).to.equal(Number(many.headers.get('content-length')));
    expect(text.includes(bytes.subarray(0, 10)) && text.includes(bytes.subarray(-5))).to.equal(true);
    expect(text.toString('latin1').endsWith(`--${border}--\r\n`)).to.equal(true);
    const beyond = await fetchFile({ range: `bytes=${bytes.length}-` });
    expect(beyond.status).to.equal(416);
    expect(beyond.headers.get('content-range')).to.equal(`bytes */${bytes.length}`);
    expect(((await beyond.json()) as { error: { details: object } }).error.details).to.deep.equal({
      sizeBytes: bytes.length,
    });
  });

  it('judges If-Range and If-None-Match by the ETag', async () => {
    const etag = (await fetchFile({}, { method: 'HEAD' })).headers.get('etag') ?? '';
    expect((await fetchFile({ range: 'bytes=0-9', 'if-range': etag })).status).to.equal(206);
    expect((await fetchFile({ range: 'bytes=0-9', 'if-range': '"other"' })).status).to.equal(200);
    expect((await fetchFile({ 'if-none-match': etag })).status).to.equal(304);
  });

  it('downloads under a readable name', async () => {
    const named = await fetchFile({}, { path: 'download' });
    expect(named.headers.get('content-disposition')).to.contain(`filename*=UTF-8''h264-aac.mp4.mp4`);
    const own = await fetchFile({}, { path: 'download?name=original' });
    expect(own.headers.get('content-disposition')).to.equal(
      `attachment; filename="h264-aac.mp4"; filename*=UTF-8''h264-aac.mp4`,
    );
    await Promise.all([body(named), body(own)]);
  });

  it('opens one session by itself for a device and a file, and refuses one over the cap', async () => {
    const member = await api.given.person('member', { limits: JSON.stringify({ streams: 1 }) });
    const send = (id: string, range = 'bytes=0-1') =>
      api.fetch(`/api/v1/files/${id}/stream`, { headers: { ...member.headers, range } });
    const other = await place('h264-50fps.mp4');
    expect((await send(one.fileId)).status).to.equal(206);
    expect((await send(one.fileId, 'bytes=5-6')).status).to.equal(206);
    const open = await api.deps
      .db('playback_sessions')
      .where({ account_id: member.accountId })
      .whereNot({ state: 'stopped' });
    expect(open.length).to.equal(1);
    await api.deps
      .db('playback_sessions')
      .where({ account_id: member.accountId })
      .update({ started_at: new Date(0) });
    const refused = await send(other.fileId);
    expect(refused.status).to.equal(429);
    expect((await refused.json()) as object).to.have.nested.property('error.code', 'STREAM_LIMIT_REACHED');
  });

  it('returns 404 for anonymous callers and a session of another account, 415 for a missing file, 423 for an unavailable storage', async () => {
    await api.deps.db('libraries').update({ everyone: false });
    const stranger = await api.given.member();
    expect((await api.as(stranger).streamFile({ params: { fileId: one.fileId } })).status).to.equal(404);
    await api.deps.db('libraries').update({ everyone: true });
    expect((await api.as(viewer).streamFile({ params: { fileId: newId() } })).status).to.equal(404);
    expect((await fetchFile({}, { path: `stream?session=${newId()}` })).status).to.equal(404);
    const lost = await place('h264-rotated.mp4');
    rmSync(lost.looked.file);
    const gone = await api.as(viewer).streamFile({ params: { fileId: lost.fileId } });
    expect(gone.status).to.equal(415);
    await api.deps.db('storages').where({ id: api.given.storageId }).update({ enabled: false });
    const unavailable = await api.as(viewer).streamFile({ params: { fileId: one.fileId } });
    await api.deps.db('storages').where({ id: api.given.storageId }).update({ enabled: true });
    expect(unavailable.status).to.equal(423);
  });

  it('opens none for an account that plays at home only, from elsewhere', async () => {
    const member = await api.given.person('member', { limits: JSON.stringify({ remote: false }) });
    const send = (more: Record<string, string>) =>
      api.fetch(`/api/v1/files/${one.fileId}/stream`, { headers: { ...member.headers, range: 'bytes=0-1', ...more } });
    const unavailable = await send({ 'x-forwarded-for': '203.0.113.9' });
    expect(unavailable.status).to.equal(403);
    expect((await unavailable.json()) as object).to.have.nested.property('error.details.by', 'remote');
    expect((await send({})).status).to.equal(206);
  });

  describe('of a long film', () => {
    let large: string;

    before(async () => {
      large = join(api.mediaRoot, 'large.mp4');
      writeFileSync(large, Buffer.alloc(64 * 2 ** 20));
      await api.deps.db('media_files').where({ id: one.fileId }).update({ path: 'large.mp4' });
    });
    after(() => api.deps.db('media_files').where({ id: one.fileId }).update({ path: 'h264-aac.mp4' }));

    const opened = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`) === realpathSync(large);
        } catch {
          return false;
        }
      }).length;
    /** A request whose first bytes came, and that reads no more. */
    const begun = (headers: Record<string, string>) =>
      new Promise<ReturnType<typeof get>>((resolve) => {
        const request = get(`${api.url}/api/v1/files/${one.fileId}/stream`, { headers }, (response) => {
          response.on('error', () => undefined);
          response.once('data', () => {
            response.pause();
            resolve(request);
          });
        });
        request.on('error', () => undefined);
      });

    it('stops reading when the client disconnects', async () => {
      const request = await begun(viewer.headers);
      expect(opened()).to.equal(1);
      request.destroy();
      await eventually(() => opened() === 0);
    });

    it('stops reading when the session is ended', async () => {
      const member = await api.given.member();
      const request = await begun(member.headers);
      expect(opened()).to.equal(1);
      const { body } = await api.as(viewer).listPlaybackSessions({ query: { userId: member.accountId } });
      await api.as(viewer).endPlaybackSession({ params: { id: body.items[0]?.id ?? '' } });
      await eventually(() => opened() === 0, 45_000);
      request.destroy();
    });
  });

  it('reads trickplay that was made, and 404 else', async () => {
    const sheet = (name: string) => api.as(viewer).getTrickplaySheet({ params: { fileId: one.fileId, sheet: name } });
    expect((await api.as(viewer).getTrickplay({ params: { fileId: one.fileId } })).status).to.equal(404);
    const size = { width: 320, height: 180, columns: 10, rows: 10, thumbs: 2, sheets: 1, size_bytes: 4 };
    await api.deps.db('trickplay').insert({ file_id: one.fileId, ...size, interval_ms: 10_000, duration_ms: 12_000 });
    await api.deps.objects.put('foyer-derived', `trickplay/${one.fileId}/320-0.webp`, 'RIFF');
    const answer = await api.as(viewer).getTrickplay({ params: { fileId: one.fileId } });
    expect(answer.body.widths[0]).to.include({ width: 320, sheets: 1, mime: 'image/webp' });
    const image = await sheet('320-0.webp');
    expect([image.status, image.headers.get('cache-control')]).to.deep.equal([
      200,
      'private, max-age=604800, immutable',
    ]);
    for (const name of ['320-1.webp', '640-0.webp', '320-00.webp', 'x'])
      expect((await sheet(name)).status, name).to.equal(404);
  });

  it('prepares a clip that runs before films and sends it', async () => {
    const clips = [{ itemId: one.itemId, season: { from: '12-01', to: '01-06' } }];
    const settings = { enabled: true, pick: 'all', maxClips: 1, itemTypes: ['movie'], clips };
    const set = await api.as(viewer).setPrerollSettings({ body: settings });
    expect(set.status).to.equal(200);
    const [clip] = set.body.clips;
    expect(clip?.state).to.equal('preparing');
    const params = { id: clip?.id ?? '' };
    expect((await api.as(viewer).streamPreroll({ params })).status).to.equal(404);
    const work = {
      ...api.deps,
      signal: new AbortController().signal,
      log: createLog('silent', 'test'),
    } as unknown as Work;
    await preparePreroll({ clipId: params.id }, work);
    const sent = await api.as(viewer).streamPreroll({ params });
    expect(sent.status).to.equal(200);
    const probe = await tool(
      'ffprobe',
      ['-v', 'error', '-show_entries', 'stream=codec_name,height', '-of', 'csv=p=0', '-'],
      sent.body as unknown as Buffer,
    );
    expect(probe.toString())
      .to.match(/h264,180/)
      .and.match(/aac/);
    const kept = await api
      .as(viewer)
      .setPrerollSettings({ body: { ...settings, clips: [{ ...clips[0], id: params.id, weight: 3 }] } });
    expect(kept.body.clips[0]).to.include({ state: 'ready', weight: 3 });
    const child = await api.given.person('member', { age_limit: 12 });
    for (const [ageRating, status] of [
      ['FSK 16', 404],
      ['FSK 12', 200],
    ] as const) {
      await api
        .as(viewer)
        .setPrerollSettings({ body: { ...settings, clips: [{ ...clips[0], id: params.id, ageRating }] } });
      expect((await api.as(child).streamPreroll({ params })).status, ageRating).to.equal(status);
    }
    const both = { ...settings, clips: [...kept.body.clips.map(({ id }) => ({ ...clips[0], id })), ...clips] };
    const second = (await api.as(viewer).setPrerollSettings({ body: both })).body.clips.find(
      ({ id }) => id !== params.id,
    );
    writeFileSync(one.looked.file, 'no film');
    const refused = (await preparePreroll({ clipId: second?.id ?? '' }, work).catch((fault) => fault)) as Error;
    writeFileSync(one.looked.file, bytes);
    expect(refused.message, 'the output of the tool is only in the log').to.equal('The clip cannot be read');
    await api.as(viewer).setPrerollSettings({ body: { ...both, clips: both.clips.slice(0, 1) } });
    const wrong = await api.as(viewer).setPrerollSettings({ body: { ...settings, clips: [{ itemId: newId() }] } });
    expect(wrong.status).to.equal(400);
    expect((await api.as(await api.given.member()).getPrerollSettings()).status).to.equal(403);
    expect((await api.as(viewer).getPrerollSettings()).body.clips.length).to.equal(1);
  });
});
