import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { type Relay, startRelay } from '#platform/relay.ts';
import { type Api, clientFor, type TestClient } from '#support/api.ts';
import { localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { createRefresh } from '#workers/metadata/refresh.ts';
import type { Work } from '#workers/work.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

describe('matching an item in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let admin: TestClient;
  let relay: Relay;
  let films: GivenLibrary;
  let storageState: BrowserContextOptions['storageState'];

  before(async () => {
    api = await ownedServer({ FOYER_TMDB_API_KEY: tmdbKey });
    const fake = await startTmdb();
    await placeAgents(api, { tmdb: fake.url });
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    await resumeAgents(api.deps.redis, ['tmdb']);
    relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
    const { body } = await api.anyone.login({ body: OWNER });
    admin = clientFor(api.url, { authorization: `Bearer ${body.accessToken}` });
    films = await givenLibrary(api.deps.db, 'movies', { item_counts: JSON.stringify({ movie: 1 }) });
    const settings = '{"agents":["files","tmdb"],"mergeVersions":false}';
    await api.deps.db('libraries').where({ id: films.id }).update({ settings });
    storageState = await signedIn(api);
  });
  after(() => relay.stop());

  const detail = async (id: string) => (await admin.getItem({ params: { id } })).body;
  /** Runs the refresh that waits, as a worker does. The result ends its job. */
  const runJob = async (): Promise<() => Promise<unknown>> => {
    const { db } = api.deps;
    const job = await db('jobs').where({ kind: 'metadata.refresh', state: 'waiting' }).first();
    const work = { keep: async () => undefined, report: async () => undefined, emit, enqueue, checkpoint: null };
    const signal = new AbortController().signal;
    const all = { ...api.deps, ...work, signal, jobId: job.id, attempt: 1 } as unknown as Work;
    await createRefresh(() => api.deps.catalogues)(job.payload, all);
    const ended = { state: 'completed', progress: 1, finished_at: new Date() };
    return async () => db('jobs').where({ id: job.id }).update(ended);
  };
  const openMatch = async (id: string, { width = 1280, fault }: { width?: number; fault?: RegExp } = {}) => {
    const settings = { storageState: storageState as never, viewport: { width, height: 800 } };
    const app = await openApp(api.url, `/item/${id}`, settings);
    if (fault) app.expectFault(fault);
    await app.page.click('button[aria-label^="Edit"]');
    await app.page.locator('dialog [role=tab]:has-text("Fields")').press('ArrowRight');
    return app;
  };
  const press = (page: Page, text: string) => page.locator(`dialog button:has-text("${text}")`).last().press('Enter');

  it('searches catalogues, sets an identity by keyboard, and shows the fields when they arrive', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Heat', top: true });
    const app = await openMatch(id);
    const { page } = app;
    await page.waitForSelector('dialog [role=status]:has-text("No catalogue has identified it")');
    await page.waitForSelector('dialog li:has-text("Heat, 1986")');
    expect(await violations(page)).to.deep.equal([]);
    await page.fill('dialog input[name=year]', '1995');
    await page.keyboard.press('Enter');
    const first = page.locator('dialog li').first();
    await page.waitForSelector('dialog li:first-child:has-text("Heat, 1995")');
    expect(await first.textContent()).to.match(/TMDB · \d+ % alike · title, year/);
    await first.locator('button').press('Enter');
    await page.waitForSelector('dialog button:focus:has-text("Use this title")');
    expect(await violations(page)).to.deep.equal([]);
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog [role=status]:has-text("Identified by TMDB · chosen by a person")');
    await page.waitForSelector('dialog:has-text("Catalogue ids: tmdb 949")');
    await page.waitForSelector('dialog:has-text("The item is being refreshed")');
    await page.locator('dialog [role=tab]:has-text("Match")').press('ArrowLeft');
    await page.waitForSelector('dialog [data-field=overview]');
    const end = await runJob();
    await page.waitForSelector('dialog [data-field=overview]:has-text("From TMDB")');
    expect(await page.inputValue('dialog [data-field=overview] textarea')).to.include('master thief');
    await page.waitForSelector('section[aria-label="Work in progress"] progress');
    await end();
    await page.waitForSelector('section[aria-label="Work in progress"]', { state: 'detached' });
    await app.close();
  });

  it('finds a title by the address of its page, and says that another item is that title', async () => {
    const other = await givenItem(api.deps.db, films, { title: 'Ran', top: true });
    await api.deps.db('items').where({ id: other }).update({ external_ids: '{"tmdb":"12599"}' });
    const id = await givenItem(api.deps.db, films, { title: 'An unknown name', top: true });
    const app = await openMatch(id, { width: 360 });
    const { page } = app;
    await page.waitForSelector('dialog:has-text("No catalogue has such a title.")');
    await page.fill('dialog input[name=externalId]', 'https://www.themoviedb.org/movie/12599-heat');
    await press(page, 'Search');
    await page.waitForSelector('dialog li:has-text("Heat, 1986")');
    expect(await page.getAttribute('dialog li a', 'href')).to.equal(`/item/${other}`);
    expect(await violations(page)).to.deep.equal([]);
    await page.locator('dialog li button').first().press('Enter');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog:has-text("Another item of the library is this title")');
    await app.close();
  });

  it('removes an identity and keeps the fields, and refreshes in the chosen way', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Ikiru', top: true });
    await api.deps.db('items').where({ library_id: films.id }).whereNot({ id }).update({ external_ids: '{}' });
    const applied = await admin.applyItemMatch({
      params: { id },
      body: { externalIds: { tmdb: '949' }, agent: 'tmdb' },
    });
    expect(applied.status).to.equal(202);
    await (await runJob())();
    const app = await openMatch(id);
    const { page } = app;
    await page.waitForSelector('dialog [role=status]:has-text("Identified by TMDB")');
    await page.check('dialog input[name=keepFields]');
    await press(page, 'Remove the identity');
    await page.waitForSelector('dialog [role=status]:has-text("Known by its files alone")');
    expect(await detail(id)).to.deep.include({ year: 1995 });
    expect((await detail(id)).externalIds ?? {}).to.deep.equal({});

    await page.selectOption('dialog select[name=mode]', 'replace');
    await page.selectOption('dialog select[name=artwork]', 'none');
    await page.uncheck('dialog input[name=children]');
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.url().endsWith('/refresh') && one.method() === 'POST'),
      press(page, 'Refresh'),
    ]);
    expect(request.postDataJSON()).to.deep.equal({ mode: 'replace', artwork: 'none', children: false });
    await page.waitForSelector('section[aria-label="Work in progress"] progress');
    await (await runJob())();
    await page.waitForSelector('[role=status]:has-text("is refreshed")');
    await app.close();
  });

  it('says that a library has no catalogue', async () => {
    const bare = await givenLibrary(api.deps.db, 'videos', { item_counts: JSON.stringify({ video: 1 }) });
    const id = await givenItem(api.deps.db, bare, { title: 'Holidays', type: 'video', top: true });
    const app = await openMatch(id, { fault: /502/ });
    await app.page.waitForSelector('dialog:has-text("No catalogue of this library identifies such items")');
    expect(await violations(app.page)).to.deep.equal([]);
    await app.close();
  });
});
