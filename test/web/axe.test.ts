import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { clientFor } from '#support/api.ts';
import { violations } from './support/axe.ts';
import { type AppPage, openApp } from './support/page.ts';
import { CLAIM, OWNER, ownedServer, unclaimedServer } from './support/server.ts';

describe('axe', () => {
  let fresh: Api;
  let owned: Api;
  before(async () => {
    [fresh, owned] = [await unclaimedServer(), await ownedServer()];
    const operator = clientFor(owned.url, { authorization: `Bearer ${owned.operatorKey}` });
    const managedBy = { kind: 'Library', namespace: 'media', name: 'films', uid: 'u' } as const;
    await operator.createLibrary({ body: { name: 'Films', type: 'movies', managedBy } });
  });

  async function enter({ page }: AppPage): Promise<void> {
    await page.fill('[name=username]', OWNER.username);
    await page.fill('[name=password]', OWNER.password);
    await page.click('button[type=submit]');
    await page.waitForSelector('main a:has-text("Films")');
  }

  for (const colorScheme of ['dark', 'light'] as const)
    for (const width of [360, 1280])
      it(`finds nothing on setup, sign-in and home: ${colorScheme}, ${width} px`, async () => {
        const opened = { colorScheme, viewport: { width, height: 800 } };
        const setup = await openApp(fresh.url, '/setup', opened);
        await setup.page.waitForSelector('[name=code]');
        expect(await violations(setup.page), 'setup: code').to.deep.equal([]);
        await setup.page.fill('[name=code]', CLAIM);
        await setup.page.click('button[type=submit]');
        await setup.page.waitForSelector('[name=serverName]');
        expect(await violations(setup.page), 'setup: server').to.deep.equal([]);
        await setup.close();

        const app = await openApp(owned.url, '/', opened);
        await app.page.waitForSelector('[name=username]');
        expect(await violations(app.page), 'sign-in').to.deep.equal([]);
        await enter(app);
        expect(await violations(app.page), 'home').to.deep.equal([]);
        await app.page.keyboard.press('?');
        await app.page.waitForSelector('dialog[open]');
        expect(await violations(app.page), 'keys').to.deep.equal([]);
        await app.page.keyboard.press('Escape');
        await app.page.goto(`${owned.url}/me`);
        await app.page.waitForSelector('fieldset');
        expect(await violations(app.page), 'mine').to.deep.equal([]);
        await app.page.goto(`${owned.url}/no/such/page`);
        await app.page.waitForSelector('h1');
        expect(await violations(app.page), 'no page').to.deep.equal([]);
        await app.close();
      });
});
