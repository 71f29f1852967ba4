import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';
import { probedFilm } from '#support/probed-film.ts';
import { atEnd } from '#support/stores.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

describe('the correction of a subtitle', function () {
  this.timeout(120_000);
  let api: Api;
  let admin: TestClient;
  let member: Person;
  let me: TestClient;
  let id: string;
  let streamId: string;
  let fileId: string;

  before(async function () {
    this.timeout(600_000);
    const { made } = await fixtures();
    api = await startApi();
    admin = api.as(await api.given.owner());
    member = await api.given.member();
    me = api.as(member);
    const runtime = await startRuntime(api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
    const path = join(api.mediaRoot, 'Film.mkv');
    copyFileSync(join(made, 'h264-multi.mkv'), path);
    ({ itemId: id, fileId } = await probedFilm(api, await givenLibrary(api.deps.db, 'movies'), path));
    const tracks = await api.deps
      .db('media_streams')
      .where({ file_id: fileId, kind: 'subtitle' })
      .select('id', 'codec');
    streamId = tracks.find(({ codec }) => codec === 'subrip')?.id ?? '';
  });

  const params = () => ({ id, streamId });
  const text = async (file: string, query: Record<string, string> = {}): Promise<string> =>
    (
      await api.fetch(`/api/v1/items/${id}/subtitles/${file}?${new URLSearchParams(query).toString()}`, {
        headers: member.headers,
      })
    ).text();
  const fileOf = async (): Promise<string> => {
    const { body } = await me.getItem({ params: { id } });
    return body.files?.[0]?.streams.find((one) => one.id === streamId)?.file ?? '';
  };
  const first = (shown: string): string | undefined => /[\d:.]+ --> [\d:.]+/.exec(shown)?.[0];

  it('is none at first, holds for everyone once it is set, and is gone when it is cleared', async () => {
    const before = (await me.getSubtitleSync({ params: params() })).body;
    expect(before).to.include({ offsetMs: 0, rate: 1, source: 'none', streamId });
    const file = await fileOf();
    const made = await text(file);
    const since = await api.deps.db('outbox').where({ event: 'item.updated' });
    const set = await me.setSubtitleTiming({ params: params(), body: { offsetMs: 2000, rate: 1.1 } });
    expect(set.status, JSON.stringify(set.body)).to.equal(200);
    expect(set.body).to.include({ offsetMs: 2000, rate: 1.1, source: 'manual' });
    expect(set.body.setBy?.userId).to.equal(member.accountId);
    expect(set.body.version).to.not.equal(before.version);
    const start = (shown: string): number => Number(/(\d+)\.(\d+) -->/.exec(shown)?.slice(1).join('.'));
    expect(start(await text(file))).to.be.closeTo(start(made) * 1.1 + 2, 0.002);
    const events = await api.deps.db('outbox').where({ event: 'item.updated' });
    expect(events.length - since.length).to.equal(1);
    expect(events.at(-1)?.payload).to.deep.include({ itemId: id, changed: ['subtitles'] });
    const streams = (await admin.getItem({ params: { id } })).body.files?.[0]?.streams ?? [];
    expect(streams.find((one) => one.id === streamId)?.sync).to.deep.include({ rate: 1.1, version: set.body.version });
    const other = (await api.as(await api.given.member()).getSubtitleSync({ params: params() })).body;
    expect([other.offsetMs, other.setBy]).to.deep.equal([2000, undefined]);
    for (const _ of ['once', 'again'])
      expect((await me.clearSubtitleTiming({ params: params() })).status).to.equal(204);
    expect(first(await text(file))).to.equal(first(made));
    expect((await me.getSubtitleSync({ params: params() })).body).to.deep.equal(before);
  });

  it('holds in styled text, and is added to the offset of the request', async () => {
    const file = await fileOf();
    const at = async (query: Record<string, string> = {}): Promise<string | undefined> =>
      /Dialogue: 0,([\d:.]+)/.exec(await text(file, { format: 'ass', ...query }))?.[1];
    const made = await at({ offsetMs: '3000' });
    await admin.setSubtitleSync({ params: params(), body: { offsetMs: 1000 } });
    expect(await at({ offsetMs: '2000' })).to.equal(made);
    const pieces = [{ fromMs: 0, offsetMs: 3000 }];
    await admin.setSubtitleSync({ params: params(), body: { offsetMs: 0, pieces } });
    expect(await at()).to.equal(made);
    await admin.clearSubtitleSync({ params: params() });
  });

  it('fits the bytes that it was made for', async () => {
    await admin.setSubtitleSync({ params: params(), body: { offsetMs: 500 } });
    const { db } = api.deps;
    const offset = async () => (await me.getSubtitleSync({ params: params() })).body.offsetMs;
    await db('media_files').where({ id: fileId }).increment('modified_ms', 5000);
    expect(await offset(), 'touched').to.equal(500);
    await db('media_files')
      .where({ id: fileId })
      .update({ sampled_hash: Buffer.from('one') });
    expect(await offset(), 'hashed later').to.equal(500);
    await db('media_files').where({ id: fileId }).increment('size_bytes', 1);
    expect(await offset(), 'other bytes').to.equal(0);
    await db('media_files').where({ id: fileId }).increment('size_bytes', -1);
  });

  it('is refused where it does not rise, for a stream of another item, and while one is being heard', async () => {
    const falls = [
      { fromMs: 5000, offsetMs: 1 },
      { fromMs: 5000, offsetMs: 2 },
    ];
    expect((await admin.setSubtitleSync({ params: params(), body: { offsetMs: 0, pieces: falls } })).status).to.equal(
      400,
    );
    for (const body of [{ offsetMs: 3_600_001 }, { offsetMs: 0, rate: 1.2 }, {}])
      expect((await admin.setSubtitleSync({ params: params(), body })).status).to.equal(400);
    const video = await api.deps.db('media_streams').where({ file_id: fileId, kind: 'video' }).first('id');
    for (const other of [video?.id ?? '', '01900000-0000-7000-8000-00000000ffff'])
      expect((await me.getSubtitleSync({ params: { id, streamId: other } })).status).to.equal(404);
    const job = { id: '01900000-0000-7000-8000-00000000aaaa', kind: 'subtitles.sync', queue: 'interactive' };
    await api.deps.db('jobs').insert({ ...job, state: 'active', payload: JSON.stringify({ streamId }), progress: 0.5 });
    const refused = await admin.setSubtitleSync({ params: params(), body: { offsetMs: 1 } });
    expect(errorOf(refused).details).to.deep.equal({ reason: 'sync-running' });
    expect((await me.getSubtitleSync({ params: params() })).body.running?.progress).to.equal(0.5);
    await admin.clearSubtitleSync({ params: params() });
    expect(await api.deps.db('jobs').where({ id: job.id }).first('cancel_requested')).to.include({
      cancel_requested: true,
    });
    expect((await admin.setSubtitleSync({ params: params(), body: { offsetMs: 1 } })).status).to.equal(200);
  });

  it('is for those who may use the tools, 60 times an hour', async () => {
    const body = { offsetMs: 100 };
    const child = api.as(await api.given.person('child'));
    const denied = await child.setSubtitleTiming({ params: params(), body });
    expect([denied.status, errorOf(denied).details]).to.deep.equal([403, { restriction: 'subtitleTools' }]);
    await admin.updateSettings({ body: { values: { 'subtitles.tools.sync': 'admins' } } });
    await api.deps.settings.reload();
    const refused = await me.clearSubtitleTiming({ params: params() });
    expect([refused.status, errorOf(refused).details]).to.deep.equal([403, { by: 'subtitle-tools' }]);
    expect((await admin.setSubtitleTiming({ params: params(), body })).status).to.equal(200);
    await admin.updateSettings({ body: { values: { 'subtitles.tools.sync': 'everyone' } } });
    await api.deps.settings.reload();
    const eager = api.as(await api.given.member());
    const codes: number[] = [];
    for (let n = 0; n < 61; n += 1) codes.push((await eager.setSubtitleTiming({ params: params(), body })).status);
    expect(codes.filter((code) => code === 200)).to.have.length(60);
    expect(codes.at(-1)).to.equal(429);
  });
});
