// Each page of the app in each look on a desk: axe finds nothing, and the focus is seen at each stop of Tab.
// pages-phone.slow.test.ts does the same by touch.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { eachLook, eachStop, faultsOf, type Stage, stage } from './support/all-pages.ts';
import { VISITS } from './support/visits.ts';

/** Films and channels fill the window: player-axe.slow.test.ts opens the player with each of its panels. */
const PLAYERS = ['(play)/play/[id]', '(play)/live/watch/[channelId]'];

const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };

describe('every page of the app on a desk', function () {
  this.timeout(300_000);
  let all: Stage;

  before(async () => {
    all = await stage();
  });

  it('is in the table', () => {
    const routes = globSync('**/+page.svelte', { cwd: join(import.meta.dirname, '../../web/src/routes') });
    const known = new Set([...VISITS.map(({ route }) => route), ...PLAYERS]);
    expect(routes.map((file) => file.replace('/+page.svelte', '')).filter((route) => !known.has(route))).to.deep.equal(
      [],
    );
  });

  it('is for everyone', async () => {
    expect(await faultsOf(all, DESK, [eachLook, eachStop])).to.equal('');
  });
});
