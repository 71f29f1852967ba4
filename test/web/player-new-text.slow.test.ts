// Runs alone: the browser, the transcoder and ffmpeg share the cores, and it watches the motion of a film.
// A text that comes, is corrected and goes while people watch, in the session that plays.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addKept, announceSubtitles, putKeptText } from '#areas/subtitles/public.ts';
import { startRelay } from '#platform/relay.ts';
import type { Api, TestClient } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { cueText, isWell, openSignedIn, playsFrom, watchMotion } from './support/player.ts';
import { ownedServer } from './support/server.ts';

/** A cue of each second for half a second. */
const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 23).replace('.', ',');
const SRT = Array.from(
  { length: 120 },
  (_, n) => `${n + 1}\n${clock(n * 1000)} --> ${clock(n * 1000 + 500)}\ncue ${n}\n`,
);
const bytes = Buffer.from(SRT.join('\n'));
const TEXT = { bytes, format: 'srt' as const, cueCount: SRT.length };

describe('a text that comes while people watch', function () {
  this.timeout(240_000);
  let api: Api;
  let other: TestClient;
  let accountId: string;
  const films: Partial<Record<'mp4' | 'mkv', GivenFilm>> = {};

  before(async () => {
    api = await ownedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    const relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
    atEnd(() => relay.stop());
    await api.deps.objects.prepare(['foyer-subtitles']);
    await putKeptText(api.deps.objects, TEXT);
    const place = await shelf(api);
    for (const kind of ['mp4', 'mkv'] as const)
      films[kind] = await addFilm(api, place, { name: `${kind}.${kind}`, title: kind, seconds: 120, kbits: 2000 });
    const person = await api.given.admin();
    accountId = person.accountId;
    other = api.as(person);
  });

  /** As the fetch of another person ends. */
  const arrive = async ({ fileId, itemId }: GivenFilm): Promise<string> =>
    api.deps.db.transaction(async (trx) => {
      const origin = { source: 'fetched' as const, provider: 'folder', providerFile: '1', release: 'Film' };
      const text = { fileId, language: 'de', forced: false, hearingImpaired: false, accountId, origin };
      const id = await addKept(trx, TEXT, text);
      await announceSubtitles(trx, itemId);
      return id;
    });

  /** How much later than its own time a cue is visible, ms: the least of some. */
  const lateness = (page: Page): Promise<number> =>
    page.evaluate<number>(`new Promise((done) => {
      const video = document.querySelector('video');
      const overlay = document.querySelector('.overlay');
      const found = [];
      let last = overlay.textContent;
      new MutationObserver(() => {
        const n = /cue (\\d+)/.exec(overlay.textContent)?.[1];
        if (n !== undefined && overlay.textContent !== last) found.push(video.currentTime * 1000 - Number(n) * 1000);
        last = overlay.textContent;
        if (found.length === 4) done(Math.min(...found.slice(1)));
      }).observe(overlay, { childList: true, subtree: true, characterData: true });
    })`);

  for (const kind of ['mp4', 'mkv'] as const)
    it(`is offered, shown at its times and at corrected ones, and goes, while the film moves on: ${kind}`, async () => {
      const film = films[kind];
      if (!film) throw new Error('no film');
      const app = await openSignedIn(api.url, `/play/${film.itemId}?t=10`);
      const { page } = app;
      await playsFrom(app, 11);
      const { src } = await playing(page);
      const motion = await watchMotion(app);
      const streamId = await arrive(film);
      await page.mouse.move(400, 300);
      await page.mouse.move(420, 310); // the controls are hidden while a film plays
      await page.click('.controls [aria-label=Subtitles]');
      await page.click('[role=menuitemradio]:has-text("German")');
      await page.keyboard.press('Escape');
      await eventually(async () => (await cueText(app)).startsWith('cue '));
      expect(await lateness(page)).to.be.within(-60, 250);

      const params = { id: film.itemId, streamId };
      expect((await other.setSubtitleTiming({ params, body: { offsetMs: 7300 } })).status).to.equal(200);
      await eventually(async () => {
        const at = (await playing(page)).at;
        const n = Number(/cue (\d+)/.exec(await cueText(app))?.[1] ?? Number.NaN);
        return Math.abs(at - n - 7.3) < 1;
      });
      expect(await lateness(page)).to.be.within(7240, 7550);

      expect((await other.removeSubtitle({ params: { id: film.itemId, file: streamId } })).status).to.equal(204);
      await eventually(async () => (await cueText(app)) === '');
      expect((await playing(page)).src, 'the stream').to.equal(src);
      const { stillMs, backS, onS } = await motion();
      expect(Math.max(backS, onS), 'leaps').to.be.lessThan(0.5);
      expect(stillMs, 'stands still').to.be.lessThan(1000);
      await isWell(app);
      await app.close();
      expect(await api.deps.db('playback_sessions').where({ item_id: film.itemId })).to.have.length(1);
      if (kind === 'mkv')
        expect(await api.deps.db('transcode_sessions').select('restarts')).to.deep.equal([{ restarts: 0 }]);
    });
});
