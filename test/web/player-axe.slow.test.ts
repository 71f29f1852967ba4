// axe on the player, with each panel open, on a desk and on a phone, where a finger hits each control; and the bytes of its
// chunks.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { BUILD } from '../../api/web/files.ts';
import { addFilm, type GivenFilm, shelf } from './support/films.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn, pauseAt, playsFrom } from './support/player.ts';
import { smallTargets } from './support/reach.ts';
import { ownedServer } from './support/server.ts';

const AXE = readFileSync(join(import.meta.dirname, '../../web/node_modules/axe-core/axe.min.js'), 'utf8');
const MOST_BYTES = 220 * 1024;

describe('the player for everyone', function () {
  this.timeout(180_000);
  let api: Api;
  let film: GivenFilm;

  before(async () => {
    api = await ownedServer();
    const text = '1\n00:00:01,000 --> 00:00:50,000\nGuten Morgen.\n';
    const sidecars = [{ name: 'film.de.srt', text, codec: 'subrip' as const, language: 'de' }];
    film = await addFilm(api, await shelf(api), { name: 'film.mp4', title: 'Film', seconds: 60, sidecars });
  });

  const violations = ({ page }: AppPage): Promise<string[]> =>
    page.evaluate<string[]>(
      `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`,
    );

  for (const [name, viewport, hasTouch] of [
    ['a desk', { width: 1280, height: 720 }, false],
    ['a phone', { width: 360, height: 740 }, true],
  ] as const)
    for (const colorScheme of ['dark', 'light'] as const)
      it(`has no violation in any panel on ${name}, ${colorScheme}`, async () => {
        const app = await openSignedIn(api.url, `/play/${film.itemId}?t=10`, { viewport, hasTouch, colorScheme });
        const { page } = app;
        await playsFrom(app, 10.2);
        await pauseAt(app);
        await page.evaluate(AXE);
        const small = async (root: string): Promise<string[]> => (hasTouch ? smallTargets(page, root) : []);
        expect(await violations(app), 'no panel').to.deep.equal([]);
        expect(await small('.player'), 'no panel').to.deep.equal([]);
        for (const key of ['a', 'q', 'i', '?']) {
          await page.keyboard.press(key);
          await page.waitForSelector('[role=dialog]');
          await page.waitForTimeout(400);
          expect(await violations(app), key).to.deep.equal([]);
          expect(await small('[role=dialog]'), key).to.deep.equal([]);
          await page.keyboard.press('Escape');
        }
        await page.click('[aria-label=Subtitles]');
        await page.click('[role=menuitemradio]:has-text("German")');
        expect(await violations(app), 'subtitles').to.deep.equal([]);
        await page.click('[role=dialog] button:has-text("Style")');
        await page.waitForTimeout(400);
        expect(await violations(app), 'style').to.deep.equal([]);
        expect(await small('[role=dialog]'), 'style').to.deep.equal([]);
        await app.close();
      });

  it('loads at most 220 KB of script of its own, and hls.js on no other page', async () => {
    const app = await openSignedIn(api.url, '/');
    const { page } = app;
    await page.waitForSelector('h1');
    const loaded = (): Promise<string[]> =>
      page.evaluate<string[]>(
        `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => path.endsWith('.js'))`,
      );
    await page.waitForTimeout(1000);
    const before = new Set(await loaded());
    await page.goto(`${api.url}/play/${film.itemId}`);
    await playsFrom(app, 0.2);
    const own = (await loaded()).filter((path) => !before.has(path));
    const worker = readdirSync(join(BUILD, '_app/immutable/assets')).filter((name) => /^hls\.worker.*\.js$/.test(name));
    const bytes = [...own, ...worker.map((name) => `/_app/immutable/assets/${name}`)].map(
      (path) => statSync(join(BUILD, `${path}.br`)).size,
    );
    expect(bytes.reduce((sum, one) => sum + one, 0)).to.be.within(100_000, MOST_BYTES);
    const isHls = (path: string): boolean => readFileSync(join(BUILD, path), 'utf8').includes('bufferSeekOverHole');
    expect([...before].filter(isHls)).to.deep.equal([]);
    expect(own.filter(isHls)).to.have.length(1);
    await app.close();
  });
});
