import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { builtIns } from '#areas/themes/document/built-in.ts';
import { ABSENT } from '#support/answers.ts';
import { startApi } from '#support/api.ts';
import { givenThemes, textOf } from '#support/themes.ts';

type Given = Awaited<ReturnType<typeof givenThemes>>;

describe('stylesheets of themes', () => {
  let api: Given['api'];
  let owner: Given['owner'];
  let member: Given['member'];
  let draft: Given['draft'];
  let create: Given['create'];
  let change: Given['change'];
  let sheet: Given['sheet'];
  before(async () => {
    ({ api, owner, member, draft, create, change, sheet } = await givenThemes());
  });

  const rules = (text: string) =>
    [...text.matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = '', body = '']) => ({ selector, body }));

  it('is custom properties and nothing else, a rule for each scheme, under 16 KiB', async () => {
    for (const { id } of builtIns) {
      const { status, headers, text } = await sheet(id);
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.equal('text/css; charset=utf-8');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(text.length).to.be.lessThan(16_384);
      for (const { body } of rules(text))
        for (const line of body.split(';')) expect(line).to.match(/^--fy-[a-z0-9-]+:[#\w"%(),. -]+$/);
    }
    const { text } = await sheet('foyer-dark');
    const [shared, dark, light] = rules(text);
    expect(shared).to.include({ selector: ':root' });
    expect(shared?.body).to.include('--fy-radius-card:8px').and.include('--fy-type-body-size:0.9375rem');
    expect(dark?.selector).to.equal(':root,[data-scheme="dark"]');
    expect(dark?.body).to.include('--fy-color-surface-0:#0c0d11');
    expect(light?.selector).to.equal('[data-scheme="light"]');
    expect(rules((await sheet('foyer-light')).text)[1]?.selector).to.equal(':root,[data-scheme="light"]');
    const only = rules((await sheet('foyer-dark', { scheme: 'light' })).text);
    expect(only[1]).to.deep.include({ selector: ':root', body: light?.body });
  });

  it('has the wide colours for screens that show them, and stays small with every token at its longest', async () => {
    const { tokens = [] } = (await member.listThemes({ query: { tokens: true } })).body;
    const loud = (name: string) =>
      /surface|text|\.on$|field|nav/.test(name) ? undefined : 'oklch(0.8456 0.3456 145.4567 / 0.9876)';
    const layer = {
      x: '-199.1234px',
      y: '-199.1234px',
      blur: '199.1234px',
      spread: '-199.1234px',
      color: '#12345678',
    };
    const own = tokens
      .filter(({ scheme }) => scheme)
      .flatMap(({ name, kind }) => {
        const value = kind === 'shadow' ? [layer, layer, layer, layer] : loud(name);
        return value ? [[name, value] as const] : [];
      });
    const dark = Object.fromEntries(own);
    const readable = Object.fromEntries(
      Object.entries(dark).filter(([name]) => !/ok|warn|danger|info|accent/.test(name)),
    );
    const theme = await create({ schemes: { dark, light: readable } });
    const { text } = await sheet(theme.id);
    expect(text).to.match(/@media \(color-gamut:p3\)\{.*--fy-color-link:color\(display-p3 [\d. ]+ \/ 0.9876\)/s);
    expect(text.length).to.be.lessThan(16_384);
  });

  it('may be cached for a year with the right v, and is requested again without', async () => {
    const { id, version, stylesheetUrl } = await create();
    expect((await sheet(id, { v: version })).headers.get('cache-control')).to.equal(
      'public, max-age=31536000, immutable',
    );
    expect((await api.fetch(stylesheetUrl)).headers.get('cache-control')).to.include('immutable');
    for (const query of [{}, { v: 'old' }]) {
      const { headers } = await sheet(id, query);
      expect(headers.get('cache-control')).to.equal('public, no-cache');
      const again = await sheet(id, query, { 'if-none-match': headers.get('etag') });
      expect(again.status).to.equal(304);
    }
  });

  it('comes as brotli or gzip to clients that accept it', async () => {
    const raw = (coding: string) =>
      api.fetch('/api/v1/themes/cinema/stylesheet', { headers: { 'accept-encoding': coding } });
    const plain = (await sheet('cinema', {}, { 'accept-encoding': 'identity' })).text;
    const etags = new Set<string | null>();
    for (const [accepted, coding] of [
      ['br, gzip', 'br'],
      ['gzip, br;q=0', 'gzip'],
      ['identity', null],
    ] as const) {
      const answer = await raw(accepted);
      expect(answer.headers.get('content-encoding'), accepted).to.equal(coding);
      expect(answer.headers.get('vary')).to.equal('Accept-Encoding');
      expect(await answer.text()).to.equal(plain);
      etags.add(answer.headers.get('etag'));
    }
    expect(etags.size).to.equal(3);
  });

  it('is the new one on every replica: at once by a message, else by a look at the rows', async function () {
    this.timeout(30_000);
    const { databaseUrl, redisUrl, keysFile } = api.config;
    const environment = { FOYER_DATABASE_URL: databaseUrl, FOYER_REDIS_URL: redisUrl, FOYER_KEYS_FILE: keysFile };
    const other = await startApi(environment);
    const { id } = await create();
    const seen = async () => textOf(await other.anyone.getThemeStylesheet({ params: { id } }));
    const took = async (color: string): Promise<number> => {
      const began = performance.now();
      while (!(await seen()).includes(`--fy-color-nav:${color}`)) await sleep(50);
      return performance.now() - began;
    };
    await seen();
    await change(id, { schemes: { dark: { 'color.nav': '#123123' } } });
    expect(await took('#123123')).to.be.lessThan(10_000);
    // a change whose message was missed
    const schemes = JSON.stringify({ dark: { 'color.nav': '#321321' } });
    await api.deps.db('themes').where({ id }).update({ schemes, revision: 3 });
    expect(await took('#321321')).to.be.lessThan(10_000);
    // and one whose version is named
    const next = JSON.stringify({ dark: { 'color.nav': '#213213' } });
    await api.deps.db('themes').where({ id }).update({ schemes: next, revision: 4 });
    const { version: v } = (await api.as(owner).getTheme({ params: { id } })).body;
    await sleep(600);
    const named = await other.anyone.getThemeStylesheet({ params: { id }, query: { v } });
    expect(named.headers.get('cache-control')).to.include('immutable');
    expect(textOf(named)).to.include('--fy-color-nav:#213213');
  });

  it('is available while Postgres is unavailable, and where it never was', async () => {
    const unavailable = await startApi();
    const { body } = await unavailable
      .as(await unavailable.given.owner())
      .createTheme({ body: draft({ shared: { 'space.1': '3px' } }) });
    const of = async (id: string) => textOf(await unavailable.anyone.getThemeStylesheet({ params: { id } }));
    expect(await of(body.id)).to.include('--fy-space-1:3px');
    unavailable.deps.vitals.state = () => 'down';
    await unavailable.deps.db.destroy();
    expect(await of(body.id)).to.include('--fy-space-1:3px');
    expect(await of('cinema')).to.include('--fy-color-surface-0:#000000');
    expect(await of(ABSENT)).to.equal(await of('default'));
  });

  it("is the server's for the word default and for every id that names nothing", async () => {
    const right = await sheet('default');
    expect(right.text).to.equal((await sheet('foyer-dark')).text);
    for (const id of ['nope', ABSENT, 'x'.repeat(100), '__proto__', '..%2f']) {
      const answer = await sheet(id, { v: 'x' });
      expect(answer.status, id).to.equal(200);
      expect(answer.text).to.equal(right.text);
      expect(answer.headers.get('cache-control')).to.equal('public, no-cache');
      expect(answer.headers.get('etag')).to.equal(right.headers.get('etag'));
    }
  });
});
