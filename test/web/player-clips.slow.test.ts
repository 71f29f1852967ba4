// Clips that the server plays before a film.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { saveSettings } from '#platform/settings.ts';
import type { Api } from '#support/api.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { addFilm, type GivenFilm, makeFilm, type Shelf, shelf } from './support/films.ts';
import { openSignedIn, playsFrom, storedMs } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const CLIP_SECONDS = 12;

describe('clips before a film', function () {
  this.timeout(120_000);
  let api: Api;
  let place: Shelf;
  let film: GivenFilm;

  /** A clip as the job prepares it. */
  async function addClip(title: string, position: number): Promise<string> {
    const { itemId } = await addFilm(api, place, { name: `${title}.mp4`, title, seconds: CLIP_SECONDS });
    const path = await makeFilm(temporaryFolder('clip'), { name: `${title}.mp4`, seconds: CLIP_SECONDS });
    const id = newId();
    await api.deps.objects.put('foyer-derived', `preroll/${id}.mp4`, readFileSync(path));
    const row = { id, position, item_id: itemId, title, duration_ms: CLIP_SECONDS * 1000, weight: 1, state: 'ready' };
    await api.deps.db('preroll_clips').insert({ ...row, library_ids: [] } as never);
    return id;
  }

  before(async () => {
    api = await ownedServer();
    place = await shelf(api);
    film = await addFilm(api, place, { name: 'film.mp4', title: 'Film', seconds: 100 });
    await addClip('Welcome', 0);
    await addClip('House rules', 1);
    const rules = {
      enabled: true,
      pick: 'all',
      maxClips: 5,
      skippableAfterMs: 1500,
      itemTypes: ['movie'],
      resumeToo: false,
    };
    await saveSettings(api.deps.db, { 'playback.preroll': rules }, null);
    await api.deps.settings.reload();
  });

  it('play in order, are skipped when the server allows it, and never count as progress', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}`);
    const { page } = app;
    await page.locator('.clips >> text=Before the film: Welcome').waitFor();
    expect(await page.locator('.clips button').textContent()).to.match(/^\s*Skip in [12] s/);
    await page.keyboard.press('s');
    await page.keyboard.press('ArrowRight');
    await page.locator('.clips button:has-text("Skip"):enabled').waitFor();
    await page.keyboard.press('k');
    await eventually(() => page.evaluate<boolean>(`document.querySelector('.clips video').paused`));
    await page.keyboard.press('k');
    await page.keyboard.press('s');
    await page.locator('.clips >> text=Before the film: House rules').waitFor();
    await page.locator('.clips').waitFor({ state: 'detached', timeout: 60_000 }); // this one ends by itself
    expect(await storedMs(api, film.itemId), 'after the clips').to.equal(0);
    await playsFrom(app, 0.2);
    expect(await page.evaluate<number>(`document.querySelector('video').currentTime`)).to.be.below(CLIP_SECONDS - 2);
    await app.close();
  });

  it('are left by Back, and do not come before a film that is resumed', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}`);
    await app.page.locator('.clips').waitFor();
    await app.page.keyboard.press('Escape');
    await app.page.waitForURL(`${api.url}/item/${film.itemId}`);
    expect(await storedMs(api, film.itemId)).to.equal(0);
    await app.close();
    const again = await openSignedIn(api.url, `/play/${film.itemId}?t=70`);
    await playsFrom(again, 70.1);
    expect(await again.page.locator('.clips').count()).to.equal(0);
    await again.close();
  });
});
