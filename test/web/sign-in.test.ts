import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';

const shots = process.env.SHOTS;

describe('signing in in a browser', () => {
  let api: Api;
  before(async () => {
    api = await ownedServer();
  });

  it('refuses a wrong password with a sentence, and returns to where one was', async () => {
    const app = await openApp(api.url, '/libraries', { viewport: { width: 1280, height: 800 } });
    const { page } = app;
    await page.waitForSelector('[name=username]');
    if (shots) await page.screenshot({ path: `${shots}/sign-in.png` });
    await page.fill('[name=username]', OWNER.username);
    await page.fill('[name=password]', 'not this one');
    await page.click('button[type=submit]');
    const fault = await page.waitForSelector('[role=alert]');
    expect(await fault.textContent()).to.include('Name or password is wrong');
    if (shots) await page.screenshot({ path: `${shots}/sign-in-wrong.png` });
    await page.fill('[name=password]', OWNER.password);
    await page.click('button[type=submit]');
    await page.waitForSelector('h1:has-text("Libraries")');
    expect(new URL(page.url()).pathname).to.equal('/libraries');
    if (shots) await page.screenshot({ path: `${shots}/libraries.png` });
    await app.close();
  });
});
