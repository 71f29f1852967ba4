import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { ABSENT, errorOf } from '#support/answers.ts';
import { givenThemes, issuesOf, reasonOf } from '#support/themes.ts';

const PAIRS = 24;

type Given = Awaited<ReturnType<typeof givenThemes>>;

describe('Themes', () => {
  let api: Given['api'];
  let owner: Given['owner'];
  let admin: Given['admin'];
  let member: Given['member'];
  let draft: Given['draft'];
  let create: Given['create'];
  let read: Given['read'];
  let change: Given['change'];
  let remove: Given['remove'];
  let choose: Given['choose'];
  before(async () => {
    ({ api, owner, admin, member, draft, create, read, change, remove, choose } = await givenThemes());
  });

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
      expect(tokens.length).to.be.within(110, 140);
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

    it('accepts the result of getTheme, with the same look', async () => {
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

    it('rejects unreadable text, and reports weak contrast', async () => {
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
      expect(errorOf(large).details['maxBytes']).to.equal(65_536);
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

    it('rests on at most four, never on itself, and only on existing themes', async () => {
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

    it('changes the version with a token alone, and nothing with a repeated value', async () => {
      const theme = await create();
      const named = (await change(theme.id, { name: `${theme.name} again` })).body;
      expect(named).to.include({ version: theme.version, revision: 2 });
      const same = (await change(theme.id, { name: named.name, shared: {}, schemes: { dark: {} } })).body;
      expect(same).to.include({ revision: 2, updatedAt: named.updatedAt });
    });

    it('rejects another revision in the body or If-Match, and returns 304 to callers that have it', async () => {
      const { id } = await create();
      const etag = (await admin.getTheme({ params: { id } })).headers.get('etag') ?? '';
      expect((await admin.getTheme({ params: { id }, headers: { 'if-none-match': etag } })).status).to.equal(304);
      expect((await change(id, { author: 'a' }, { headers: { 'if-match': etag } })).status).to.equal(200);
      for (const answer of [
        await change(id, { author: 'b' }, { headers: { 'if-match': etag } }),
        await change(id, { author: 'b', revision: 1 }),
        await admin.deleteTheme({ params: { id }, headers: { 'if-match': etag } }),
      ])
        expect(errorOf(answer).details).to.include({ reason: 'revision', revision: 2 });
      expect((await read(id)).author).to.equal('a');
    });

    it('checks its dependents: they get a new version and must stay readable', async () => {
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

    it('rejects changes by people where a resource declares it; the operator alone reports it', async () => {
      const operator = api.as({ ...owner, headers: { authorization: `Bearer ${api.operatorKey}` } });
      const managedBy = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: newId() };
      const theme = await create({ managedBy }, operator);
      expect(theme.managedBy).to.deep.equal(managedBy);
      expect(await create({ managedBy })).to.not.have.property('managedBy');
      const refused = await change(theme.id, { name: 'x', shared: {} });
      expect(refused.status).to.equal(409);
      expect(errorOf(refused).details).to.deep.equal({
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
    it('copies its values to its dependents, and profiles follow the server', async () => {
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
});
