import { expect } from 'chai';
import { setCustomValues, type Values } from '#areas/custom-fields/public.ts';
import { principalOf } from '#identity/account-row.ts';
import type { Principal } from '#identity/principal.ts';
import { ApiError } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { issuesOf, reasonOf } from '#support/themes.ts';
import { indexCustomField, purgeCustomField } from '#workers/custom-fields.ts';
import type { Work } from '#workers/work.ts';

const UID = '01900000-0000-7000-8000-00000000beef';
const HERE = { namespace: 'media', kind: 'MediaServer' as const, name: 'home', uid: UID };

describe('Custom fields', () => {
  let api: Api;
  let owner: Person;
  let admin: TestClient;
  let member: TestClient;
  let viewer: Person;
  let films: GivenLibrary;
  let made = 0;

  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    viewer = await api.given.member();
    [admin, member] = [api.as(owner), api.as(viewer)];
    films = await givenLibrary(api.deps.db, 'movies');
  });

  const work = () => ({ ...api.deps, signal: new AbortController().signal }) as unknown as Work;
  const draft = (more: object = {}) => ({
    ...{ key: `field_${++made}`, label: 'Shelf', kind: 'text' as const, itemTypes: ['movie'] },
    ...more,
  });
  const create = async (more: object = {}) => {
    const answer = await admin.createCustomField({ body: draft(more) });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const change = (id: string, body: object, more: object = {}) =>
    admin.updateCustomField({ params: { id }, body, ...more });
  const film = (title: string, more: object = {}) => givenItem(api.deps.db, films, { type: 'movie', title, ...more });
  const set = async (itemId: string, values: Values, by: Person = owner): Promise<string> => {
    const who = (await principalOf(api.deps.db, by.accountId)) as Principal;
    return api.deps.db
      .transaction((tx) => setCustomValues({ db: tx, who }, [itemId], { values }))
      .then(
        ({ refused }) =>
          refused.flatMap(({ issues }) => issues.map(({ path, code }) => `${path.join('.')} ${code}`)).join() || 'ok',
        (error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          return error.code;
        },
      );
  };
  const values = async (id: string, by = member) =>
    (await by.getItem({ params: { id }, query: { include: 'custom' } })).body.custom;
  const found = async (filter: string, by = member) => {
    const answer = await by.listLibraryItems({ params: { id: films.id }, query: { filter, limit: 200 } });
    return answer.status === 200 ? answer.body.items.map(({ title }) => title) : issuesOf(answer);
  };

  it('hold a value of each kind, checked at every write', async () => {
    const id = await film('Kinds');
    const person = newId();
    await api.deps.db('people').insert({ id: person, name: 'Ada', name_folded: 'ada' });
    const other = await film('Target');
    const options = [
      { value: 'dvd', label: 'DVD' },
      { value: 'vhs', label: 'VHS' },
    ];
    const kinds: [string, object, unknown, unknown][] = [
      ['text', { maxLength: 5 }, 'A3', 'too long'],
      ['long-text', {}, 'a\n**b**', '<b>x</b>'],
      ['number', { min: 0, max: 5, decimals: 1 }, 2.5, 2.55],
      ['boolean', {}, true, 'true'],
      ['date', {}, '2024-02-29', '2023-02-29'],
      ['choice', { options }, 'dvd', 'cd'],
      ['choices', { options }, ['vhs', 'dvd'], ['dvd', 'cd']],
      ['url', {}, 'https://example.org/a', 'javascript:alert(1)'],
      ['duration', {}, 90_000, -1],
      ['rating', {}, 7.5, 11],
      ['person', {}, person, newId()],
      ['item', { targetTypes: ['movie'] }, other, newId()],
    ];
    const wanted: Record<string, unknown> = {};
    for (const [kind, more, good, bad] of kinds) {
      const { key } = await create({ kind, ...more });
      wanted[key] = good;
      expect(await set(id, { [key]: bad as string }), `${kind} ${JSON.stringify(bad)}`).to.match(
        new RegExp(`^body\\.custom\\.${key} \\w+$`),
      );
      expect(await set(id, { [key]: good as string }), kind).to.equal('ok');
    }
    expect(await values(id)).to.deep.equal(wanted);
    const hidden = await film('Hidden', { trashed_at: new Date() });
    await api.deps
      .db('credits')
      .insert({ id: newId(), item_id: hidden, person_id: person, role: 'actor', position: 0 });
    expect(Object.values((await values(id)) as object), 'a person of hidden items').to.not.include(person);
    await api.deps.db('credits').where({ person_id: person }).delete();
    const [text = ''] = Object.keys(wanted);
    expect(await set(id, { [text]: null })).to.equal('ok');
    expect(await values(id)).to.not.have.property(text);
    expect(await set(id, { nothing: 'x' })).to.equal('body.custom.nothing unknown_field');
    await api.deps.db('items').where({ id: other }).delete();
    expect(Object.keys((await values(id)) as object)).to.have.length(kinds.length - 2);
  });

  it('bind to item types and libraries, and lose sight of values that no longer fit', async () => {
    const { id: fieldId, key } = await create();
    const [id, shows] = [await film('Bound'), await givenLibrary(api.deps.db, 'shows')];
    const show = await givenItem(api.deps.db, shows, { type: 'show', title: 'Show' });
    expect(await set(show, { [key]: 'x' })).to.equal(`body.custom.${key} not_for_type`);
    expect(await set(id, { [key]: 'x' })).to.equal('ok');
    await change(fieldId, { itemTypes: ['show'] });
    expect(await values(id)).to.deep.equal({});
    expect(await found(`custom.${key}:eq:x`)).to.deep.equal([]);
    await change(fieldId, { itemTypes: ['movie', 'show'], libraryIds: [films.id] });
    expect(await values(id)).to.deep.equal({ [key]: 'x' });
    expect(await set(show, { [key]: 'x' })).to.equal(`body.custom.${key} not_for_type`);
    expect(issuesOf(await admin.createCustomField({ body: draft({ libraryIds: [shows.id] }) }))).to.deep.equal([
      'body/libraryIds reserved',
    ]);
  });

  it('are filtered, sorted, counted and listed for builders', async () => {
    const shelf = await create({ kind: 'number', inSort: true, inFacets: true });
    const options = [
      { value: 'dvd', label: 'DVD' },
      { value: 'vhs', label: 'VHS' },
    ];
    const media = await create({ kind: 'choices', options, inFacets: true });
    const place = await create({ label: 'Place' });
    const day = await create({ kind: 'date' });
    const own = await create({ kind: 'boolean' });
    const rows: [string, Values][] = [
      [
        'S one',
        {
          [shelf.key]: 3,
          [media.key]: ['dvd', 'vhs'],
          [place.key]: 'Zürich',
          [day.key]: '2024-01-31',
          [own.key]: true,
        },
      ],
      ['S two', { [shelf.key]: 1, [media.key]: ['dvd'], [place.key]: 'Bern', [own.key]: false }],
      ['S three', { [shelf.key]: 2 }],
    ];
    for (const [title, one] of rows) expect(await set(await film(title), one)).to.equal('ok');
    const all = ['S one', 'S three', 'S two'];
    expect(await found(`custom.${shelf.key}:gte:2;title:starts:S`)).to.have.members(['S one', 'S three']);
    expect(await found(`custom.${media.key}:in:vhs`)).to.deep.equal(['S one']);
    expect(await found(`custom.${media.key}:ne:vhs;title:starts:S `)).to.have.members(['S two', 'S three']);
    expect(await found(`custom.${place.key}:eq:zurich`)).to.deep.equal(['S one']);
    expect(await found(`custom.${place.key}:contains:er`)).to.deep.equal(['S two']);
    expect(await found(`custom.${day.key}:between:2024-01-01,2024-12-31`)).to.deep.equal(['S one']);
    expect(await found(`custom.${own.key}:eq:true`)).to.deep.equal(['S one']);
    expect(await found(`custom.${shelf.key}:exists:true`)).to.have.members(all);
    expect(await found(`custom.${media.key}:eq:cd`)).to.deep.equal(['query/filter/0 bad_value']);
    expect(await found('custom.none:eq:x')).to.deep.equal(['query/filter/0 unknown_field']);
    const counted = await create({ inFilter: false, inFacets: true });
    expect(await found(`custom.${counted.key}:eq:x`)).to.deep.equal(['query/filter/0 bad_operator']);

    const sorted = () =>
      member.listLibraryItems({
        params: { id: films.id },
        query: { sort: `-custom.${shelf.key}`, filter: `custom.${shelf.key}:exists:true` },
      });
    expect(issuesOf(await sorted())).to.deep.equal(['query/sort index_building']);
    await indexCustomField({ fieldId: shelf.id }, work());
    expect((await sorted()).body.items.map(({ title }) => title)).to.deep.equal(['S one', 'S three', 'S two']);
    const listing = (await admin.listCustomFields({ query: { counts: true } })).body.items;
    expect(listing.find(({ id }) => id === shelf.id)).to.include({ indexState: 'ready', valueCount: 3 });

    const fields = `custom.${media.key},custom.${shelf.key}`;
    const { facets } = (await member.getLibraryFacets({ params: { id: films.id }, query: { fields } })).body;
    expect(facets[0]?.values.map(({ value, label, count }) => [value, label, count])).to.deep.equal([
      ['dvd', 'DVD', 2],
      ['vhs', 'VHS', 1],
    ]);
    expect(facets[1]).to.include({ min: 1, max: 3 });
    const infos = (await member.listLibraryFields({ params: { id: films.id } })).body;
    expect(infos.items.find(({ name }) => name === `custom.${media.key}`)).to.deep.include({
      ...{ kind: 'enum', values: ['dvd', 'vhs'], facet: true, custom: true, types: ['movie'] },
    });
    expect(infos.sorts.map(({ name }) => name)).to.include(`custom.${shelf.key}`);
    const listed = (
      await member.listLibraryItems({
        params: { id: films.id },
        query: { include: 'custom', filter: `custom.${place.key}:eq:bern` },
      })
    ).body.items;
    expect((listed[0] as { custom: object }).custom).to.deep.include({ [shelf.key]: 1, [media.key]: ['dvd'] });
  });

  it('for editors do not exist for others', async () => {
    const { key } = await create({
      audience: 'editors',
      inFacets: true,
      kind: 'choice',
      options: [{ value: 'x', label: 'X' }],
    });
    const id = await film('Secret');
    expect(await set(id, { [key]: 'x' })).to.equal('ok');
    expect(await values(id)).to.not.have.property(key);
    expect(await values(id, admin)).to.have.property(key);
    expect(await found(`custom.${key}:eq:x`)).to.deep.equal(['query/filter/0 unknown_field']);
    expect(await found(`custom.${key}:eq:x`, admin)).to.deep.equal(['Secret']);
    const facet = { params: { id: films.id }, query: { fields: `custom.${key}` } };
    expect((await member.getLibraryFacets(facet)).status).to.equal(400);
    expect((await admin.getLibraryFacets(facet)).status).to.equal(200);
    const exported = async (by: TestClient) => {
      const query = { format: 'ndjson' as const, filter: 'title:eq:Secret', fields: 'custom' };
      const { body } = await by.exportLibraryItems({ params: { id: films.id }, query });
      return (body as unknown as Buffer).toString().split('\n')[0];
    };
    expect(await exported(member)).to.equal('{"custom":{}}');
    expect(await exported(admin)).to.equal(`{"custom":{"${key}":"x"}}`);
    const names = async (by: TestClient) =>
      (await by.listLibraryFields({ params: { id: films.id } })).body.items.map(({ name }) => name);
    expect(await names(member)).to.not.include(`custom.${key}`);
    expect(await names(admin)).to.include(`custom.${key}`);
    const keys = async (by: TestClient) => (await by.listCustomFields()).body.items.map((one) => one.key);
    expect(await keys(member)).to.not.include(key);
    expect(await keys(admin)).to.include(key);
    expect(await set(id, { [key]: 'x' }, viewer)).to.equal(`body.custom.${key} unknown_field`);
  });

  it('are set by viewers where the field says so, and required ones are not cleared', async () => {
    const open = await create({ editableBy: 'viewers', required: true });
    const closed = await create();
    const id = await film('Edited');
    expect(await set(id, { [open.key]: 'x' }, viewer)).to.equal('ok');
    expect(await set(id, { [closed.key]: 'x' }, viewer)).to.equal('FORBIDDEN');
    expect(await set(id, { [open.key]: null }, viewer)).to.equal(`body.custom.${open.key} required`);
  });

  it('refuse reserved names and members of other kinds, and a key that is taken', async () => {
    const body = draft({ key: 'year', unit: 'cm', options: [{ value: 'a', label: 'A' }] });
    expect(issuesOf(await admin.createCustomField({ body }))).to.have.members([
      ...['body/key reserved', 'body/options reserved', 'body/unit reserved'],
    ]);
    expect(issuesOf(await admin.createCustomField({ body: draft({ kind: 'choice' }) }))).to.deep.equal([
      'body/options required',
    ]);
    expect(issuesOf(await admin.createCustomField({ body: draft({ kind: 'rating', default: 12 }) }))).to.deep.equal([
      'body/default too_big',
    ]);
    const { key } = await create();
    expect(reasonOf(await admin.createCustomField({ body: draft({ key }) }))).to.equal('duplicate-key');
    const dry = await admin.createCustomField({ body: draft({ validateOnly: true, key: 'never' }) });
    expect([dry.status, dry.body.key]).to.deep.equal([200, 'never']);
    expect((await admin.listCustomFields()).body.items.map((one) => one.key)).to.not.include('never');
  });

  it('widen, replace options and count values outside of new bounds', async () => {
    const options = ['a', 'b', 'c'].map((value) => ({ value, label: value.toUpperCase() }));
    const field = await create({ kind: 'choices', options });
    const [one, two] = [await film('W one'), await film('W two')];
    await set(one, { [field.key]: ['a', 'b'] });
    await set(two, { [field.key]: ['b', 'c'] });
    const kept = options.slice(0, 1);
    const refused = errorOf(await change(field.id, { options: kept }));
    expect(refused.details).to.deep.include({ reason: 'option-in-use', option: 'b', count: 2 });
    const replaced = [...kept, { value: 'b', replaceBy: 'a' }, { value: 'c', replaceBy: null }];
    expect((await change(field.id, { options: replaced })).body.changed).to.deep.equal({
      values: 2,
      removed: 1,
      outside: 0,
    });
    expect([await values(one), await values(two)]).to.deep.equal([{ [field.key]: ['a'] }, { [field.key]: ['a'] }]);
    expect(reasonOf(await change(field.id, { kind: 'number' }))).to.equal('kind-narrows');

    const number = await create({ kind: 'number', max: 10 });
    await set(one, { [number.key]: 7 });
    expect((await change(number.id, { max: 5 })).body.changed).to.include({ outside: 1 });
    expect(await values(one)).to.include({ [number.key]: 7 });
    expect((await change(number.id, { kind: 'text' })).body.changed).to.include({ values: 1 });
    expect(await values(one)).to.include({ [number.key]: '7' });
    const flag = await create({ kind: 'boolean' });
    await set(one, { [flag.key]: true });
    expect((await change(flag.id, { kind: 'choice' })).body.options).to.have.length(2);
    expect(await values(one)).to.include({ [flag.key]: 'true' });
    const emitted = await api.deps.db('outbox').where({ event: 'item.updated' }).select('payload');
    expect(emitted.some(({ payload }) => (payload as { changed?: string[] }).changed?.includes('custom'))).to.equal(
      true,
    );
  });

  it('go at once, come back within 30 days, and are purged after', async () => {
    const { id: fieldId, key } = await create();
    const id = await film('Deleted');
    await set(id, { [key]: 'kept' });
    const remove = () => admin.deleteCustomField({ params: { id: fieldId } });
    expect((await remove()).status).to.equal(204);
    expect(await values(id)).to.deep.equal({});
    expect(await found(`custom.${key}:eq:kept`)).to.deep.equal(['query/filter/0 unknown_field']);
    expect((await remove()).status).to.equal(404);
    expect(reasonOf(await admin.createCustomField({ body: draft({ key }) }))).to.equal('duplicate-key');
    expect(reasonOf(await admin.createCustomField({ body: draft({ key, kind: 'number', restore: true }) }))).to.equal(
      'duplicate-key',
    );
    await purgeCustomField({ fieldId }, work());
    expect((await admin.createCustomField({ body: draft({ key, restore: true }) })).body.id).to.equal(fieldId);
    expect(await values(id)).to.deep.equal({ [key]: 'kept' });
    await remove();
    const { db } = api.deps;
    await db('custom_fields')
      .where({ id: fieldId })
      .update({ deleted_at: new Date(Date.now() - 31 * 86_400_000) });
    await purgeCustomField({ fieldId }, work());
    expect(await db('custom_values').where({ field_id: fieldId })).to.deep.equal([]);
    expect((await admin.createCustomField({ body: draft({ key, kind: 'number' }) })).status).to.equal(201);
  });

  it('of a resource are changed by the operator alone', async () => {
    expect((await admin.createCustomField({ body: draft({ managedBy: HERE }) })).status).to.equal(403);
    const operator = api.as({ ...owner, headers: { authorization: `Bearer ${api.operatorKey}` } });
    const { id, revision } = (await operator.createCustomField({ body: draft({ managedBy: HERE }) })).body;
    expect(reasonOf(await change(id, { label: 'x' }))).to.equal('managed-by-resource');
    expect(reasonOf(await admin.deleteCustomField({ params: { id } }))).to.equal('managed-by-resource');
    const changed = await operator.updateCustomField({ params: { id }, body: { label: 'x', revision } });
    expect(changed.body).to.include({ label: 'x', revision: revision + 1 });
    expect(reasonOf(await operator.updateCustomField({ params: { id }, body: { label: 'y', revision } }))).to.equal(
      'revision',
    );
  });
});
