import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type Browser, chromium } from 'playwright-core';
import { type Api, startApi } from '#support/api.ts';

const CODE = '7gdmdrmw2b1wsvpb7r5pdhsq2k';

describe('the first page in a browser', () => {
  let api: Api;
  let browser: Browser;
  before(async () => {
    api = await startApi({ FOYER_CLAIM_SHA256: createHash('sha256').update(CODE).digest('hex') });
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  });
  after(async () => {
    await browser.close();
  });

  it('makes the owner from the link that hack/start prints, under a strict policy', async () => {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`${api.url}/setup#claim=${CODE}`);
    await page.fill('[name=username]', 'ana');
    await page.fill('#setup [name=password]', 'a good long one');
    await page.click('#setup button');
    await page.waitForSelector('#done:not([hidden])');
    expect(await page.textContent('#done')).to.include('You own this server');
    expect(faults).to.deep.equal([]);
    const signedIn = await api.anyone.login({ body: { username: 'ana', password: 'a good long one' } });
    expect(signedIn.body.account.role).to.equal('owner');
    await page.goto(api.url);
    await page.waitForSelector('#about:not([hidden])');
    expect(await page.isVisible('#setup')).to.equal(false);
  });
});
