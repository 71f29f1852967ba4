// The library types and custom fields of spec.declared through the real API, with the operator's own key.
import { expect } from 'chai';
import { DeclaredBodies } from '#operator/declared/bodies.ts';
import { declaredVerdicts } from '#operator/declared/verdict.ts';
import { type SendRequest, serverClient } from '#operator/server-api/server-client.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { reasonOf } from '#support/themes.ts';

const HOME = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: '01900000-0000-7000-8000-00000000c0de' };
const AT_REST = [
  'GET /icon-sets',
  'GET /themes',
  'GET /library-types',
  'GET /custom-fields',
  'GET /home/layout?scope=server',
];

const concert = {
  key: 'custom:concerts',
  name: 'Concerts',
  base: 'movies',
  naming: [{ pattern: '{parent}/{date} {title}', sample: 'Björk/1997-07-24 Roseland', on: 'path' }],
};
const venue = {
  ...{ key: 'venue', label: 'Venue', kind: 'choice', itemTypes: ['movie'], group: 'Stage' },
  options: [
    { value: 'hall', label: 'Hall' },
    { value: 'park', label: 'Park', color: '#30a46c' },
  ],
};

describe('library types and custom fields of spec.declared', () => {
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

  const pass = async (types: readonly object[], fields: readonly object[]) => {
    requests.length = 0;
    const files = { 'library-types.json': JSON.stringify(types), 'custom-fields.json': JSON.stringify(fields) };
    const seen = await bodies.pass({ request, maps: [{ configMap: 'shelf', files }], managedBy: HOME });
    const [found] = declaredVerdicts([{}], seen);
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  };
  const writes = () => requests.filter((line) => /^(POST|PATCH|DELETE)/.test(line)).map((line) => line.split('?')[0]);
  const types = async () => (await admin.listLibraryTypes({ query: { source: 'own' } })).body.items;
  const fields = async () => (await admin.listCustomFields()).body.items;

  it('are made once, and nothing is written at rest', async () => {
    expect(await pass([concert], [venue])).to.equal('True InSync: The server holds all declared entries: 2 in all');
    expect(writes()).to.deep.equal(['POST /library-types', 'POST /custom-fields']);
    expect((await types())[0]).to.deep.include({ key: concert.key, managedBy: HOME, naming: concert.naming });
    expect((await fields())[0]).to.deep.include({ key: 'venue', managedBy: HOME, options: venue.options });
    await pass([concert], [venue]);
    expect(writes(), 'compared once more').to.deep.equal([]);
    await pass([concert], [venue]);
    expect(requests, 'at rest').to.deep.equal(AT_REST);
    bodies = new DeclaredBodies(0); // another leader
    await pass([concert], [venue]);
    expect(writes()).to.deep.equal([]);
  });

  it('are changed where they differ, and reverted after drift', async () => {
    await pass([concert], [venue]);
    const [field] = await fields();
    const { group: _gone, ...ungrouped } = venue;
    await pass([{ ...concert, name: 'Gigs' }], [{ ...ungrouped, label: 'Place' }]);
    expect(writes()).to.deep.equal(['PATCH /library-types/custom%3Aconcerts', `PATCH /custom-fields/${field?.id}`]);
    expect((await types())[0]).to.include({ name: 'Gigs', plural: 'Gigs' });
    expect((await fields())[0])
      .to.include({ label: 'Place', id: field?.id })
      .and.to.not.have.property('group');
    await request('PATCH', `/custom-fields/${field?.id}`, { label: 'Drift' });
    await pass([{ ...concert, name: 'Gigs' }], [{ ...ungrouped, label: 'Place' }]);
    expect((await fields())[0]).to.include({ label: 'Place' });
  });

  it('are closed to people, and go with their entries', async () => {
    await pass([concert], [venue]);
    const [{ id } = { id: '' }] = await fields();
    const answers = [
      await admin.updateLibraryType({ params: { key: concert.key }, body: { name: 'Mine' } }),
      await admin.deleteCustomField({ params: { id } }),
    ];
    expect(answers.map(reasonOf)).to.deep.equal(['managed-by-resource', 'managed-by-resource']);
    await pass([], []);
    expect([await types(), await fields()]).to.deep.equal([[], []]);
    await pass([concert], [venue]);
    expect((await fields())[0]?.id, 'brought back with its values').to.equal(id);
  });

  it('stay while they are in use, with the reason', async () => {
    await pass([concert], [venue]);
    await admin.createLibrary({ body: { name: 'Gigs', type: concert.key } });
    const films = await givenLibrary(api.deps.db, 'movies');
    const film = await givenItem(api.deps.db, films, { type: 'movie', title: 'Live' });
    const [{ id } = { id: '' }] = await fields();
    const value = { item_id: film, field_id: id, text_value: 'park', text_key: 'park' };
    await api.deps.db('custom_values').insert(value);
    const verdict = await pass([], [{ ...venue, options: venue.options.slice(0, 1) }]);
    expect(verdict).to.match(
      /^False ApiRefused: library type custom:concerts, which is no longer declared: 409 CONFLICT type-in-use/,
    );
    expect(verdict).to.include('ConfigMap shelf, custom-fields.json, entry 1 (venue): 409 CONFLICT option-in-use');
    const unnamed = await pass([concert], [{ label: 'x' }]);
    expect(unnamed).to.include('custom-fields.json, entry 1: it must be an object with a key');
  });
});
