// Runs alone: it plays a film.
import { expect } from 'chai';
import { addKept, putKeptText } from '#areas/subtitles/public.ts';
import type { Api } from '#support/api.ts';
import { workOf } from '#support/backups.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { readTranscripts } from '#workers/search/transcripts-job.ts';
import { violations } from './support/axe.ts';
import { addFilm, type GivenFilm, shelf } from './support/films.ts';
import { openSignedIn, playsFrom } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const TEXT =
  '1\n00:01:31,000 --> 00:01:33,000\nThe lighthouse keeper sleeps.\n\n2\n00:02:00,000 --> 00:02:02,000\nNo keeper here.\n';

describe('search in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let film: GivenFilm;

  before(async () => {
    api = await ownedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    film = await addFilm(api, await shelf(api), { name: 'direct.mp4', title: 'Harbour', seconds: 150 });
    const text = { bytes: Buffer.from(TEXT), format: 'srt' as const, cueCount: 2 };
    await putKeptText(api.deps.objects, text);
    const file = await api.deps.db('media_files').where({ item_id: film.itemId }).first('id');
    await api.deps.db.transaction((transaction) =>
      addKept(transaction, text, {
        ...{ fileId: String(file?.id), language: 'en', forced: false, hearingImpaired: false, accountId: null },
        origin: { source: 'fetched', provider: 'folder', providerFile: '1', release: 'x' },
      }),
    );
    await readTranscripts({}, workOf(api));
  });

  it('suggests while somebody types, corrects a spelling, and plays from a spoken word', async () => {
    const app = await openSignedIn(api.url, '/search');
    const { page } = app;
    await page.waitForSelector('input[role=combobox]:focus');
    await page.keyboard.type('har');
    await page.waitForSelector('[role=option]:has-text("Harbour")');
    await page.keyboard.press('ArrowDown');
    expect(await page.getAttribute('[role=combobox]', 'aria-activedescendant')).to.be.a('string');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/item/${film.itemId}`);
    await page.goBack();
    await page.fill('input[role=combobox]', 'harbuor');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Showing hits for “harbour”');
    await page.fill('input[role=combobox]', 'lighthouse keeper');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h2:has-text("Words spoken")');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('a:has-text("The lighthouse keeper sleeps.")');
    await page.waitForURL(`**/play/${film.itemId}?t=91`);
    expect(await playsFrom(app, 91)).to.be.within(91, 100);
    await app.close();
  });

  it('finds the words of one film on its page', async () => {
    const app = await openSignedIn(api.url, `/item/${film.itemId}`);
    const { page } = app;
    await page.fill('input[aria-label="Find words in this film"]', 'keeper');
    await page.keyboard.press('Enter');
    const hits = page.locator('section:has(h2:has-text("Find words")) li a');
    await hits.nth(1).waitFor();
    expect(await hits.evaluateAll((all) => all.map((one) => one.getAttribute('href')))).to.deep.equal([
      `/play/${film.itemId}?t=91`,
      `/play/${film.itemId}?t=120`,
    ]);
    await app.close();
  });
});
