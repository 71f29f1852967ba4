// On http under a name that is not localhost, where browsers withhold locks, passkeys, the clipboard and more.
import { expect } from 'chai';
import { type BrowserContext, chromium } from 'playwright-core';
import { saveSettings } from '#platform/settings.ts';
import { type Api, clientFor } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { openApp } from './support/page.ts';
import { isInTime, isWell, playsFrom, storedMs, turnOnSubtitles } from './support/player.ts';
import { CLAIM, OWNER, unclaimedServer } from './support/server.ts';

const SECONDS = 120;
const SRT = '1\n00:00:01,000 --> 00:01:50,000\nGuten Morgen.\n';

describe('plain http under a name', function () {
  this.timeout(180_000);
  let api: Api;
  let origin: string;
  let context: BrowserContext;
  const films: GivenFilm[] = [];

  before(async () => {
    api = await unclaimedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    origin = api.url.replace('127.0.0.1', 'foyer.test');
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--autoplay-policy=no-user-gesture-required',
        '--mute-audio',
        '--host-resolver-rules=MAP foyer.test 127.0.0.1',
      ],
    });
    atEnd(() => browser.close());
    context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 720 } });
  });

  it('leads from the first start to Home', async () => {
    const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}` });
    const managedBy = { kind: 'Library', namespace: 'media', name: 'films', uid: 'uid-films' } as const;
    await operator.createLibrary({ body: { name: 'Films', type: 'movies', managedBy } });
    const app = await openApp(origin, `/setup#claim=${CLAIM}`, { context });
    const { page } = app;
    expect(await page.evaluate('isSecureContext')).to.equal(false);
    await page.fill('[name=username]', OWNER.username);
    await page.fill('[name=password]', OWNER.password);
    await page.keyboard.press('Enter');
    await page.click('button:has-text("Begin")');
    await page.waitForSelector('h1:has-text("Home")');
    await app.close();
  });

  it('plays a file and a stream with subtitles, keeps the position, and copies what the panel says', async () => {
    const place = await shelf(api);
    for (const kind of ['mp4', 'mkv']) {
      const sidecars = [{ name: `${kind}.de.srt`, text: SRT, codec: 'subrip' as const, language: 'de' }];
      films.push(await addFilm(api, place, { name: `${kind}.${kind}`, title: kind, seconds: SECONDS, sidecars }));
    }
    for (const [i, { itemId }] of films.entries()) {
      const app = await openApp(origin, `/play/${itemId}?t=70`, { context });
      const { page } = app;
      await playsFrom(app, 72);
      expect((await playing(page)).src.startsWith('blob:')).to.equal(i === 1);
      await turnOnSubtitles(app);
      await page.waitForSelector('.overlay:has-text("Guten Morgen.")');
      await page.keyboard.press('i');
      await page.click('[role=dialog] button:has-text("Copy")');
      await page.waitForSelector('[role=dialog] button:has-text("Copied")');
      await page.keyboard.press('Escape');
      await isWell(app);
      await isInTime(app);
      const { at } = await playing(page);
      await eventually(async () => Math.abs((await storedMs(api, itemId)) - at * 1000) < 2000);
      await app.close();
    }
  });

  it('says why passkeys and the installed app are not there, and where they are', async () => {
    const app = await openApp(origin, '/me', { context });
    const { page } = app;
    const why = page.locator('main p:has-text("Passkeys and this app")');
    await why.waitFor();
    expect(await why.locator('a').count(), 'no other address is known').to.equal(0);
    await saveSettings(api.deps.db, { 'server.publicUrl': 'https://media.example' } as never, null);
    await api.deps.settings.reload();
    await page.reload();
    await page.waitForSelector('main p >> a[href="https://media.example"]:has-text("Open https://media.example")');
    await app.close();
  });
});
