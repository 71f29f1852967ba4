// The recorder in the browser: record in the guide, a conflict with its ways out, rules with a preview, change, stop and delete.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually } from '#support/stores.ts';
import { GUIDE_HERE, guideOf, newGuidePlace, type Show } from '../workers/live/support.ts';
import { violations } from './support/axe.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const series = (number: string): string =>
  `<sub-title>Part ${number}</sub-title><episode-num system="xmltv_ns">0.${number}.</episode-num>`;
const SHOWS: Show[] = [
  { at: 0, minutes: 90, title: 'Morning Show' },
  { at: 120, title: 'Evening News', more: '<category>News</category><new/>' },
  { at: 600, title: 'Quiet Hour', more: series('7') },
  { channel: 'two.example', at: 0, minutes: 120, title: 'Long Talk' },
  { channel: 'two.example', at: 120, title: 'Harbour', more: series('4') },
  { channel: 'two.example', at: 300, title: 'Harbour', more: series('4') },
  { channel: 'two.example', at: 420, title: 'Harbour', more: series('5') },
];
const STATE = 'select state from recordings where title = ? order by created_at desc limit 1';

describe('the recorder in the browser', function () {
  this.timeout(180_000);
  let api: Api;
  let app: AppPage;
  let page: Page;

  before(async () => {
    api = await ownedServer(GUIDE_HERE);
    const stage = new LiveStage(api);
    await stage.prepare();
    const tunerId = await stage.tuner(1);
    for (const name of ['One', 'Two']) await stage.channel(name, [{ tunerId, url: 'http://127.0.0.1:9/' }]);
    const place = await newGuidePlace(api);
    place.served.body = guideOf(SHOWS, ['one.example', 'two.example']);
    await place.source();
    app = await openSignedIn(api.url, '/live/guide');
    page = app.page;
  });
  after(() => app.close());

  const stateOf = async (title: string): Promise<string | undefined> => {
    const { rows } = await api.deps.db.raw<{ rows: { state: string }[] }>(STATE, [title]);
    return rows[0]?.state;
  };
  const cell = (title: string) => page.locator(`.cell:has-text("${title}")`).first();

  it('records a programme by key, marks it, and says at once that another one finds no tuner', async () => {
    await cell('Evening News').focus();
    await page.keyboard.press('Enter');
    await page.locator('dialog button:has-text("Record")').first().waitFor();
    await page.keyboard.press('r');
    await page.locator('dialog [role=status]:has-text("Will be recorded")').waitFor();
    expect(await stateOf('Evening News')).to.equal('scheduled');
    expect(await violations(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await page.locator('.cell:has-text("Evening News") .dot.scheduled').waitFor();

    await cell('Harbour').click();
    await page.locator('dialog button:has-text("Record")').first().click();
    await page.locator('dialog :text("Evening News, One")').waitFor();
    await page.locator('[role=status]:has-text("No tuner is free for Harbour")').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.click('.toast button:has-text("Schedule")', { force: true }).catch(() => page.keyboard.press('Escape'));
    expect(await stateOf('Harbour')).to.equal('conflict');
  });

  it('opens the programme that a search found, in the guide at its time', async () => {
    await page.goto(`${api.url}/search?q=quiet+hour`);
    await page.click('main a:has-text("Quiet Hour")');
    await page.waitForURL('**/live/guide?program=*');
    await page.locator('dialog[open]:has-text("Part 7")').waitFor();
    await page.keyboard.press('Escape');
    await cell('Quiet Hour').waitFor(); // it is ten hours later than the guide shows at first
    expect(await page.locator('.cell:has-text("Morning Show")').count()).to.equal(0);
  });

  it('shows the plan by slots, and takes another airing as the way out', async () => {
    await page.goto(`${api.url}/live/schedule`);
    await page.locator('section h3:has-text("Roof, slot 1")').waitFor();
    const conflict = page.locator('.none li:has-text("Harbour")').first();
    await conflict.waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.setViewportSize({ width: 360, height: 700 });
    expect(await violations(page)).to.deep.equal([]);
    await conflict.locator('button:has-text(" – ")').click();
    await page.locator('.none').waitFor({ state: 'detached' });
    expect(await stateOf('Harbour')).to.equal('scheduled');
    await page.setViewportSize({ width: 1280, height: 720 });
    expect(await page.locator('section li').count()).to.equal(2);
  });

  it('shows in the preview of a rule the recordings and the programmes that are left out, and saves it', async () => {
    await page.goto(`${api.url}/live/rules`);
    await page.click('button:has-text("Add a rule")');
    await page.fill('dialog [name=title]', 'har');
    await page.uncheck('dialog [name=newOnly]');
    await page.locator('dialog section li:has-text("Harbour")').first().waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.fill('dialog [name=name]', 'At sea');
    await page.click('dialog button:has-text("Save")');
    await page.locator('li.rule:has-text("At sea")').waitFor();
    // Its own recordings are no duplicates.
    await page.click('li.rule button:has-text("Change")');
    await page.locator('dialog section li:has-text("Harbour")').first().waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await page.click('li.rule button:has-text("Switch off")');
    await page.locator('li.rule:has-text("Switched off")').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.click('li.rule button:has-text("Change")');
    expect(await page.inputValue('dialog [name=title]')).to.equal('har');
    await page.keyboard.press('Escape');
    await page.click('li.rule button:has-text("Delete")');
    await page.click('dialog button:has-text("Delete")');
    await page.locator('li.rule').waitFor({ state: 'detached' });
  });

  it('lists recordings by state, changes one, stops a running one, and deletes with the choice of the file', async () => {
    const { db } = api.deps;
    await page.goto(`${api.url}/live/recordings`);
    await page.locator('li:has-text("Evening News")').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    const breaks = page.locator('input[name=detectCommercials]');
    expect(await breaks.isChecked()).to.equal(false);
    await breaks.check();
    await eventually(
      async () => (await db('settings').where({ key: 'dvr.detectCommercials' }).first())?.value === true,
    );
    await page.reload();
    await page.locator('input[name=detectCommercials]:checked').waitFor();
    await page.click('button[aria-label="Change Evening News"]');
    await page.fill('dialog [name=priority]', '80');
    await page.click('dialog button:has-text("Save")');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    expect(await db('recordings').where({ title: 'Evening News' }).first('priority')).to.deep.equal({ priority: 80 });
    await page.click('button[aria-label="Cancel the recording of Evening News"]');
    await page.click('dialog button:has-text("Cancel the recording")');
    await eventually(async () => (await stateOf('Evening News')) === 'cancelled');

    // The recorder is not part of this test: its states are written here.
    const now = new Date();
    const [running, done] = await db('recordings').whereIn('title', ['Harbour', 'Evening News']).select('id', 'title');
    expect([running, done]).to.have.length(2);
    await db('recordings')
      .where({ title: 'Harbour' })
      .update({
        ...{
          state: 'recording',
          start_at: new Date(now.getTime() - 600_000),
          end_at: new Date(now.getTime() + 600_000),
        },
        ...{ started_at: now, recorded_ms: 540_000, size_bytes: 3_221_225_472 },
        gaps: JSON.stringify([{ from: now.toISOString(), to: new Date(now.getTime() + 5000).toISOString() }]),
      });
    await db('recordings').where({ title: 'Evening News' }).update({ state: 'completed', ended_at: now, keep_days: 9 });
    await page.click('[data-tab=now]');
    await page.locator('li:has-text("9 min"):has-text("3 GB"):has-text("One gap")').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.click('li:has-text("Harbour") button:has-text("Stop")');
    await eventually(async () => {
      const row = await db('recordings').where({ title: 'Harbour' }).first('state', 'stop_at');
      return row !== undefined && (row.stop_at !== null || row.state !== 'recording');
    });

    await page.click('[data-tab=finished]');
    await page.locator('li:has-text("Evening News"):has-text("Kept until")').waitFor();
    await page.click('button[aria-label="Delete Evening News"]');
    await page.locator('dialog [name=withFile]').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.click('dialog button.danger');
    await eventually(async () => (await page.locator('li:has-text("Evening News")').count()) === 0);
    await page.setViewportSize({ width: 360, height: 700 });
    expect(await violations(page)).to.deep.equal([]);
  });
});
