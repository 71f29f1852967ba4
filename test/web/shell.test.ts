import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { openApp } from './support/page.ts';

describe('the web app', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  it('starts under its policy', async () => {
    await api.given.owner();
    const app = await openApp(api.url, '/');
    await app.page.waitForSelector('h1');
    expect(await app.page.textContent('h1')).to.equal('Home');
    await app.close();
  });
});
