// Each page of the app in each look on a phone: axe finds nothing, a finger hits each control, nothing scrolls sideways at
// 320 px, which is 1280 px at 400 %, and the focus is seen at each stop of Tab.
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { type Check, eachLook, eachStop, faultsOf, type Stage, stage } from './support/all-pages.ts';
import { sideways, smallTargets } from './support/reach.ts';

const SIZE = { width: 360, height: 740 };
const PHONE: BrowserContextOptions = { viewport: SIZE, reducedMotion: 'reduce', hasTouch: true };

const narrow: Check = async (page) => {
  await page.setViewportSize({ width: 320, height: 740 });
  const faults = (await sideways(page)) ? ['scrolls sideways at 320 px'] : [];
  await page.setViewportSize(SIZE);
  return faults;
};

describe('every page of the app on a phone', function () {
  this.timeout(300_000);
  let all: Stage;

  before(async () => {
    all = await stage();
  });

  it('is for everyone', async () => {
    expect(await faultsOf(all, PHONE, [eachLook, narrow, eachStop, (page) => smallTargets(page)])).to.equal('');
  });
});
