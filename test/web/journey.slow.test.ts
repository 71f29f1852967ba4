// From the printed setup link to a film that goes on in another browser, in four ways.
import { expect } from 'chai';
import { startRelay } from '#platform/relay.ts';
import { type Api, clientFor } from '#support/api.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { addFilm, type Shelf, shelf } from './support/films.ts';
import { HANDS, Hand, windowOf } from './support/hands.ts';
import { type AppPage, openApp } from './support/page.ts';
import { cueText, playsFrom, storedMs } from './support/player.ts';
import { CLAIM, OWNER, unclaimedServer } from './support/server.ts';

const MOST_INPUTS = 40;
/** A position before the first minute is not kept, and a film of three minutes is one to come back to. */
const SECONDS = 190;
/** Where one leaves it. */
const LATER_S = 65;
const GERMAN = '1\n00:00:00,000 --> 00:03:09,000\nGuten Abend.\n';
const HIDDEN = '.player.resting';

/** The title of a card: in the middle of its picture a mouse finds the button to play. */
const cardAt = ({ usesKeys }: Hand, link: string): string => (usesKeys ? link : `${link} .title`);

describe('the whole way of a household', function () {
  this.timeout(240_000);

  async function serverWithFilm(): Promise<{ api: Api; itemId: string }> {
    const api = await unclaimedServer();
    const relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
    atEnd(() => relay.stop());
    const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}` });
    const managedBy = { kind: 'Library', namespace: 'media', name: 'declared', uid: 'uid' } as const;
    await operator.createLibrary({ body: { name: 'Declared', type: 'movies', managedBy } });
    const place: Shelf = await shelf(api);
    const sidecars = [
      { name: 'film.de.srt', text: GERMAN, codec: 'subrip' as const, language: 'de' },
      {
        name: 'film.en.srt',
        text: GERMAN.replace('Guten Abend', 'Good evening'),
        codec: 'subrip' as const,
        language: 'en',
      },
    ];
    const { itemId } = await addFilm(api, place, { name: 'film.mp4', title: 'The film', seconds: SECONDS, sidecars });
    return { api, itemId };
  }

  async function becomeOwner(hand: Hand, { page }: AppPage): Promise<void> {
    await hand.fill('[name=username]', OWNER.username);
    await hand.fill('[name=password]', OWNER.password);
    await hand.press('button[type=submit]');
    await hand.press('button:has-text("Begin")');
    await page.waitForSelector('h1:has-text("Home")');
  }

  /** Shows the controls, chooses German, goes to a later place of the film, and leaves the player. */
  async function watch(hand: Hand, app: AppPage): Promise<void> {
    const { page } = app;
    await playsFrom(app, 0.5);
    if (hand.name === 'remote') {
      await page.waitForSelector(HIDDEN);
      for (let presses = 0; presses < 7; presses += 1) await hand.key('ArrowRight');
      await playsFrom(app, LATER_S);
      await page.waitForSelector(HIDDEN);
      await hand.key('ArrowDown');
    } else if (hand.name === 'mouse') await hand.move();
    else if (hand.name === 'touch') {
      await page.waitForSelector(HIDDEN);
      await hand.pressAt('.player', { x: 0.5, y: 0.3 });
      await page.waitForSelector(HIDDEN, { state: 'detached' });
    }
    if (hand.name === 'keyboard') await hand.key('c');
    else {
      await hand.press('button[aria-label=Subtitles]');
      await hand.press('[role=menuitemradio]:has-text("German")');
    }
    await eventually(async () => (await cueText(app)) === 'Guten Abend.');
    if (hand.name === 'keyboard') await hand.key('5');
    else if (!hand.usesKeys) {
      await hand.press('[role=dialog] [aria-label=Close]');
      await hand.pressAt('[role=slider][aria-label=Position]', { x: 0.5, y: 0.5 });
    }
    await playsFrom(app, LATER_S);
  }

  async function leave(hand: Hand, { page }: AppPage): Promise<void> {
    if (!hand.usesKeys) await hand.press('[aria-label=Back]');
    // the panel first, then the controls, then the page
    for (let presses = 0; hand.usesKeys && presses < 4 && page.url().includes('/play/'); presses += 1) {
      await hand.key('Escape');
      await page.waitForTimeout(800);
    }
    await page.waitForSelector('.play a:has-text("Resume")');
  }

  for (const name of HANDS)
    it(`takes fewer than ${MOST_INPUTS} inputs by ${name}`, async () => {
      const { api, itemId } = await serverWithFilm();
      const hand = new Hand(name);
      const first = await openApp(api.url, `/setup#claim=${CLAIM}`, windowOf(name));
      hand.take(first.page);
      await becomeOwner(hand, first);
      await hand.press(cardAt(hand, `main a[href="/item/${itemId}"]`));
      await hand.press('.play a');
      await watch(hand, first);
      await leave(hand, first);
      await first.close();
      const keptMs = await storedMs(api, itemId);
      expect(keptMs).to.be.at.least(LATER_S * 1000);

      const second = await openApp(api.url, '/', windowOf(name));
      hand.take(second.page);
      await hand.fill('[name=username]', OWNER.username);
      await hand.fill('[name=password]', OWNER.password);
      await hand.press('button[type=submit]');
      await hand.press(cardAt(hand, `section:has(h2:has-text("Continue")) a[href="/play/${itemId}"]`));
      const at = await playsFrom(second, LATER_S - 10);
      expect(at).to.be.within(keptMs / 1000 - 15, keptMs / 1000 + 15);
      await eventually(async () => (await cueText(second)) === 'Guten Abend.');
      expect(hand.inputs).to.be.below(MOST_INPUTS);
      if (process.env.TIMES) console.log(`    ${name}: ${hand.inputs} inputs`);
      await second.close();
    });
});
