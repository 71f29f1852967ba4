// A recording is an item from its start on, and plays while it grows.
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { newId } from '#platform/ids.ts';
import { listParts } from '#platform/live/parts.ts';
import type { TestClient } from '#support/api.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually } from '#support/stores.ts';
import { tunerBox } from '#support/tuner-box.ts';
import { finishLiveRecording } from '#workers/live/finish/finish.ts';
import { Recorder } from '#workers/live/recorder/keeper.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { Postponed, type Work } from '#workers/work.ts';
import { newPlace, type Place } from '../scan/support.ts';
import { attemptsOf } from './support.ts';

const LIMITS = { leastMs: 3000, settleMs: 12_000, retryMs: 1000 };
const CLIENT = { client: { builtIn: 'chromium' } };
/** It takes no transport stream, as players of files do not. */
const PICKY = {
  hls: {
    ...{ segments: ['fmp4'], audioRenditions: true, webvtt: true },
    video: [{ codec: 'h264', maxBitDepth: 8, hdr: [], interlaced: false }],
    audio: [{ codec: 'aac', maxChannels: 2, passthrough: false }],
  },
};

describe('a recording that grows', function () {
  this.timeout(180_000);
  let place: Place;
  let stage: LiveStage;
  let channel: string;
  let owner: TestClient;
  let headers: Record<string, string>;

  before(async () => {
    place = await newPlace('livetv');
    const person = await place.api.given.owner();
    owner = place.api.as(person);
    headers = person.headers;
    stage = new LiveStage(place.api);
    await stage.prepare();
    const box = await tunerBox('h264', 1);
    const roof = await stage.tuner(1);
    channel = await stage.channel('One', [{ tunerId: roof, url: box.channel('1') }]);
    await stage.process(roof);
  });

  const db = () => place.api.deps.db;
  const recorderOf = (pod: string): Recorder => {
    const work = place.work();
    return new Recorder({ ...work, config: { ...work.config, pod } }, LIMITS);
  };
  const row = async (id: string): Promise<RecordingRow> => {
    const found = await db()('recordings').where({ id }).first();
    if (!found) throw new Error('no row');
    return found;
  };
  const plan = async (seconds: number, more: object = {}): Promise<string> => {
    const [id, start] = [newId(), Date.now()];
    const [from, to] = [new Date(start), new Date(start + seconds * 1000)];
    await db()('recordings').insert({
      ...{ id, channel_id: channel, channel_name: 'One', title: 'Evening', start_at: from, end_at: to },
      ...{ start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId, planned_from: from, planned_to: to },
      ...{ created_at: new Date(start - 1000), description: 'Of today', age_rating: 'FSK 18', age_years: 18, ...more },
    });
    return id;
  };
  const rounds = async (recorder: Recorder, until: () => Promise<unknown>): Promise<void> => {
    await eventually(async () => {
      await recorder.look();
      await sleep(400);
      return (await until()) ? true : undefined;
    }, 60_000);
  };
  const parts = (id: string) => listParts(place.api.deps, id);
  const play = (id: string, more: object = {}) =>
    owner.startPlayback({ params: { id }, body: { ...CLIENT, ...more } } as never);
  const end = (id: string) => owner.endPlaybackSession({ params: { id } });
  const text = async (url: string): Promise<string> => (await place.api.fetch(url, { headers })).text();
  /** The list of a session: its rendition and its numbers. */
  const listOf = async (url: string) => {
    const name = /^\S+\/index\.m3u8$/m.exec(await text(url))?.[0] ?? '';
    const [base = ''] = url.split('master.m3u8');
    const list = await text(`${base}${name}`);
    const numbers = [...list.matchAll(/^segments\/(\d+)\.ts/gm)].map(([, number]) => Number(number));
    return { list, numbers, at: (number: number) => `${base}${name.replace('index.m3u8', `segments/${number}.ts`)}` };
  };
  const items = async () => (await place.items()).filter(({ type }) => type === 'recording');
  const jobs = new Map<string, () => Work>();
  const finish = async (id: string): Promise<boolean> => {
    const attempt = jobs.get(id) ?? attemptsOf(() => place.work());
    jobs.set(id, attempt);
    for (let round = 0; round < 6; round += 1) {
      try {
        await finishLiveRecording({ recordingId: id }, attempt());
        return true;
      } catch (error) {
        if (!(error instanceof Postponed)) throw error;
        const queued = await db()('scans').where({ library_id: place.libraryId, state: 'queued' }).first('id');
        if (!queued) return false;
        await scanLibrary({ libraryId: place.libraryId, scanId: queued.id }, place.work(), { settleMs: 0 });
      }
    }
    return false;
  };
  const storage = (state: string) => db()('storages').where({ id: place.api.given.storageId }).update({ state });

  it('is one item from its start to its file, which plays from its beginning at any time', async () => {
    await place.put('Other.mkv');
    await place.scan();
    const id = await plan(36);
    const first = recorderOf('a');
    await rounds(first, async () => (await parts(id)).length > 1);
    const { item_id: itemId } = await row(id);
    const detail = await owner.getItem({ params: { id: itemId ?? '' } });
    expect(detail.body).to.include({ type: 'recording', overview: 'Of today' });
    expect((await owner.getRecording({ params: { id } })).body).to.include({ itemId, state: 'recording' });

    const { status, body } = await play(itemId ?? '');
    expect(status, JSON.stringify(body)).to.equal(201);
    const { session } = body;
    expect(session.decision.reasons).to.deep.equal(['growing-file']);
    const early = await listOf(session.url);
    expect(early.list)
      .to.contain('#EXT-X-PLAYLIST-TYPE:EVENT')
      .and.contain('TIME-OFFSET=0.000')
      .and.not.contain('ENDLIST');
    expect(early.numbers[0]).to.equal((await parts(id))[0]?.sequence);
    const segment = await place.api.fetch(early.at(early.numbers[0] ?? 0), { headers });
    expect([segment.status, (await segment.arrayBuffer()).byteLength]).to.deep.equal([
      200,
      (await parts(id))[0]?.bytes,
    ]);
    const stranger = await place.api.given.member();
    const foreign = await place.api.fetch(session.url, { headers: stranger.headers });
    expect(foreign.status).to.equal(404);

    // A scan leaves it alone, and the worker is killed here.
    await place.age();
    await place.scan({ mode: 'deep' });
    expect((await items()).filter(({ id: one }) => one === itemId)).to.have.lengthOf(1);
    expect(await items()).to.have.lengthOf(2);
    stage.worker();
    const second = recorderOf('b');
    const encoded = await play(itemId ?? '');
    const change = { params: { id: encoded.body.session.id }, body: { client: PICKY, positionMs: 4000 } };
    const { body: changed } = await owner.changePlayback(change as never);
    expect(changed.session.decision, JSON.stringify(changed)).to.include({ method: 'transcode' });
    expect(changed.session).to.include({ positionMs: 4000 });
    expect(changed.session.url).to.not.equal(encoded.body.session.url);
    await rounds(second, async () => (await row(id)).ended_at !== null);
    expect((await row(id)).item_id).to.equal(itemId);
    const whole = await listOf(session.url);
    expect(whole.list).to.contain('#EXT-X-ENDLIST');
    expect(whole.numbers).to.deep.equal((await parts(id)).map(({ sequence }) => sequence));
    const made = await eventually(async () => {
      const listed = await listOf(changed.session.url);
      return listed.list.includes('#EXT-X-ENDLIST') && listed;
    }, 60_000);
    expect(made.numbers[0]).to.equal(whole.numbers[0]);
    await end(encoded.body.session.id);

    // Its folder is not available: it still plays from its parts.
    await storage('unavailable');
    expect(await finish(id)).to.equal(false);
    expect((await play(itemId ?? '', { dryRun: true })).body.session.decision.reasons).to.contain('growing-file');
    await storage('available');
    // The file is there while the session plays the parts, which stay until its end.
    expect(await finish(id)).to.equal(false);
    expect(await row(id)).to.include({ item_id: itemId, cleared_at: null });
    expect((await row(id)).finished_at).to.be.instanceOf(Date);
    expect((await listOf(session.url)).numbers).to.deep.equal(whole.numbers);
    const file = (await place.files()).find((one) => one.item_id === itemId);
    const { body: played } = await play(itemId ?? '', { dryRun: true });
    expect(played.session.decision).to.include({ fileId: file?.id });
    const notices = await db()('notifications').where({ kind: 'recording-finished' });
    expect(notices.length).to.be.lessThan(2);
    await end(session.id);
    expect(await finish(id)).to.equal(true);
    expect([await parts(id), await listParts(place.api.deps, `${id}~360p-0m8`)]).to.deep.equal([[], []]);
    expect((await items()).map((one) => one.id))
      .to.include(itemId)
      .and.have.lengthOf(2);
    const kept = await db()('items').where({ id: itemId }).first();
    expect(kept).to.include({ age_years: 18, overview: 'Of today', file_count: 1, trashed_at: null });
    expect(readdirSync(place.path)).to.not.include('.foyer-recordings');
  });

  it('takes its item along when it is discarded, and the free name when its own is taken', async () => {
    const start = { title: 'Twice', start_at: new Date('2026-01-01T00:00:00Z'), age_rating: null, age_years: null };
    const id = await plan(600, { ...start, from_buffer: false });
    const recorder = recorderOf('c');
    await rounds(recorder, async () => (await parts(id)).length > 1);
    const { item_id: itemId } = await row(id);
    const dropped = await plan(600, { title: 'Dropped' });
    await rounds(recorder, async () => (await row(dropped)).item_id);
    const gone = (await row(dropped)).item_id;
    await db()('recordings').where({ id: dropped }).update({ state: 'cancelled', stop_at: new Date() });
    await rounds(recorder, async () => (await row(dropped)).cleared_at);
    expect(await db()('items').where({ id: gone })).to.deep.equal([]);
    expect((await place.events('item.deleted')).map(({ payload }) => payload['itemId'])).to.deep.equal([gone]);
    await db()('recordings').where({ id }).update({ stop_at: new Date() });
    await rounds(recorder, async () => (await row(id)).ended_at !== null);
    const key = (await db()('items').where({ id: itemId }).first()).identity_key as string;
    await place.put(key.slice(key.lastIndexOf('/') + 1));
    expect(await finish(id)).to.equal(true);
    const { file_path: path } = await row(id);
    expect(path).to.match(/-2\.mkv$/);
    expect(existsSync(`${place.path}/${path}`)).to.equal(true);
    expect((await row(id)).item_id).to.equal(itemId);
    expect((await place.files()).filter((one) => one.item_id === itemId)).to.have.lengthOf(1);
  });
});
