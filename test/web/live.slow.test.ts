// A channel in the browser: its picture, pause and rewind within the buffer, the live edge, and the next channel.
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { listParts } from '#platform/live/parts.ts';
import type { Api } from '#support/api.ts';
import { CaptionScript, line21, withCaptions } from '#support/captions.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually } from '#support/stores.ts';
import { broadcast, tunerBox } from '#support/tuner-box.ts';
import { Recorder } from '#workers/live/recorder/keeper.ts';
import { openSignedIn } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const POSITION = `document.querySelector('video').currentTime`;

describe('live television in the browser', function () {
  this.timeout(120_000);
  let api: Api;
  let one: string;
  let stage: LiveStage;

  before(async () => {
    api = await ownedServer();
    stage = new LiveStage(api);
    await stage.prepare();
    const script = new CaptionScript().field(500, line21.popOn('NEWS AT NINE')).field(5000, line21.popOn('WEATHER'));
    const box = await tunerBox(
      withCaptions(broadcast('h264'), (atMs) => script.at(atMs)),
      1,
    );
    const tunerId = await stage.tuner(1);
    one = await stage.channel('One', [{ tunerId, url: box.channel('1') }]);
    await stage.channel('Two', [{ tunerId, url: box.channel('2') }]);
    await stage.process(tunerId);
    await eventually(() => api.deps.redis.exists(`foyer:live:tuner:${tunerId}`).catch(() => 0), 60_000);
  });

  it('opens a channel of the list, plays, pauses, goes back, returns to the live picture, and zaps with one tuner', async () => {
    const app = await openSignedIn(api.url, '/live');
    const { page } = app;
    await page.locator('nav a[href="/live"]').first().waitFor();
    await page.click('button[aria-label="Make Two a favourite"]');
    await page.locator('button[aria-label="Remove Two from the favourites"]').waitFor();
    await page.check('input[name=favorites]');
    await page.locator(`a[href="/live/watch/${one}"]`).waitFor({ state: 'detached' });
    await page.uncheck('input[name=favorites]');
    await page.click(`a[href="/live/watch/${one}"]`);
    const position = (): Promise<number> => page.evaluate<number>(POSITION);
    await page.locator('h1:has-text("1 One")').waitFor({ timeout: 40_000 });
    await eventually(async () => (await position()) > 1, 30_000);
    await page.locator('button:has-text("Live")').waitFor();

    await page.locator('button[aria-label="Subtitles"]').waitFor({ state: 'attached' });
    await page.keyboard.press('c');
    await page.click('button[role=menuitemradio]:has-text("CC1")');
    const shown = `[...document.querySelector('video').textTracks].filter((one) => one.mode === 'showing').flatMap((one) => [...(one.activeCues ?? [])].map((cue) => cue.text)).join()`;
    await eventually(async () => /^(NEWS AT NINE|WEATHER)$/.test(await page.evaluate<string>(shown)), 20_000);
    await page.keyboard.press('Escape');

    await page.keyboard.press('k');
    await eventually(() => page.evaluate<boolean>(`document.querySelector('video').paused`));
    const before = await position();
    await eventually(
      async () => Number(await page.locator('input[type=range]').getAttribute('max')) > before + 12,
      40_000,
    );
    await page.keyboard.press('k');
    await page.keyboard.press('ArrowLeft');
    await eventually(async () => (await position()) < before);
    await page.keyboard.press('End');
    await eventually(async () => (await position()) > before + 3, 20_000);

    await page.keyboard.press('PageUp');
    await page.locator('h1:has-text("2 Two")').waitFor({ timeout: 40_000 });
    await eventually(async () => (await position()) > 0.5, 30_000);
    expect(await api.deps.db('playback_sessions').whereNot({ state: 'stopped' })).to.have.length(1);

    await page.goBack();
    await page.locator('h1:has-text("Live TV")').waitFor();
    await page.keyboard.press('1');
    await page.waitForURL(`**/live/watch/${one}`);
    await app.close();
  });

  it('plays a running recording from its beginning, and goes on as it grows', async () => {
    const { db } = api.deps;
    const [id, start] = [newId(), new Date()];
    const end = new Date(start.getTime() + 600_000);
    const folder = { id: newId(), library_id: stage.libraryId, storage_id: api.given.storageId, path: '' };
    await db('library_folders').insert(folder);
    await db('recordings').insert({
      ...{ id, channel_id: one, channel_name: 'One', title: 'Evening', library_id: stage.libraryId, keep_days: 3 },
      ...{ start_at: start, planned_from: start, end_at: end, planned_to: end, start_pad_ms: 0, end_pad_ms: 0 },
    });
    const stop = new AbortController();
    const recording = new Recorder(api.deps as never).run(stop.signal);
    await eventually(async () => (await listParts(api.deps, id)).length > 4, 60_000);
    const app = await openSignedIn(api.url, '/live/recordings?show=now');
    const { page } = app;
    await page.locator('li:has-text("Evening"):has-text("Kept for 3 days")').waitFor();
    await page.click('li:has-text("Evening") a:has-text("Play")');
    await page.waitForURL('**/play/*');
    const position = (): Promise<number> => page.evaluate<number>(`document.querySelector('video')?.currentTime ?? 0`);
    const begun = await eventually(async () => {
      const at = await position();
      return at > 0.3 && at;
    }, 40_000);
    expect(begun).to.be.lessThan(8);
    await eventually(async () => (await position()) > begun + 20, 60_000);
    const { item_id: itemId } = await db('recordings').where({ id }).first('item_id');
    const sessions = await db('playback_sessions').where({ item_id: itemId }).select('method', 'live');
    expect(sessions.map(({ method, live }) => [method, live.recordingId])).to.deep.equal([['direct_stream', id]]);
    await app.close();
    stop.abort();
    await recording;
  });
});
