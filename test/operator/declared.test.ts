// spec.declared through the real API, with the operator's own key.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DeclaredBodies } from '#operator/declared/bodies.ts';
import type { DeclaredMap } from '#operator/declared/files.ts';
import { declaredVerdicts } from '#operator/declared/verdict.ts';
import { parseText } from '#operator/local/documents.ts';
import { toResources } from '#operator/local/resources.ts';
import { type SendRequest, serverClient, Unreachable } from '#operator/server-api/server-client.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { zipOf } from '#support/zip-files.ts';
import { running, specs } from './media-server/specs.ts';

const HOME = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: '01900000-0000-7000-8000-00000000c0de' };

/** Each collection is listed once a pass. */
const AT_REST = [
  'GET /icon-sets',
  'GET /themes',
  'GET /library-types',
  'GET /custom-fields',
  'GET /home/layout?scope=server',
];

const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>';

interface Reported {
  error: { details: { reason: string; managedBy: unknown } };
}

describe('spec.declared', () => {
  let api: Api;
  let admin: TestClient;
  let requests: string[];
  let request: SendRequest;
  let bodies: DeclaredBodies;
  beforeEach(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
    requests = [];
    const real = serverClient(api.url, api.operatorKey);
    request = async (method, path, body) => {
      const isTried = (body as { validateOnly?: boolean } | undefined)?.validateOnly;
      requests.push(`${isTried ? 'TRY' : method} ${path}`);
      return real(method, path, body);
    };
    bodies = new DeclaredBodies(0);
  });

  const map = (list: unknown, more: Record<string, string | Uint8Array> = {}): DeclaredMap => ({
    configMap: 'looks',
    files: { 'themes.json': typeof list === 'string' ? list : JSON.stringify(list), ...more },
  });
  const pass = async (...maps: DeclaredMap[]) => {
    requests.length = 0;
    return bodies.pass({ request, maps, managedBy: HOME });
  };
  const writes = () => requests.filter((line) => /^(POST|PATCH|DELETE)/.test(line)).map((line) => line.split(' ')[0]);
  const own = async () => (await admin.listThemes()).body.items.filter(({ source }) => source === 'own');
  const names = async () => (await own()).map(({ name }) => name);
  const read = async (name: string) => {
    const id = (await own()).find((theme) => theme.name === name)?.id ?? '';
    return (await admin.getTheme({ params: { id } })).body;
  };
  const evening = {
    name: 'Evening',
    schemes: { dark: { 'color.accent': '#FFCC00' } },
    shared: { 'radius.card': '0.50rem' },
  };
  const verdict = (seen: Awaited<ReturnType<typeof pass>>) => {
    const [found] = declaredVerdicts([{}], seen);
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  };

  it('makes each theme once, as the server would keep it, and then only looks', async () => {
    const nested = { name: 'Nested', schemes: { light: { color: { accent: { value: '#004488', type: 'color' } } } } };
    expect((await pass(map([evening, nested])))?.troubles).to.deep.equal([]);
    expect(writes()).to.deep.equal(['POST', 'POST']);
    expect((await read('Evening')).managedBy).to.deep.equal(HOME);
    expect((await read('Evening')).shared).to.deep.equal({ 'radius.card': '0.5rem' });
    await pass(map([evening, nested]));
    expect(writes(), 'looked at once more').to.deep.equal([]);
    const seen = await pass(map([evening, nested]));
    expect(requests, 'at rest').to.deep.equal(AT_REST);
    expect(verdict(seen)).to.equal('True InSync: The server holds all declared entries: 2 in all');
    bodies = new DeclaredBodies(0); // another leader
    await pass(map([evening, nested]));
    expect(writes()).to.deep.equal([]);
  });

  it('rejects changes by people, and names the resource', async () => {
    await pass(map([evening]));
    const [theme] = await own();
    const params = { id: theme?.id ?? '' };
    for (const answer of [
      await admin.updateTheme({ params, body: { name: 'Mine' } }),
      await admin.deleteTheme({ params }),
    ]) {
      expect(answer.status).to.equal(409);
      const { details } = (answer.body as unknown as Reported).error;
      expect(details).to.deep.include({ reason: 'managed-by-resource', managedBy: HOME });
    }
  });

  it('changes exactly the differences of another ConfigMap, down to tokens and schemes that left it', async () => {
    const before = { ...evening, description: 'x', schemes: { ...evening.schemes, light: { 'color.nav': '#eeeeee' } } };
    await pass(map([before]));
    const { id, createdAt } = await read('Evening');
    await pass(map([{ name: 'evening', base: 'cinema', schemes: { dark: { 'color.link': '#ffdd00' } } }]));
    expect(writes()).to.deep.equal(['PATCH']);
    const after = await read('evening');
    expect(after).to.deep.include({
      id,
      createdAt,
      base: 'cinema',
      schemes: { dark: { 'color.link': '#ffdd00' } },
      shared: {},
    });
    expect(after).to.not.have.property('description');
  });

  it('reverts drift, and creates deleted ones again', async () => {
    await pass(map([evening]));
    await pass(map([evening]));
    const { id } = await read('Evening');
    await request('PATCH', `/themes/${id}`, { schemes: { dark: { 'color.accent': '#00ccff' } } });
    await pass(map([evening]));
    expect(writes()).to.deep.equal(['PATCH']);
    expect((await read('Evening')).schemes.dark).to.deep.equal({ 'color.accent': '#ffcc00' });
    await request('DELETE', `/themes/${id}`);
    await pass(map([evening]));
    expect(await names()).to.deep.equal(['Evening']);
  });

  it('deletes themes that left the files, never themes of people, and reports when one is the default', async () => {
    await admin.createTheme({ body: { name: 'Mine', schemes: { dark: {} } } });
    await pass(map([evening, { name: 'Night', schemes: { dark: {} } }]));
    await pass(map([evening]));
    expect(await names()).to.deep.equal(['Evening', 'Mine']);
    const { id } = await read('Evening');
    const choose = (themeId: string | null) =>
      admin.setThemeSelection({ body: { scope: 'server', selection: { mode: 'dark', themeId } } });
    await choose(id);
    const kept = await pass();
    expect(declaredVerdicts([], kept)[0]?.message).to.match(
      /theme Evening, which is no longer declared: 409 CONFLICT server-default/,
    );
    await pass();
    await pass();
    expect(requests, 'and waits for a change').to.deep.equal(AT_REST);
    await choose(null);
    expect(declaredVerdicts([], await pass())).to.deep.equal([]);
    expect(await names()).to.deep.equal(['Mine']);
  });

  it("reports a refused body with file, entry and the API's own path, keeps the former one, and waits for a change", async () => {
    await pass(map([evening]));
    const spoilt = { name: 'Evening', schemes: { dark: { 'color.accent': 'red' } } };
    const seen = await pass(map([spoilt, { name: 'Night', schemes: { dark: {} } }]));
    expect(verdict(seen)).to.equal(
      'False ApiRefused: ConfigMap looks, themes.json, entry 1 (Evening): 400 VALIDATION_FAILED: The request is not valid ' +
        '(body.schemes.dark.color.accent: #rrggbb, #rrggbbaa or oklch(L C H / A), L and A 0-1, C 0-0.5, H 0-360)',
    );
    expect((await read('Evening')).schemes.dark).to.deep.equal({ 'color.accent': '#ffcc00' });
    expect(await names()).to.deep.equal(['Evening', 'Night']);
    for (let i = 0; i < 2; i++) await pass(map([spoilt, { name: 'Night', schemes: { dark: {} } }]));
    expect(requests).to.deep.equal(AT_REST);
  });

  it("leaves people's themes alone: a name in use is reported, and taken when it is free", async () => {
    const { body: mine } = await admin.createTheme({ body: { name: 'EVENING', schemes: { dark: {} } } });
    expect(verdict(await pass(map([evening])))).to.include('409 CONFLICT duplicate-name');
    await admin.updateTheme({ params: { id: mine.id }, body: { name: 'Mine' } });
    expect(verdict(await pass(map([evening])))).to.match(/^True InSync/);
  });

  it('deletes nothing while a file is unreadable or missing', async () => {
    await pass(map([evening]));
    const broken = ['{', '{"name":"x"}', '[1]', '[{"schemes":{}}]', '[{"name":"Other","schemes":{"dark":{}}},null]'];
    for (const text of broken)
      expect(verdict(await pass(map(text))), text).to.match(/^False ApiRefused: ConfigMap looks/);
    expect(verdict(await pass({ configMap: 'gone', files: undefined }))).to.include('ConfigMap gone does not exist');
    expect(await names()).to.include('Evening');
    const twice = await pass(map([evening, { ...evening, name: 'EVENING ' }]));
    expect(twice?.troubles).to.deep.equal([
      'ConfigMap looks, themes.json, entry 2 (EVENING ): the name is declared twice',
    ]);
  });

  it('reports files with unknown names', async () => {
    expect(verdict(await pass(map([], { 'theme.json': '[]' })))).to.include(
      'theme.json of ConfigMap looks: spec.declared has no such file',
    );
  });

  it('declares the rows of Home, once, and gives them back to people when it is gone', async () => {
    const home = (layout: unknown) =>
      map([], { 'home.json': typeof layout === 'string' ? layout : JSON.stringify(layout) });
    const rows = [{ kind: 'favorites', title: 'Loved' }, { kind: 'top-here' }, { kind: 'favorites', size: 8 }];
    const server = async () => (await admin.getHomeLayout({ query: { scope: 'server' } })).body;
    expect((await pass(home({ rows, hero: 'newest' })))?.troubles).to.deep.equal([]);
    expect(await server()).to.deep.include({ source: 'own', hero: 'newest', managedBy: HOME, revision: 1 });
    expect((await server()).rows.map(({ rowId }) => rowId)).to.deep.equal([
      'declared.favorites',
      'declared.top-here',
      'declared.favorites.2',
    ]);
    await pass(home({ rows, hero: 'newest' }));
    const seen = await pass(home({ rows, hero: 'newest' }));
    expect(requests, 'at rest').to.deep.equal(AT_REST);
    expect(verdict(seen)).to.match(/^True InSync/);
    expect((await server()).revision).to.equal(1);
    const mine = await admin.setHomeLayout({ body: { scope: 'server', rows: [] } });
    expect((mine.body as unknown as Reported).error.details.reason).to.equal('managed-by-resource');
    await pass(home({ rows: rows.slice(0, 1) }));
    expect(await server()).to.deep.include({ hero: 'off', revision: 2 });
    expect(verdict(await pass(home({ rows: [{ kind: 'nonsense' }] })))).to.match(/^False ApiRefused: .*home.json: 400/);
    expect(verdict(await pass(home('[')))).to.include('home.json: it must be a JSON object with rows');
    expect(verdict(await pass(home({ rows: [] }), home({ rows: [] })))).to.include('the layout is declared twice');
    expect((await server()).managedBy, 'kept while a file is unreadable').to.deep.equal(HOME);
    await pass(map([]));
    expect(await server()).to.deep.include({ source: 'built-in', revision: 0 });
    expect(await server()).to.not.have.property('managedBy');
  });

  it('sends an archive of icons once, as the set of its name, and again only when it changes', async () => {
    const archive = (icons: Record<string, string>) => map([], { 'icons-retro.zip': zipOf(icons) });
    const sets = async () => (await admin.listIconSets()).body.items.filter(({ source }) => source === 'own');
    expect(await pass(archive({ 'nav-home.svg': DRAWING, 'a.svg': DRAWING }))).to.deep.equal({
      ...{ troubles: [], applied: 1 },
    });
    const [set] = await sets();
    expect(set).to.deep.include({ name: 'retro', iconCount: 2, slotsFilled: 1 });
    expect(set?.managedBy).to.include({ name: 'home' });
    await pass(archive({ 'nav-home.svg': DRAWING, 'a.svg': DRAWING }));
    expect(requests).to.deep.equal(AT_REST);
    await pass(archive({ 'nav-home.svg': DRAWING }));
    expect((await sets()).map(({ id, iconCount }) => [id, iconCount])).to.deep.equal([[set?.id, 1]]);
    const evil = await pass(archive({ 'nav-home.svg': DRAWING, 'b.svg': '<svg xmlns="x"><script/></svg>' }));
    expect(evil?.troubles).to.deep.equal(['ConfigMap looks, icons-retro.zip: b.svg is refused: svg-active-content']);
    const again = await pass(archive({ 'nav-home.svg': DRAWING, 'b.svg': '<svg xmlns="x"><script/></svg>' }));
    expect([again?.troubles.length, writes()]).to.deep.equal([1, []]);
    await pass(map([]));
    expect(await sets()).to.deep.equal([]);
  });

  it('takes the sample as it is written', async () => {
    const text = readFileSync('manifests/samples/themes.yaml', 'utf8');
    const { resources, problems } = toResources(parseText(text, 'themes.yaml'));
    expect(problems).to.deep.equal([]);
    const [server] = resources.servers;
    const maps = (server?.spec.declared ?? []).map(({ configMapRef: { name } }) => {
      return { configMap: name, files: resources.configMaps.get(name) };
    });
    expect(await pass(...maps)).to.deep.equal({ troubles: [], applied: 1 });
    expect((await read('Evening')).contrast.filter(({ ok }) => !ok)).to.deep.equal([]);
    const rows = toResources(parseText(readFileSync('manifests/samples/home-rows.yaml', 'utf8'), 'home-rows.yaml'));
    expect(rows.problems).to.deep.equal([]);
    const files = rows.resources.configMaps.get('home-rows');
    expect(await pass(...maps, { configMap: 'home-rows', files })).to.deep.equal({
      troubles: [],

      applied: 2,
    });
  });

  it('continues after the server became unreachable in the middle', async () => {
    let left = 4;
    const failing: SendRequest = async (...words) => {
      left -= 1;
      if (left < 0) throw new Unreachable('gone');
      return request(...words);
    };
    const maps = [map([evening, { name: 'Night', schemes: { dark: {} } }])];
    expect(await bodies.pass({ request: failing, maps, managedBy: HOME })).to.equal(undefined);
    expect(await names()).to.deep.equal(['Evening']);
    await pass(...maps);
    expect(await names()).to.deep.equal(['Evening', 'Night']);
  });

  it('is a part of the pass of a MediaServer: by the ConfigMap it names, and gone with the last of it', async () => {
    const here = await running({ ...specs['quickstart'] });
    const before = here.tools.connect({ namespace: 'media', name: 'home' }, '');
    const route: SendRequest = (method, path, body) =>
      /^\/(?:themes|library-types|custom-fields|icon-sets|home)/.test(path)
        ? request(method, path, body)
        : before.request(method, path, body);
    here.tools.connect = () => ({ ...before, request: route });
    const put = (list: unknown) =>
      here.kube.put({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'looks', namespace: 'media' },
        data: { 'themes.json': JSON.stringify(list) },
        binaryData: { 'icons-retro.zip': zipOf({ 'nav-home.svg': DRAWING }).toString('base64') },
      });
    expect(here.condition('DeclaredReady')).to.equal('absent');
    put([evening]);
    here.change({ declared: [{ configMapRef: { name: 'looks' } }] });
    await here.settle();
    expect(here.condition('DeclaredReady')).to.equal('True InSync');
    expect(here.condition('Degraded')).to.equal('False AllReady');
    expect((await read('Evening')).managedBy).to.include({ kind: 'MediaServer', namespace: 'media', name: 'home' });
    put([{ ...evening, schemes: { dark: { 'color.accent': 'red' } } }]);
    await here.settle();
    expect(here.message('DeclaredReady')).to.include('entry 1 (Evening): 400 VALIDATION_FAILED');
    here.change({ declared: [], suspend: true });
    await here.settle();
    expect(await names()).to.deep.equal(['Evening']);
    here.change({ suspend: false });
    await here.settle();
    expect(await names()).to.deep.equal([]);
    expect(here.condition('DeclaredReady')).to.equal('absent');
  });
});
