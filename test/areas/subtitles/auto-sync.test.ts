import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { findVoice } from '#areas/libraries/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import { newId } from '#platform/ids.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenLibrary } from '#support/given-items.ts';
import { tool } from '#support/hls-validator.ts';
import { KilledFfmpeg } from '#support/killed-ffmpeg.ts';
import { type ProbedFilm, probedFilm } from '#support/probed-film.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { linesOf, moved, rightOf, type Span, sidecar, spokenFilm } from '#support/timed-texts.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

describe('a subtitle that is fitted to the soundtrack', function () {
  this.timeout(120_000);
  const LENGTH_MS = 900_000;
  const lines = linesOf(5, LENGTH_MS);
  let api: Api;
  let library: GivenLibrary;
  let admin: TestClient;
  let member: TestClient;
  let memberId: string;
  let stop: () => Promise<void>;
  let film: ProbedFilm;

  before(async function () {
    this.timeout(600_000);
    api = await startApi();
    admin = api.as(await api.given.owner());
    const person = await api.given.member();
    memberId = person.accountId;
    member = api.as(person);
    library = await givenLibrary(api.deps.db, 'movies');
    await start();
    atEnd(() => stop());
    film = await spokenFilm(api, library, { name: 'Film.mkv', lengthMs: LENGTH_MS, speech: lines });
  });

  const start = async (): Promise<void> => {
    const runtime = await startRuntime(api.deps, handlers, () => undefined);
    stop = async () => {
      stop = async () => undefined;
      await runtime.stop();
    };
  };

  const text = async (of: ProbedFilm, cues: readonly Span[]) => (await sidecar(api, of, cues)).ids;
  const jobs = () => api.deps.db('jobs').where({ kind: 'subtitles.sync' });
  const spent = async (): Promise<number> =>
    (await api.deps.db('subtitle_uses').where({ account_id: memberId, given_back_at: null })).length;

  it('is put in time for everyone, is right then, and starts from its own times again', async () => {
    const late = moved(lines, (ms) => ms * (24 / 25) + 30_000);
    const params = await text(film, late);
    const events = await api.deps.db('outbox').where({ event: 'item.updated' });
    const { status, body } = await admin.autoSyncSubtitle({ params });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.include({ outcome: 'applied', before: { offsetMs: 0, rate: 1 } });
    expect(body.heardMs).to.be.closeTo(LENGTH_MS, 2000);
    expect(body.allowance).to.equal(undefined);
    expect(body.confidence).to.be.greaterThan(0.5);
    expect(rightOf(body.sync, late, lines)).to.be.at.least(0.95);
    expect(body.sync).to.include({ source: 'auto' });
    const after = await api.deps.db('outbox').where({ event: 'item.updated' });
    expect(after.length - events.length).to.equal(1);
    const again = (await admin.autoSyncSubtitle({ params })).body;
    expect([again.outcome, again.sync.version]).to.deep.equal(['already-right', body.sync.version]);
    await admin.setSubtitleSync({ params, body: { offsetMs: 7000 } });
    const third = (await admin.autoSyncSubtitle({ params })).body;
    expect([third.outcome, third.before]).to.deep.equal(['applied', { offsetMs: 7000, rate: 1 }]);
    expect(rightOf(third.sync, late, lines)).to.be.at.least(0.95);
  });

  it('hears the film again when ffmpeg is killed before its first sound', async () => {
    const { PATH } = process.env;
    const path = join(api.mediaRoot, 'Killed.mka');
    await tool('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'anullsrc=r=8000:d=180', '-c:a', 'aac', path]);
    const params = await text(await probedFilm(api, library, path), linesOf(3, 180_000));
    const ffmpeg = new KilledFfmpeg();
    ffmpeg.strike();
    process.env['PATH'] = ffmpeg.path;
    try {
      const { status, body } = await admin.autoSyncSubtitle({ params });
      expect([status, body.outcome, ffmpeg.hasStruck], JSON.stringify(body)).to.deep.equal([200, 'no-match', true]);
      const [job] = await jobs().orderBy('created_at', 'desc').select('state', 'attempts');
      expect(job).to.deep.equal({ state: 'completed', attempts: 2 });
    } finally {
      process.env['PATH'] = PATH;
    }
  });

  it('hears a film to its end though its container names a shorter length', async () => {
    const { db } = api.deps;
    const path = join(api.mediaRoot, 'Longer.wav');
    copyFileSync(join((await fixtures()).real, 'speech/two_cities.wav'), path);
    const longer = await probedFilm(api, library, path);
    await db('media_files').where({ id: longer.fileId }).update({ duration_ms: 20_000 });
    const { status } = await admin.autoSyncSubtitle({ params: await text(longer, linesOf(3, 180_000)) });
    expect(status).to.equal(200);
    const source = await findSource(db, longer.fileId);
    expect(source?.durationMs).to.equal(20_000);
    const speech = source && (await findVoice(db, { ...source, streamIndex: 0 }));
    expect(speech?.at(-1)?.endMs).to.be.greaterThan(30_000);
  });

  it('of another film changes nothing, and one that is right stays as it is', async () => {
    const other = await text(film, linesOf(99, LENGTH_MS));
    const unlike = (await admin.autoSyncSubtitle({ params: other })).body;
    expect([unlike.outcome, unlike.sync.source]).to.deep.equal(['no-match', 'none']);
    expect(unlike.confidence).to.be.lessThan(0.5);
    const right = (await admin.autoSyncSubtitle({ params: await text(film, lines) })).body;
    expect([right.outcome, right.sync.source]).to.deep.equal(['already-right', 'none']);
  });

  it('costs a viewer one use, which is given back when nothing was heard', async () => {
    const params = await text(
      film,
      moved(lines, (ms) => ms + 5000),
    );
    const fixed = (await member.autoFixSubtitleTiming({ params })).body;
    expect(fixed.outcome).to.equal('applied');
    expect(fixed.allowance).to.include({ limit: 10, used: 1, left: 9 });
    const refusals: [string, { id: string; streamId: string }, [number, string]][] = [];
    const few = await text(film, lines.slice(0, 14));
    refusals.push(['few', few, [409, 'too-few-cues']]);
    const silent = join(api.mediaRoot, 'Silent.mkv');
    await tool('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'color=s=16x16:r=1:d=20', '-c:v', 'libx264', silent]);
    refusals.push(['silent', await text(await probedFilm(api, library, silent), lines), [409, 'no-soundtrack']]);
    const gone = await sidecar(api, film, lines);
    rmSync(gone.path);
    refusals.push(['gone', gone.ids, [423, '']]);
    for (const [name, where, expected] of refusals) {
      const refused = await member.autoFixSubtitleTiming({ params: where });
      const { details, code } = errorOf(refused);
      expect([refused.status, details['reason'] ?? ''], `${name} ${code}`).to.deep.equal(expected);
    }
    expect(await spent()).to.equal(1);
    const dvb = await text(film, lines);
    await api.deps.db('media_streams').where({ id: dvb.streamId }).update({ codec: 'dvb_subtitle' });
    expect((await member.autoFixSubtitleTiming({ params: dvb })).status).to.equal(415);
    expect(await spent()).to.equal(1);
    await api.deps.db('subtitle_uses').insert(
      Array.from({ length: 9 }, () => ({
        ...{ id: newId(), account_id: memberId, kind: 'sync', item_id: film.itemId },
      })) as never,
    );
    const none = await member.autoFixSubtitleTiming({ params });
    expect([none.status, errorOf(none).code]).to.deep.equal([429, 'RATE_LIMITED']);
    await api.deps.db('subtitle_uses').delete();
  });

  it('is fitted once for all who request it, two at once and eight behind them, and a cleared one is stopped', async () => {
    await stop();
    const tracks = [];
    for (let n = 0; n < 11; n += 1)
      tracks.push(
        await text(
          film,
          moved(lines, (ms) => ms + 1000 * n),
        ),
      );
    const before = (await jobs()).length;
    const [first, ...others] = tracks;
    if (!first) throw new Error('no track');
    const mine = member.autoFixSubtitleTiming({ params: first });
    const opened = async (count: number) => eventually(async () => (await jobs()).length - before === count, 30_000);
    await opened(1);
    const other = api.as(await api.given.member());
    const joined = other.autoFixSubtitleTiming({ params: first });
    const joinedToo = other.autoFixSubtitleTiming({ params: first });
    await sleep(2000);
    expect((await other.autoFixSubtitleTiming({ params: first })).body.outcome).to.equal('running');
    const runs = others.slice(0, 9).map((params) => admin.autoSyncSubtitle({ params }));
    await opened(10);
    expect((await api.deps.db('subtitle_uses').where({ given_back_at: null })).length).to.equal(1);
    const full = await member.autoFixSubtitleTiming({ params: tracks[10] ?? first });
    expect([full.status, errorOf(full).code]).to.deep.equal([503, 'TRANSCODE_LIMIT_REACHED']);
    expect((await member.getSubtitleSync({ params: first })).body.running).to.include({ progress: 0 });
    const manual = await member.setSubtitleTiming({ params: first, body: { offsetMs: 1 } });
    expect([manual.status, errorOf(manual).details['reason']]).to.deep.equal([409, 'sync-running']);
    await admin.clearSubtitleSync({ params: tracks[9] ?? first });
    await start();
    const ends = await Promise.all([mine, joined, joinedToo, ...runs.slice(0, 8)]);
    expect(ends.map(({ body }) => body.outcome)).to.deep.equal([
      ...Array(3).fill('already-right'),
      ...Array(8).fill('applied'),
    ]);
    const stopped = await runs[8];
    expect([stopped?.status, stopped && errorOf(stopped).details['reason']]).to.deep.equal([409, 'sync-stopped']);
    expect((await member.getSubtitleSync({ params: first })).body.running).to.equal(undefined);
  });
});
