import { expect } from 'chai';
import { catalogueIds } from '#platform/agents/agent.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { checkAgents } from '#platform/agents/health.ts';
import { type Api, startApi } from '#support/api.ts';
import { faults } from '#support/catalogues/catalogue.ts';
import { localCatalogues, localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import type { Person } from '#support/given.ts';
import { errorOf } from '#support/signing-in.ts';

type Fake = Awaited<ReturnType<typeof startTmdb>>;

/** An API whose agents are fakes; those without one have no address that answers. */
async function withFakes(environment: Record<string, string> = {}): Promise<{ api: Api; tmdb: Fake }> {
  const api = await startApi(environment);
  const tmdb = await startTmdb();
  Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
  await placeAgents(api, { tmdb: tmdb.url });
  return { api, tmdb };
}

describe('metadata agents and keys', () => {
  let api: Api;
  let tmdb: Fake;
  let person: Person;
  before(async () => {
    ({ api, tmdb } = await withFakes({ FOYER_OMDB_API_KEY: 'of the environment' }));
    person = await api.given.admin();
  });
  const me = () => api.as(person);
  const keyOf = async (name: string) => (await me().listCatalogueKeys()).body.items.find((one) => one.name === name);
  const agentOf = async (id: string) => (await me().listMetadataAgents()).body.items.find((one) => one.id === id);

  it('lists every agent with its types, its keys, and why it is not available', async () => {
    const { items } = (await me().listMetadataAgents()).body;
    expect(items.map(({ id }) => id)).to.include.members([
      ...['nfo', 'files', 'spine', 'wikidata', 'musicbrainz', 'coverartarchive', 'openlibrary', 'anilist', 'tmdb'],
    ]);
    expect(items.find(({ id }) => id === 'tmdb')).to.deep.include({
      ...{ available: false, unavailableReason: 'missing-key', offline: false, source: 'built-in' },
      keys: [{ name: 'tmdb.apiKey', env: 'FOYER_TMDB_API_KEY', optional: false }],
    });
    expect(items.find(({ id }) => id === 'nfo')).to.include({ available: true, offline: true });
    const music = (await me().listMetadataAgents({ query: { libraryType: 'music' } })).body.items;
    expect(music.map(({ id }) => id))
      .to.include.members(['musicbrainz'])
      .and.not.include('tmdb');
  });

  it('saves a key sealed, has it in force at once, and answers no secret', async () => {
    const before = await me().listMetadataAgents();
    expect(before.body.defaults['movies']).to.not.include('tmdb');
    const saved = await me().setCatalogueKeys({ body: { 'tmdb.apiKey': tmdbKey }, query: { check: true } });
    expect(saved.body.checks).to.deep.equal([{ name: 'tmdb.apiKey', ok: true }]);
    expect(JSON.stringify(saved.body)).to.not.include(tmdbKey);
    const { db } = api.deps;
    const stored = JSON.stringify(await db('catalogue_keys').select());
    expect(stored).to.include('tmdb.apiKey').and.not.include(tmdbKey);
    const events = JSON.stringify(await db('outbox').where({ event: 'settings.changed' }).select());
    expect(events).to.include('metadata.keys').and.not.include(tmdbKey);
    expect(JSON.stringify(await db('audit_log').select())).to.not.include(tmdbKey);
    expect(await keyOf('tmdb.apiKey')).to.include({ source: 'app', secret: true, overridden: false });
    expect(await agentOf('tmdb')).to.include({ available: true });
    const after = (await me().listMetadataAgents()).body.defaults;
    expect(after['movies']).to.deep.equal(['nfo', 'files', 'spine', 'tmdb', 'wikidata', 'omdb']);
  });

  it('prefers the saved key to the environment, which applies again when it is removed', async () => {
    expect(await keyOf('omdb.apiKey')).to.include({ source: 'environment', overridden: false });
    await me().setCatalogueKeys({ body: { 'omdb.apiKey': 'saved', 'igdb.clientId': 'a name' } });
    expect(await keyOf('omdb.apiKey')).to.include({ source: 'app', overridden: true });
    expect(await keyOf('igdb.clientId')).to.include({ value: 'a name', secret: false });
    await me().setCatalogueKeys({ body: { 'omdb.apiKey': null } });
    expect(await keyOf('omdb.apiKey')).to.include({ source: 'environment', overridden: false });
  });

  it('refuses unknown names and empty texts, and then saves nothing', async () => {
    for (const [body, path] of [
      [{ 'tmdb.apiKey': 'x', 'tmdb.secret': 'y' }, 'body.tmdb.secret'],
      [{ 'tmdb.apiKey': 'x', 'tvdb.apiKey': '' }, 'body.tvdb.apiKey'],
    ] as const) {
      const refused = await me().setCatalogueKeys({ body });
      expect(refused.status).to.equal(400);
      const { issues } = errorOf(refused).details as unknown as { issues: { path: string[] }[] };
      expect(issues.map((issue) => issue.path.join('.'))).to.deep.equal([path]);
    }
    const { status } = await me().setCatalogueKeys({ body: {} });
    expect(status).to.equal(400);
    expect(await keyOf('tvdb.apiKey')).to.include({ source: 'missing' });
    expect(await keyOf('tmdb.apiKey')).to.include({ source: 'app' });
  });

  it('reports a key that the catalogue refuses, and saves it', async () => {
    const { body } = await me().setCatalogueKeys({ body: { 'tmdb.apiKey': 'wrong' }, query: { check: true } });
    expect(body.checks).to.deep.equal([{ name: 'tmdb.apiKey', ok: false, reason: 'refused' }]);
    expect((await keyOf('tmdb.apiKey'))?.refusedAt).to.be.a('string');
    await me().setCatalogueKeys({ body: { 'tmdb.apiKey': tmdbKey } });
    expect(await keyOf('tmdb.apiKey')).to.not.have.property('refusedAt');
    expect(await agentOf('tmdb')).to.include({ available: true });
  });

  it('shows agents as the last check found them, and queries none for an answer', async () => {
    const { deps } = api;
    const signal = new AbortController().signal;
    await placeAgents(api, Object.fromEntries(catalogueIds.map((id) => [id, tmdb.url])));
    tmdb.fault = faults.html();
    await checkAgents(deps, localCatalogues(deps), signal);
    const sent = tmdb.got.length;
    expect(await agentOf('tmdb')).to.include({ available: false, unavailableReason: 'unreachable' });
    expect(tmdb.got).to.have.length(sent);
    tmdb.fault = undefined;
  });

  it('tests the catalogues with settings before they are saved, and sends no key to an address that is not saved', async () => {
    const here = Object.fromEntries(catalogueIds.map((id) => [id, tmdb.url]));
    await placeAgents(api, { ...here, openlibrary: `${tmdb.url}/nowhere` });
    await api.deps.redis.flushdb();
    const check = async (values: object) =>
      (await me().checkSettings({ body: { group: 'metadata', values } })).body.steps[0];
    tmdb.got.length = 0;
    const elsewhere = await startTmdb();
    await check({ 'metadata.baseUrls': { ...here, tmdb: elsewhere.url } });
    expect(elsewhere.got).to.deep.equal([]);
    expect(tmdb.got.length).to.be.greaterThan(0);
    tmdb.fault = faults.html();
    await api.deps.redis.flushdb();
    expect(await check({})).to.include({ state: 'failed' });
    tmdb.fault = undefined;
  });

  it('refuses keys that the resource provides', async () => {
    const managed = await startApi({
      FOYER_CATALOGUE_KEYS: JSON.stringify({ 'tmdb.apiKey': 'of the resource' }),
      FOYER_MANAGED_BY: JSON.stringify({ kind: 'MediaServer', namespace: 'media', name: 'home', uid: 'u' }),
    });
    const admin = managed.as(await managed.given.admin());
    const refused = await admin.setCatalogueKeys({ body: { 'tmdb.apiKey': 'x', 'tvdb.apiKey': 'y' } });
    expect(refused.status).to.equal(409);
    expect(errorOf(refused).details).to.deep.include({ reason: 'managed-by-resource', fields: ['tmdb.apiKey'] });
    const { items } = (await admin.listCatalogueKeys()).body;
    expect(items.find(({ name }) => name === 'tvdb.apiKey')?.source).to.equal('missing');
    expect(items.find(({ name }) => name === 'tmdb.apiKey')?.source).to.equal('environment');
  });
});
