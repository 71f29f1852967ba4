import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { clientFor } from '#support/api.ts';
import { openApp } from './support/page.ts';
import { CLAIM, OWNER, unclaimedServer } from './support/server.ts';

describe('setup in a browser', () => {
  let api: Api;
  beforeEach(async () => {
    api = await unclaimedServer();
  });

  async function declareLibrary(): Promise<void> {
    const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}` });
    const managedBy = { kind: 'Library', namespace: 'media', name: 'films', uid: 'uid-films' } as const;
    expect((await operator.createLibrary({ body: { name: 'Films', type: 'movies', managedBy } })).status).to.equal(201);
  }

  it('leads from the printed link to Home, signed in, in three screens where a resource declares the libraries', async () => {
    await declareLibrary();
    const app = await openApp(api.url, `/setup#claim=${CLAIM}`);
    const { page } = app;
    await page.waitForSelector('h1:has-text("Become the owner")');
    expect(page.url(), 'the code leaves the address').to.equal(`${api.url}/setup`);
    await page.fill('[name=username]', OWNER.username);
    await page.fill('[name=password]', 'password1');
    await page.click('button[type=submit]');
    expect(await page.textContent('.fault'), 'a weak password is a fault of its field').to.not.equal('');
    await page.fill('[name=password]', OWNER.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('button:has-text("Begin"):focus');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Home")');
    await page.waitForSelector('main a:has-text("Films")');
    const { body } = await api.anyone.login({ body: OWNER });
    expect(body.account.role).to.equal('owner');
    await app.close();
  });

  it('needs name, language and folders where nothing is declared, and continues in another browser', async () => {
    const app = await openApp(api.url, '/setup');
    const { page } = app;
    await page.fill('[name=code]', 'wrong-code-wrong-code-wrong');
    await page.click('button[type=submit]');
    await page.waitForSelector('[role=alert]');
    await page.fill('[name=code]', CLAIM);
    await page.click('button[type=submit]');
    await page.fill('[name=serverName]', 'Home & <b>Garden</b>');
    await page.click('button[type=submit]');
    await page.click('button:has-text("Add a library")');
    await page.fill('dialog [name=libraryName]', 'Films');
    await page.selectOption('dialog [name=libraryType]', 'movies');
    await page.click('dialog button:has-text("Use this folder")');
    await page.click('button:has-text("Continue")');
    await page.waitForSelector('li.ok');
    await app.close();

    const second = await openApp(api.url, `/setup#claim=${CLAIM}`);
    await second.page.waitForSelector('[name=serverName]');
    expect(await second.page.inputValue('[name=serverName]')).to.equal('Home & <b>Garden</b>');
    await second.page.click('button[type=submit]');
    await second.page.waitForSelector('li:has-text("Films")');
    await second.close();
  });
});
