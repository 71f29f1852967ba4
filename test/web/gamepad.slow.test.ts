// The app and the player by a gamepad of the standard mapping alone, which the page is given by navigator.getGamepads.
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, type Shelf, shelf } from './support/films.ts';
import { type AppPage, openApp } from './support/page.ts';
import { playsFrom } from './support/player.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const PAD = `globalThis.pad = { connected: true, mapping: 'standard', id: 'pad', index: 0, axes: [0, 0, 0, 0],
  buttons: Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 })) };
navigator.getGamepads = () => [pad, null, null, null];
globalThis.frames = (count) => new Promise((done) => {
  const step = (left) => (left === 0 ? done() : requestAnimationFrame(() => step(left - 1)));
  step(count);
});`;

const BUTTONS = {
  ok: 0,
  back: 1,
  x: 2,
  y: 3,
  left: 4,
  right: 5,
  leftTrigger: 6,
  rightTrigger: 7,
  up: 12,
  down: 13,
  west: 14,
  east: 15,
};

/** The key of a remote, which no gamepad has. */
const GO_BACK = `void document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'GoBack', bubbles: true, cancelable: true }))`;

describe('the app by a gamepad', function () {
  this.timeout(120_000);
  let api: Api;
  let film: GivenFilm;
  let library: Shelf;
  let storageState: Awaited<ReturnType<typeof signedIn>>;

  before(async () => {
    api = await ownedServer();
    library = await shelf(api);
    film = await addFilm(api, library, { name: 'film.mp4', title: 'Film', seconds: 150 });
    const counts = JSON.stringify({ movie: 1 });
    await api.deps.db('libraries').where({ id: library.library.id }).update({ item_counts: counts });
    storageState = await signedIn(api);
  });

  async function open(path: string): Promise<AppPage> {
    const app = await openApp(api.url, '/favicon.svg', { storageState, viewport: { width: 1280, height: 720 } });
    await app.page.addInitScript(PAD);
    await app.page.goto(api.url + path);
    return app;
  }

  /** Down for two frames, then up for two: the page sees each. */
  const press = async ({ page }: AppPage, button: keyof typeof BUTTONS): Promise<void> => {
    const at = `pad.buttons[${BUTTONS[button]}]`;
    const trigger = button.endsWith('Trigger');
    const down = trigger ? `${at}.value = 0.9` : `${at}.pressed = true`;
    await page.evaluate(
      `(async () => { ${down}; await frames(2); ${at}.pressed = false; ${at}.value = 0; await frames(2); })()`,
    );
  };
  const isShown = ({ page }: AppPage): Promise<boolean> =>
    page.evaluate<boolean>(`!document.querySelector('.player.resting')`);

  it('leads from Home to the film and plays it, and Back returns', async () => {
    const app = await open('/');
    const { page } = app;
    await page.waitForSelector('main article a');
    // The heading of the row comes first: it leads to all of it.
    await eventually(async () => {
      await press(app, 'down');
      return page.evaluate<boolean>(`!!document.querySelector('main article a:focus')`);
    });
    await press(app, 'ok');
    await page.waitForURL(`${api.url}/item/${film.itemId}`);
    await page.waitForSelector('.play a, a:has-text("Play")');
    await press(app, 'down');
    await press(app, 'ok');
    await page.waitForURL((url) => url.pathname === `/play/${film.itemId}`);
    await playsFrom(app, 0.2);
    await eventually(async () => !(await isShown(app)), 15_000);
    await press(app, 'back');
    if (page.url().includes('/play/')) await press(app, 'back');
    await page.waitForURL(`${api.url}/item/${film.itemId}`);
    await press(app, 'back');
    await page.waitForURL(`${api.url}/`);
    await app.close();
  });

  it('leaves the app by Back on Home after a question alone', async () => {
    const app = await open('/');
    const { page } = app;
    const [before, question] = ['data:text/html,<title>before</title>', 'dialog:has-text("Leave the app?")'];
    await page.goto(before);
    await page.goto(`${api.url}/`);
    await page.waitForSelector('main article a');
    await page.keyboard.press('x');
    await page.keyboard.press('Escape'); // of a keyboard, which leaves nothing
    await press(app, 'down');
    await eventually(() => page.evaluate<boolean>(`!!document.querySelector('main a:focus')`));
    const focused = await page.evaluate<string>('document.activeElement.outerHTML');
    const goBack = (): Promise<void> => page.evaluate(GO_BACK);
    for (const [key, answer] of [
      ['back', () => press(app, 'ok')],
      ['back', () => press(app, 'back')],
      ['GoBack', goBack],
    ] as const) {
      await (key === 'back' ? press(app, key) : goBack());
      await page.waitForSelector(`${question} button:has-text("Stay"):focus`);
      await answer();
      await page.waitForSelector(question, { state: 'detached' });
      expect(await page.evaluate<string>('document.activeElement.outerHTML')).to.equal(focused);
    }
    await page.click('nav a:has-text("Libraries")');
    await page.waitForURL('**/libraries');
    await press(app, 'back');
    await page.waitForURL(`${api.url}/`);
    await press(app, 'back');
    await page.waitForSelector(`${question} button:has-text("Stay"):focus`);
    await press(app, 'east');
    await press(app, 'ok').catch(() => undefined); // the page goes while its frames are counted
    await page.waitForURL(before);
    await app.close();
  });

  it('plays, pauses, skips by the shoulders, seeks by the triggers, and moves among the controls', async () => {
    const app = await open(`/play/${film.itemId}?t=20`);
    const { page } = app;
    await playsFrom(app, 20.2);
    await press(app, 'ok');
    await eventually(async () => (await playing(page)).paused);
    const at = async (): Promise<number> => (await playing(page)).at;
    const from = await at();
    await press(app, 'right');
    await eventually(async () => Math.abs((await at()) - from - 10) < 0.5);
    await press(app, 'left');
    await eventually(async () => Math.abs((await at()) - from) < 0.5);
    await press(app, 'rightTrigger');
    await eventually(async () => Math.abs((await at()) - from - 30) < 0.5);
    await press(app, 'leftTrigger');
    await eventually(async () => Math.abs((await at()) - from) < 0.5);
    await press(app, 'down');
    await page.waitForSelector('.controls button:focus');
    const name = (): Promise<string | null> => page.getAttribute(':focus', 'aria-label');
    const first = await name();
    await press(app, 'east');
    expect(await name()).to.not.equal(first);
    await press(app, 'x');
    await eventually(async () => !(await playing(page)).paused);
    await app.close();
  });

  it('repeats a direction that is held, not OK, and obeys the stick', async () => {
    const app = await open('/');
    const { page } = app;
    await page.waitForSelector('main article a');
    await page.evaluate(
      `globalThis.keys = []; addEventListener('keydown', ({ key, repeat }) => keys.push(key + (repeat ? '+' : '')), true)`,
    );
    const sent = (): Promise<string[]> => page.evaluate<string[]>('keys.splice(0)');
    await page.evaluate('pad.axes[1] = 0.8');
    await eventually(async () => (await page.evaluate<string[]>('keys')).includes('ArrowDown+'));
    await page.evaluate(`(async () => { pad.axes[1] = 0.2; await frames(2); })()`);
    await sent();
    await page.waitForTimeout(500);
    expect(await sent(), 'after the stick is let go').to.deep.equal([]);
    await page.evaluate('pad.buttons[3].pressed = true');
    await page.waitForTimeout(1000);
    expect(await sent()).to.deep.equal(['ContextMenu']);
    await app.close();
  });

  it('opens the menu of a card, and Back closes it', async () => {
    const app = await open(`/library/${library.library.id}`);
    const { page } = app;
    await page.locator('[role=gridcell] a[href]').first().focus();
    await press(app, 'y');
    await page.waitForSelector('dialog[open] [role=menuitem]');
    await press(app, 'down');
    await page.waitForSelector('dialog[open] [role=menuitem]:focus');
    await press(app, 'back');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    await page.waitForSelector('[role=gridcell] a:focus');
    await app.close();
  });
});
