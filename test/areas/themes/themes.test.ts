import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { builtIns } from '#areas/themes/built-in.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';

interface Refusal {
  error: {
    code: string;
    details: {
      reason?: string;
      by?: string;
      permission?: string;
      issues?: { path: string[]; code: string }[];
    } & Record<string, unknown>;
  };
}
const refusal = (answer: { body: unknown }): Refusal['error'] => (answer.body as Refusal).error;
const reasonOf = (answer: { body: unknown }) => refusal(answer).details.reason;
const issuesOf = (answer: { body: unknown }) =>
  (refusal(answer).details.issues ?? []).map(({ path, code }) => `${path.join('/')} ${code}`);

const ABSENT = '01900000-0000-7000-8000-00000000dead';
const PAIRS = 24;

describe('Themes', () => {
  let api: Api;
  let owner: Person;
  let admin: TestClient;
  let member: TestClient;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    admin = api.as(owner);
    member = api.as(await api.given.member());
  });

  let made = 0;
  const draft = (more: object = {}) => ({ name: `Theme ${++made}`, schemes: { dark: {} }, ...more });
  const create = async (more: object = {}, by = admin) => {
    const answer = await by.createTheme({ body: draft(more) });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const read = async (id: string, query = {}) => (await admin.getTheme({ params: { id }, query })).body;
  const change = (id: string, body: object, more: object = {}) => admin.updateTheme({ params: { id }, body, ...more });
  const remove = (id: string) => admin.deleteTheme({ params: { id } });
  const choose = (selection: object, more: object = {}, by = admin) =>
    by.setThemeSelection({ body: { selection: { mode: 'system', ...selection }, ...more } });
  const sheet = async (id: string, query = {}, headers = {}) => {
    const answer = await api.anyone.getThemeStylesheet({ params: { id }, query, headers });
    return { ...answer, text: String(answer.body) };
  };
  const told = async (): Promise<string[]> => {
    const rows = await api.deps.db('outbox').where({ event: 'settings.changed' }).orderBy('id').select('payload');
    return rows.flatMap((row: { payload: { keys: string[] } }) => row.payload.keys);
  };
  /** Text on the page that is told and not refused: of 3 to 4.5. */
  const weak = { 'color.text.muted': '#787878' };

  describe('that are built in', () => {
    it('come first, with every pair readable, five colours and fixed ids', async () => {
      await create({ name: 'Aaa' });
      const { items, serverDefault, selection } = (await member.listThemes()).body;
      expect(items.slice(0, 4).map(({ id }) => id)).to.deep.equal([
        'foyer-dark',
        'foyer-light',
        'cinema',
        'high-contrast',
      ]);
      for (const { id, source } of items.slice(0, 4)) {
        expect(source).to.equal('built-in');
        const theme = await read(id);
        const schemes = Object.keys(theme.schemes).length;
        expect(theme.contrast, id).to.have.length(PAIRS * schemes);
        expect(theme.contrast.filter(({ ok }) => !ok)).to.deep.equal([]);
        for (const color of theme.previewColors) expect(color).to.match(/^#[0-9a-f]{6}$/);
      }
      expect(serverDefault).to.deep.equal({ themeId: 'foyer-dark', mode: 'dark', allowChoice: true });
      expect(selection).to.include({ mode: 'dark', themeId: null, textScale: 1, reducedMotion: 'system' });
    });

    it('carry the colours of the design, by the contrast that it computed', async () => {
      const { contrast } = await read('foyer-dark');
      const of = (scheme: string, pair: string) =>
        contrast.find((one) => one.scheme === scheme && one.pair === pair)?.ratio ?? 0;
      expect(of('dark', 'text.primary on surface.0')).to.be.closeTo(17.5, 0.1);
      expect(of('dark', 'text.muted on surface.3')).to.be.closeTo(4.9, 0.1);
      expect(of('light', 'text.secondary on surface.1')).to.be.closeTo(9.2, 0.1);
      expect(of('light', 'edge on surface.0')).to.be.closeTo(3.8, 0.1);
    });

    it('are neither changed nor deleted, and their names are taken', async () => {
      expect(reasonOf(await change('cinema', { name: 'x' }))).to.equal('built-in');
      expect(reasonOf(await remove('foyer-light'))).to.equal('built-in');
      expect(reasonOf(await admin.createTheme({ body: draft({ name: 'CINEMA' }) }))).to.equal('duplicate-name');
    });

    it('answer the list of tokens that an editor draws itself from', async () => {
      expect((await member.listThemes()).body).to.not.have.property('tokens');
      const { tokens = [] } = (await member.listThemes({ query: { tokens: true } })).body;
      expect(tokens.length).to.be.within(110, 130);
      expect(new Set(tokens.map(({ property }) => property)).size).to.equal(tokens.length);
      const surface = tokens.find(({ name }) => name === 'color.surface.1');
      expect(surface).to.include({ property: '--fy-color-surface-1', kind: 'color', scheme: true, group: 'color' });
      expect(surface?.default).to.equal('oklch(0.2 0.01 265)');
      expect(tokens.find(({ kind }) => kind === 'font')?.values).to.include('inter');
    });
  });

  describe('making one', () => {
    it('prints each value again, and fills the rest from the base', async () => {
      const theme = await create({
        author: 'Ada',
        schemes: {
          dark: { 'color.accent': '#AABBCC', 'color.link': 'OKLCH(80% .1 200deg / 50%)', 'color.nav': '#00000080' },
        },
        shared: {
          'radius.card': '0.50rem',
          'motion.press': '0.1s',
          'type.h1.weight': 650,
          'type.h1.tracking': 0.050001,
          'type.family.body': 'system-serif',
          'motion.ease': 'linear',
        },
      });
      expect(theme.schemes).to.deep.equal({
        dark: { 'color.accent': '#aabbcc', 'color.link': 'oklch(0.8 0.1 200 / 0.5)', 'color.nav': '#00000080' },
      });
      expect(theme.shared).to.deep.equal({
        'motion.ease': 'linear',
        'motion.press': '100ms',
        'radius.card': '0.5rem',
        'type.family.body': 'system-serif',
        'type.h1.tracking': 0.05,
        'type.h1.weight': 650,
      });
      expect(theme).to.include({ source: 'own', base: 'foyer-dark', author: 'Ada', revision: 1, usedBy: 0 });
      const { schemes, shared } = await read(theme.id, { resolved: true });
      const { schemes: base, shared: baseShared } = await read('foyer-dark');
      expect(schemes.dark).to.deep.equal({ ...base.dark, ...theme.schemes.dark });
      expect(schemes).to.not.have.property('light');
      expect(shared).to.deep.equal({ ...baseShared, ...theme.shared });
    });

    it('takes what getTheme gives, with the same look', async () => {
      const first = await create({
        description: 'A look',
        schemes: { dark: { 'color.accent': '#ffcc00' }, light: {} },
      });
      for (const resolved of [false, true]) {
        const document = { ...(await read(first.id, { resolved })), name: `Copy ${resolved}` };
        const copy = (await admin.createTheme({ body: document })).body;
        expect(copy).to.include({ version: first.version, description: 'A look' });
        expect(copy.id).to.not.equal(first.id);
      }
      const { body } = await admin.createTheme({ body: { ...(await read('foyer-light')), name: 'Mine', base: null } });
      expect(body.base).to.equal('foyer-dark');
    });

    it('takes nested groups of value and type, as design-tokens files have them', async () => {
      const layer = { offsetX: { value: 0, unit: 'px' }, offsetY: '2px', blur: '4px', color: '#00000040' };
      const { schemes, shared } = await create({
        schemes: {
          dark: {
            $description: 'of an editor',
            color: {
              accent: {
                $type: 'color',
                $value: '#eebb55',
                hover: { value: '#ffcc66', type: 'color', description: 'x' },
              },
              focus: { $value: { colorSpace: 'srgb', components: [1, 0.5, 0], alpha: 0.5 } },
            },
            shadow: { low: { $value: layer } },
          },
        },
        shared: {
          type: { h1: { size: { value: { value: 2, unit: 'rem' }, type: 'dimension' }, weight: { value: 700 } } },
          'radius.chip': { value: 3, unit: 'px' },
        },
      });
      expect(schemes.dark).to.deep.equal({
        'color.accent': '#eebb55',
        'color.accent.hover': '#ffcc66',
        'color.focus': '#ff800080',
        'shadow.low': [{ x: '0px', y: '2px', blur: '4px', spread: '0px', color: '#00000040' }],
      });
      expect(shared).to.deep.equal({ 'radius.chip': '3px', 'type.h1.size': '2rem', 'type.h1.weight': 700 });
    });

    it('lists every bad token at once with its path', async () => {
      const answer = await admin.createTheme({
        body: draft({
          schemes: {
            dark: {
              'color.accent': 'red',
              'color.nope': '#000000',
              'color.link': '{color.accent}',
              'color.line': 'oklch(2 0 0)',
              'radius.card': '8px',
              'shadow.low': Array.from({ length: 5 }, () => ({ x: '0px', y: '0px', color: '#000000' })),
              'color.nav': null,
            },
            light: { color: { ok: { value: 'url(//evil.example)' }, nope: {} } },
          },
          shared: {
            'radius.card': '201px',
            'space.1': '21rem',
            'space.2': 'calc(1px + 2px)',
            'motion.press': '3s',
            'motion.ease': 'steps(2)',
            'type.family.body': 'Comic Sans',
            'type.h1.weight': 950,
            'type.h2.weight': 400.5,
            'motion.scale.focus': 9,
            'color.accent': '#000000',
            __proto__: 1,
          },
        }),
      });
      expect(answer.status).to.equal(400);
      const [dark, light, shared] = ['body/schemes/dark', 'body/schemes/light', 'body/shared'];
      expect(issuesOf(answer)).to.have.members([
        `${dark}/color.accent bad_value`,
        `${dark}/color.nope unknown_token`,
        `${dark}/color.link bad_value`,
        `${dark}/color.line out_of_range`,
        `${dark}/radius.card unknown_token`,
        `${dark}/shadow.low bad_value`,
        `${dark}/color.nav bad_value`,
        `${light}/color/ok bad_value`,
        `${light}/color/nope unknown_token`,
        `${shared}/radius.card out_of_range`,
        `${shared}/space.1 out_of_range`,
        `${shared}/space.2 bad_value`,
        `${shared}/motion.press out_of_range`,
        `${shared}/motion.ease bad_value`,
        `${shared}/type.family.body bad_value`,
        `${shared}/type.h1.weight out_of_range`,
        `${shared}/type.h2.weight bad_value`,
        `${shared}/motion.scale.focus out_of_range`,
        `${shared}/color.accent unknown_token`,
      ]);
    });

    it('refuses text that nobody can read, and reports what is weak', async () => {
      const unreadable = await admin.createTheme({
        body: draft({ schemes: { dark: { 'color.text.primary': 'oklch(0.3 0 0)' } } }),
      });
      expect(issuesOf(unreadable)).to.include('body/schemes/dark/color.text.primary contrast_unreadable');
      const veiled = await admin.createTheme({
        body: draft({ schemes: { dark: { 'color.text.primary': '#ffffff20' } } }),
      });
      expect(issuesOf(veiled)).to.include('body/schemes/dark/color.text.primary contrast_unreadable');
      const theme = await create({ schemes: { dark: { 'color.text.muted': '#767676', 'color.edge': '#202020' } } });
      const bad = theme.contrast.filter(({ ok }) => !ok).map(({ pair, required }) => `${pair} ${required}`);
      expect(bad).to.include.members(['text.muted on surface.0 4.5', 'edge on surface.0 3']);
    });

    it('answers 200 with the contrast for validateOnly, and stores nothing', async () => {
      const before = (await member.listThemes()).body.items.length;
      const body = draft({ name: 'Cinema', validateOnly: true });
      const answer = await admin.createTheme({ body });
      expect(answer.status).to.equal(200);
      expect(answer.body.contrast).to.have.length(PAIRS);
      expect((await member.listThemes()).body.items).to.have.length(before);
      expect((await admin.createTheme({ body: { ...body, schemes: { dark: { x: 1 } } } })).status).to.equal(400);
    });

    it('refuses a name that is taken, no scheme, control characters and 64 KiB', async () => {
      const { name } = await create({ name: 'Ünique' });
      expect(reasonOf(await admin.createTheme({ body: draft({ name: name.toUpperCase() }) }))).to.equal(
        'duplicate-name',
      );
      expect((await admin.createTheme({ body: draft({ schemes: {} }) })).status).to.equal(400);
      expect((await admin.createTheme({ body: draft({ name: 'a\u0000b' }) })).status).to.equal(400);
      const large = await admin.createTheme({ body: draft({ contrast: 'x'.repeat(65_536) }) });
      expect(large.status).to.equal(413);
      expect(refusal(large).details['maxBytes']).to.equal(65_536);
    });

    it('holds at most 200 own themes', async () => {
      const { db } = api.deps;
      await db.raw(
        `insert into themes (id, name, name_folded, base, schemes, shared)
         select gen_random_uuid(), 'full ' || n, 'full ' || n, 'foyer-dark', '{"dark":{}}', '{}'
         from generate_series(1, 200 - (select count(*)::int from themes)) n`,
      );
      expect(reasonOf(await admin.createTheme({ body: draft() }))).to.equal('too-many');
      expect((await admin.createTheme({ body: draft({ validateOnly: true }) })).status).to.equal(200);
      await db('themes').where('name', 'like', 'full %').delete();
    });

    it('rests on at most four, never on itself, and only on what is there', async () => {
      const unknown = await admin.createTheme({ body: draft({ base: ABSENT, shared: { nope: 1 } }) });
      expect(issuesOf(unknown)).to.have.members(['body/base unknown_theme', 'body/shared/nope unknown_token']);
      const chain = [await create()];
      for (let i = 0; i < 3; i++) chain.push(await create({ base: chain.at(-1)?.id }));
      const [first, second, , last] = chain.map(({ id }) => id) as [string, string, string, string];
      expect(issuesOf(await admin.createTheme({ body: draft({ base: last }) }))).to.deep.equal(['body/base too_deep']);
      expect(issuesOf(await change(first, { base: last }))).to.deep.equal(['body/base circular']);
      expect(issuesOf(await change(second, { base: second }))).to.deep.equal(['body/base circular']);
      expect(issuesOf(await change(first, { base: (await create()).id }))).to.deep.equal(['body/base too_deep']);
    });
  });

  describe('changing one', () => {
    it('merges tokens, takes one back with null, and removes a scheme with null but never the last', async () => {
      const theme = await create({
        schemes: { dark: { 'color.accent': '#ffcc00', 'color.link': '#ffdd00' }, light: { 'color.link': '#004488' } },
        shared: { 'radius.card': '2px' },
      });
      const first = await change(theme.id, {
        schemes: { dark: { 'color.accent': null, 'color.focus': '#ffffff' }, light: null },
        shared: { 'radius.card': null },
        description: 'now',
      });
      expect(first.body.schemes).to.deep.equal({ dark: { 'color.focus': '#ffffff', 'color.link': '#ffdd00' } });
      expect(first.body).to.deep.include({ shared: {}, revision: 2, description: 'now' });
      expect(first.body.version).to.not.equal(theme.version);
      const none = await change(theme.id, { schemes: { dark: null } });
      expect(issuesOf(none)).to.deep.equal(['body/schemes required']);
      const back = await change(theme.id, { schemes: { dark: null, light: {} }, description: null });
      expect(back.body.schemes).to.deep.equal({ light: {} });
      expect(back.body).to.not.have.property('description');
    });

    it('changes the version with a token alone, and nothing with what is there already', async () => {
      const theme = await create();
      const named = (await change(theme.id, { name: `${theme.name} again` })).body;
      expect(named).to.include({ version: theme.version, revision: 2 });
      const same = (await change(theme.id, { name: named.name, shared: {}, schemes: { dark: {} } })).body;
      expect(same).to.include({ revision: 2, updatedAt: named.updatedAt });
    });

    it('refuses another revision in the body or If-Match, and 304 for who has it', async () => {
      const { id } = await create();
      const etag = (await admin.getTheme({ params: { id } })).headers.get('etag') ?? '';
      expect((await admin.getTheme({ params: { id }, headers: { 'if-none-match': etag } })).status).to.equal(304);
      expect((await change(id, { author: 'a' }, { headers: { 'if-match': etag } })).status).to.equal(200);
      for (const answer of [
        await change(id, { author: 'b' }, { headers: { 'if-match': etag } }),
        await change(id, { author: 'b', revision: 1 }),
        await admin.deleteTheme({ params: { id }, headers: { 'if-match': etag } }),
      ])
        expect(refusal(answer).details).to.include({ reason: 'revision', revision: 2 });
      expect((await read(id)).author).to.equal('a');
    });

    it('looks at what rests on it: its version, and that it stays readable', async () => {
      const base = await create();
      const above = await create({ base: base.id, schemes: { dark: { 'color.text.primary': '#ffffff' } } });
      const before = (await read(above.id)).version;
      await change(base.id, { schemes: { dark: { 'color.nav': '#101010' } } });
      expect((await read(above.id)).version).to.not.equal(before);
      const white = { 'color.surface.0': '#ffffff', 'color.surface.1': '#ffffff', 'color.surface.2': '#ffffff' };
      const dark = Object.fromEntries(
        ['text.primary', 'text.secondary', 'text.muted', 'ok', 'warn', 'danger', 'info'].map((n) => [
          `color.${n}`,
          '#000000',
        ]),
      );
      const refused = await change(base.id, { schemes: { dark: { ...white, 'color.surface.3': '#ffffff', ...dark } } });
      expect(issuesOf(refused)).to.include('body/schemes/dark/color.text.primary contrast_unreadable');
      expect(JSON.stringify(refused.body)).to.include(above.name);
    });

    it('is refused to people where a resource declares it, and told by the operator alone', async () => {
      const operator = api.as({ ...owner, headers: { authorization: `Bearer ${api.operatorKey}` } });
      const managedBy = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: newId() };
      const theme = await create({ managedBy }, operator);
      expect(theme.managedBy).to.deep.equal(managedBy);
      expect(await create({ managedBy })).to.not.have.property('managedBy');
      const refused = await change(theme.id, { name: 'x', shared: {} });
      expect(refused.status).to.equal(409);
      expect(refusal(refused).details).to.deep.equal({
        reason: 'managed-by-resource',
        fields: ['name', 'shared'],
        managedBy,
      });
      expect(reasonOf(await remove(theme.id))).to.equal('managed-by-resource');
      const params = { id: theme.id };
      expect((await operator.updateTheme({ params, body: { author: 'repo' } })).body.author).to.equal('repo');
      expect((await operator.deleteTheme({ params })).status).to.equal(204);
      expect((await operator.listThemes()).status).to.equal(200);
    });
  });

  describe('deleting one', () => {
    it('copies its values to what rests on it, and profiles follow the server', async () => {
      const base = await create({
        base: 'cinema',
        schemes: { dark: { 'color.accent': '#ffcc00', 'color.nav': '#111111' }, light: {} },
        shared: { 'radius.card': '1px' },
      });
      const above = await create({ base: base.id, schemes: { dark: { 'color.nav': '#222222' } } });
      await choose({ themeId: base.id, lightThemeId: above.id }, {}, member);
      expect((await read(base.id)).usedBy).to.equal(1);
      expect((await remove(base.id)).status).to.equal(204);
      const now = await read(above.id);
      expect(now).to.include({ base: 'cinema', version: above.version, revision: 2 });
      expect(now.schemes).to.deep.equal({ dark: { 'color.accent': '#ffcc00', 'color.nav': '#222222' } });
      expect(now.shared).to.deep.equal({ 'radius.card': '1px' });
      expect((await member.listThemes()).body.selection).to.include({ themeId: null, lightThemeId: above.id });
      expect((await remove(base.id)).status).to.equal(404);
    });
  });

  describe('the stylesheet', () => {
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

    it('may be kept for a year with the right v, and is asked for again without', async () => {
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

    it('comes as brotli or gzip to who takes it', async () => {
      const raw = (coding: string) =>
        api.fetch('/api/v1/themes/cinema/stylesheet', { headers: { 'accept-encoding': coding } });
      const plain = (await sheet('cinema', {}, { 'accept-encoding': 'identity' })).text;
      const etags = new Set<string | null>();
      for (const [asked, coding] of [
        ['br, gzip', 'br'],
        ['gzip, br;q=0', 'gzip'],
        ['identity', null],
      ] as const) {
        const answer = await raw(asked);
        expect(answer.headers.get('content-encoding'), asked).to.equal(coding);
        expect(answer.headers.get('vary')).to.equal('Accept-Encoding');
        expect(await answer.text()).to.equal(plain);
        etags.add(answer.headers.get('etag'));
      }
      expect(etags.size).to.equal(3);
    });

    it('is the new one on every replica: at once by Redis, by a look at the rows without', async function () {
      this.timeout(30_000);
      const { databaseUrl, redisUrl, keysFile } = api.config;
      const same = { FOYER_DATABASE_URL: databaseUrl, FOYER_KEYS_FILE: keysFile };
      const others = [await startApi({ ...same, FOYER_REDIS_URL: redisUrl }), await startApi(same)];
      const { id } = await create();
      const seen = async (other: Api) => String((await other.anyone.getThemeStylesheet({ params: { id } })).body);
      for (const other of others) await seen(other);
      await change(id, { schemes: { dark: { 'color.nav': '#123123' } } });
      const took = await Promise.all(
        others.map(async (other) => {
          const began = performance.now();
          while (!(await seen(other)).includes('--fy-color-nav:#123123')) await sleep(50);
          return performance.now() - began;
        }),
      );
      expect(Math.max(...took)).to.be.lessThan(10_000);
    });

    it('is there while Postgres is away, and where it never was', async () => {
      const away = await startApi();
      const { body } = await away
        .as(await away.given.owner())
        .createTheme({ body: draft({ shared: { 'space.1': '3px' } }) });
      const of = async (id: string) => String((await away.anyone.getThemeStylesheet({ params: { id } })).body);
      expect(await of(body.id)).to.include('--fy-space-1:3px');
      away.deps.vitals.state = () => 'down';
      await away.deps.db.destroy();
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

  describe('choosing', () => {
    it('is of the profile, on every device, and tells nobody', async () => {
      const person = await api.given.member();
      const { id } = await create();
      const before = (await told()).length;
      const selection = { mode: 'light', themeId: id, darkThemeId: 'cinema', textScale: 1.25, highContrast: 'on' };
      const answer = await choose(selection, {}, api.as(person));
      expect(answer.body.selection).to.deep.equal({ ...selection, lightThemeId: null, reducedMotion: 'system' });
      const elsewhere = api.as(await api.given.again(person));
      expect((await elsewhere.listThemes()).body.selection).to.deep.equal(answer.body.selection);
      expect((await member.listThemes()).body.selection.themeId).to.not.equal(id);
      expect((await told()).length).to.equal(before);
      expect((await read(id)).usedBy).to.equal(1);
      expect((await member.getTheme({ params: { id } })).body).to.not.have.property('usedBy');
    });

    it('refuses what is unknown, allowChoice of a profile, and a member for the server', async () => {
      expect((await choose({ themeId: ABSENT }, {}, member)).status).to.equal(404);
      expect((await choose({ lightThemeId: ABSENT }, { scope: 'server' })).status).to.equal(404);
      expect((await choose({}, { allowChoice: true }, member)).status).to.equal(400);
      const refused = await choose({}, { scope: 'server' }, member);
      expect(refusal(refused).details.permission).to.equal('settings:manage');
      for (const textScale of [0.7, 1.7]) expect((await choose({ textScale }, {}, member)).status).to.equal(400);
    });

    it('of the server needs every pair readable, is told once, and cannot be deleted', async () => {
      const { id } = await create({ schemes: { dark: weak } });
      const refused = await choose({ themeId: id }, { scope: 'server' });
      expect(refusal(refused).details).to.include({ reason: 'contrast' });
      const pairs = refusal(refused).details['pairs'] as { pair: string; ok: boolean }[];
      expect(pairs.map(({ pair }) => pair)).to.include('text.muted on surface.0');
      await change(id, { schemes: { dark: { 'color.text.muted': null } } });
      const before = (await told()).length;
      const chosen = await choose({ themeId: id, mode: 'light', textScale: 1.1 }, { scope: 'server' });
      expect(chosen.body.serverDefault).to.deep.equal({ themeId: id, mode: 'light', allowChoice: true });
      await choose({ themeId: id, mode: 'light', textScale: 1.1 }, { scope: 'server' });
      expect((await told()).slice(before)).to.deep.equal(['themes.default']);
      const fresh = api.as(await api.given.member());
      expect((await fresh.listThemes()).body.selection).to.include({ mode: 'light', themeId: null, textScale: 1.1 });
      expect((await read(id)).serverDefault).to.equal(true);
      expect(reasonOf(await remove(id))).to.equal('server-default');
      expect(reasonOf(await change(id, { schemes: { dark: weak } }))).to.equal('contrast');
      await change(id, { schemes: { dark: { 'color.nav': '#101010' } } });
      expect((await told()).slice(before)).to.deep.equal(['themes.default', 'themes.default']);
      expect((await sheet('default')).text).to.include('--fy-color-nav:#101010');
      await choose({}, { scope: 'server' });
    });

    it('of the server counts for what it rests on too', async () => {
      const base = await create();
      const { id } = await create({ base: base.id });
      await choose({ darkThemeId: id }, { scope: 'server' });
      const before = (await told()).length;
      expect(reasonOf(await change(base.id, { schemes: { dark: weak } }))).to.equal('contrast');
      await change(base.id, { schemes: { dark: { 'color.nav': '#131313' } } });
      await change(base.id, { author: 'nobody' });
      expect((await told()).length).to.equal(before + 1);
      expect((await sheet('default', { scheme: 'dark' })).text).to.include('--fy-color-nav:#131313');
      await choose({}, { scope: 'server' });
    });

    it('leaves a profile mode, size, motion and contrast where it may choose no theme, and its theme for later', async () => {
      const person = api.as(await api.given.member());
      await choose({ themeId: 'cinema' }, {}, person);
      await choose({}, { scope: 'server', allowChoice: false });
      expect((await person.listThemes()).body.selection.themeId).to.equal(null);
      expect(refusal(await choose({ themeId: 'foyer-light' }, {}, person)).details.by).to.equal('allow-choice');
      const answer = await choose({ mode: 'dark', reducedMotion: 'on' }, {}, person);
      expect(answer.body).to.deep.include({
        serverDefault: { themeId: 'foyer-dark', mode: 'system', allowChoice: false },
      });
      expect(answer.body.selection).to.include({ mode: 'dark', reducedMotion: 'on', themeId: null });
      await choose({}, { scope: 'server', allowChoice: true });
      expect((await person.listThemes()).body.selection).to.include({ mode: 'dark', themeId: 'cinema' });
    });
  });
});
