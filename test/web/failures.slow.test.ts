// Every refusal of the server as the app shows it: its sentence, its next step, its request id; and the clocks of those that pass.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { openApp } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { type Refusal, refusal, refusals } from './support/refusals.ts';
import { CLAIM, ownedServer, unclaimedServer } from './support/server.ts';

/** The server's own text is the sentence where the app has none. */
const OWN = new Set(['CONFLICT']);
/** 503 and 502 are answers that the page object would report. */
const REFUSED = /^(console: Failed to load resource|5\d\d: )/;

interface Shown {
  title: string;
  next: string;
  quiet: string;
}

const shownOf = (page: Page, requestId: string): Promise<Shown> =>
  eventually(async () => {
    const shown = await page.evaluate<Shown>(`(() => {
      const text = (part) => document.querySelector('.failure ' + part)?.textContent?.trim() ?? '';
      return { title: text('.title'), next: text('.next'), quiet: text('.quiet span') };
    })()`);
    return shown.quiet.includes(requestId) && shown;
  });

describe('refusals of the server in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  before(async () => {
    api = await ownedServer();
  });

  it('have a sentence, a next step and their request id, whatever the code', async () => {
    const all = await refusals(api);
    const app = await openApp(api.url, '/reset');
    app.expectFault(REFUSED);
    const { page } = app;
    let current: Refusal | undefined;
    await page.route('**/api/v1/auth/password-reset', (route) => route.fulfill(answerOf(current)));
    await page.fill('[name=login]', 'ana');
    for (current of all) {
      await page.click('button[type=submit]');
      const { title, next, quiet } = await shownOf(page, current.requestId);
      expect(title, current.name).to.not.equal('');
      if (!OWN.has(current.name)) expect(title, current.name).to.not.equal(current.message);
      expect(next, `the next step of ${current.name}`).to.not.equal('');
      expect(quiet).to.equal(`${current.code} · ${current.requestId}`);
    }
    await app.close();
  });

  it('count down where the server names a time', async () => {
    const app = await openApp(api.url, '/reset');
    app.expectFault(REFUSED);
    const { page } = app;
    for (const code of ['RATE_LIMITED', 'TRANSCODE_LIMIT_REACHED'] as const) {
      const limited = refusal(code, { retryAfterSec: 3 });
      await page.route('**/api/v1/auth/password-reset', (route) => route.fulfill(answerOf(limited)));
      await page.fill('[name=login]', 'ana');
      await page.click('button[type=submit]');
      await shownOf(page, limited.requestId);
      const texts: string[] = [];
      await eventually(async () => {
        const text = (await page.textContent('.failure [role=timer]')) ?? '';
        if (texts.at(-1) !== text) texts.push(text);
        return text === 'Try again now.';
      });
      expect(texts.length, texts.join(' ')).to.be.greaterThan(1);
      expect(texts[0]).to.match(/^Wait [23] seconds, then try again\.$/);
      await page.unroute('**/api/v1/auth/password-reset');
    }
    await app.close();
  });

  for (const [name, given] of Object.entries({
    'the storage of a list': refusal('STORAGE_UNAVAILABLE'),
    'the server is starting': refusal('SERVICE_STARTING', { waitingFor: 'schema' }),
  }))
    it(`are sent again without the person: ${name}`, async () => {
      const app = await openSignedIn(api.url, '/');
      app.expectFault(REFUSED);
      const { page } = app;
      await page.waitForSelector('h1:has-text("Home")');
      await page.route('**/api/v1/libraries*', (route) => route.fulfill(answerOf(given)));
      await page.goto(`${api.url}/libraries`);
      await eventually(async () => (await page.locator('.failure [role=timer]').count()) > 0, 60_000);
      expect(await page.textContent('.failure [role=timer]')).to.match(/^Trying again in \d+ seconds?\.$/);
      await page.unroute('**/api/v1/libraries*');
      await page.waitForSelector('.failure', { state: 'detached', timeout: 30_000 });
      await app.close();
    });

  it('put their issues at the fields of a form', async () => {
    const app = await openApp(api.url, '/sign-in');
    const { page } = app;
    const issue = (field: string, message: string) => ({ path: ['body', field], code: 'invalid', message });
    let issues = [issue('username', 'No such letters'), issue('password', 'Too long by far')];
    await page.route('**/api/v1/auth/login', (route) =>
      route.fulfill(answerOf(refusal('VALIDATION_FAILED', { issues }))),
    );
    await page.fill('[name=username]', 'ana');
    await page.fill('[name=password]', 'x');
    await page.click('button[type=submit]');
    await page.waitForSelector('text=No such letters');
    await page.waitForSelector('text=Too long by far');
    expect(await page.getAttribute('[name=username]', 'aria-invalid')).to.equal('true');
    expect(await page.locator('.failure').count(), 'all of it is at the fields').to.equal(0);
    issues = [issue('remember', 'Not a yes or no')];
    await page.fill('[name=password]', 'x');
    await page.click('button[type=submit]');
    await page.waitForSelector('.failure:has-text("Not a yes or no")');
    await app.close();
  });

  it('keep the values of two tabs when one saved in between', async () => {
    const server = await unclaimedServer();
    const first = await openApp(server.url, `/setup#claim=${CLAIM}`);
    await first.page.fill('[name=serverName]', 'Mine');
    const second = await openApp(server.url, '/setup', { context: first.context });
    await second.page.fill('[name=serverName]', 'Theirs');
    await second.page.click('button[type=submit]');
    await second.page.waitForSelector('button:has-text("Add a library")');

    const { page } = first;
    await page.click('button[type=submit]');
    await page.waitForSelector('text=Another tab or browser saved these values');
    expect(await page.inputValue('[name=serverName]')).to.equal('Mine');
    await page.waitForSelector('section:has-text("Theirs")');
    await page.click('button:has-text("Use theirs")');
    await eventually(async () => (await page.inputValue('[name=serverName]')) === 'Theirs');
    expect(await page.locator('.failure').count()).to.equal(0);
    await page.fill('[name=serverName]', 'Mine again');
    await page.click('button[type=submit]');
    await page.waitForSelector('button:has-text("Add a library")');
    const row = await server.deps.db('server_state').first<{ setup_draft: { serverName: string } }>('setup_draft');
    expect(row.setup_draft.serverName).to.equal('Mine again');
    await second.close();
    await first.close();
  });
});

function answerOf(refused: Refusal | undefined): {
  status: number;
  headers: Record<string, string>;
  contentType: string;
  body: string;
} {
  const { status = 500, headers = {}, body = '' } = refused ?? {};
  return { status, headers, contentType: 'application/json', body };
}
