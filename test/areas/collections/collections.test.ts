import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { errorOf as failureOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenState, givenTag } from '#support/given-items.ts';

const errorOf = (answer: { body: unknown }) => failureOf(answer).details;

const rulesOf = (match: object, more: object = {}) => ({
  match: match as never,
  types: [],
  libraryIds: [],
  sort: 'title',
  ...more,
});

describe('collections', () => {
  let api: Api;
  let owner: Person;
  let member: Person;
  let other: Person;
  let child: Person;
  let guest: Person;
  let films: GivenLibrary;
  let hidden: GivenLibrary;
  const ids: string[] = [];
  let secret: string;

  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    owner = await api.given.owner();
    member = await api.given.member();
    other = await api.given.member();
    child = await api.given.child();
    guest = await api.given.guest();
    films = await givenLibrary(db, 'movies', { everyone: true, access_roles: ['child', 'guest'] });
    hidden = await givenLibrary(db, 'movies', { everyone: false });
    for (const [i, title] of ['Anna', 'Bob', 'Cleo', 'Dora', 'Emil', 'Fay'].entries())
      ids.push(await givenItem(db, films, { title, top: true, year: 2000 + i, runtime_ms: 60_000 * (i + 1) }));
    secret = await givenItem(db, hidden, { title: 'Secret', top: true, year: 2001 });
  });

  beforeEach(async () => {
    await api.deps.db('collections').delete();
    await api.deps.db('collection_tombstones').delete();
    await api.deps.redis.flushdb();
  });

  const at = (i: number): string => ids[i] ?? '';
  let made = 0;
  const draft = (more: object = {}) => {
    made += 1;
    return { name: `Collection ${made}`, ...more };
  };
  const make = async (more: object = {}, by = member): Promise<string> => {
    const answer = await api.as(by).createCollection({ body: draft(more) });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.id;
  };
  const titles = async (id: string, by = member, query: Record<string, string | number> = {}): Promise<string[]> => {
    const answer = await api.as(by).listCollectionItems({ params: { id }, query });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.items.map(({ title }) => title);
  };
  const names = async (by: Person, query: Record<string, string | number> = {}): Promise<string[]> =>
    (await api.as(by).listCollections({ query })).body.items.map(({ name }) => name);
  const sees = async (by: Person, id: string): Promise<boolean> =>
    (await api.as(by).getCollection({ params: { id } })).status === 200;

  describe('by hand', () => {
    it('keeps items in the order of adding, each once', async () => {
      const id = await make({ itemIds: [at(2), at(0)] });
      const add = (body: { itemIds: string[]; afterItemId?: string | null }) =>
        api.as(member).addCollectionItems({ params: { id }, body });
      expect((await add({ itemIds: [at(0), at(1)] })).body).to.deep.include({ added: 1, already: 1 });
      expect(await titles(id)).to.deep.equal(['Cleo', 'Anna', 'Bob']);
      await add({ itemIds: [at(3)], afterItemId: null });
      await add({ itemIds: [at(4), at(5)], afterItemId: at(2) });
      expect(await titles(id)).to.deep.equal(['Dora', 'Cleo', 'Emil', 'Fay', 'Anna', 'Bob']);
      expect(await titles(id, member, { sort: '-title', filter: 'year:gte:2002' })).to.deep.equal([
        'Fay',
        'Emil',
        'Dora',
        'Cleo',
      ]);
    });

    it('removes first, moves then, passes over unknown ids, and shows the order by hand again', async () => {
      const id = await make({ itemIds: ids, sort: '-title' });
      expect(await titles(id)).to.deep.equal(['Fay', 'Emil', 'Dora', 'Cleo', 'Bob', 'Anna']);
      const answer = await api.as(member).changeCollectionItems({
        params: { id },
        body: { remove: [at(5), newId()], move: { itemIds: [at(4), newId(), at(0)], afterItemId: at(1) } },
      });
      expect(answer.body).to.deep.include({ itemCount: 5, sort: 'manual' });
      expect(await titles(id)).to.deep.equal(['Bob', 'Emil', 'Anna', 'Cleo', 'Dora']);
      const move = (itemIds: string[], afterItemId: string | null) =>
        api.as(member).changeCollectionItems({ params: { id }, body: { move: { itemIds, afterItemId } } });
      await move([at(2), at(0)], at(0)); // after one that moves too: after the item before it
      expect(await titles(id)).to.deep.equal(['Bob', 'Emil', 'Cleo', 'Anna', 'Dora']);
      await move([at(3)], null);
      expect(await titles(id)).to.deep.equal(['Dora', 'Bob', 'Emil', 'Cleo', 'Anna']);
    });

    it('finds room for any number of items between two others, and pages by the order', async () => {
      const id = await make({ itemIds: [at(0), at(1)] });
      // each goes to the same place, so that the gap between the two is used up
      for (let round = 0; round < 14; round++) {
        const itemIds = [at(2 + (round % 4))];
        await api.as(member).addCollectionItems({ params: { id }, body: { itemIds, afterItemId: at(0) } });
        await api.as(member).changeCollectionItems({ params: { id }, body: { move: { itemIds, afterItemId: at(0) } } });
      }
      const whole = await titles(id);
      expect(whole).to.deep.equal(['Anna', 'Dora', 'Cleo', 'Fay', 'Emil', 'Bob']);
      const paged: string[] = [];
      let cursor: string | null | undefined;
      do {
        const query = { limit: 2, ...(cursor && { cursor }) };
        const { body } = await api.as(member).listCollectionItems({ params: { id }, query });
        paged.push(...body.items.map(({ title }) => title));
        cursor = body.page.cursor;
      } while (cursor);
      expect(paged).to.deep.equal(whole);
    });

    it('keeps every item when changes come at the same time', async () => {
      const id = await make({ itemIds: [at(0)] });
      await Promise.all([
        ...[1, 2, 3].map((i) =>
          api.as(member).addCollectionItems({ params: { id }, body: { itemIds: [at(i)], afterItemId: null } }),
        ),
        ...[4, 5].map((i) => api.as(member).addCollectionItems({ params: { id }, body: { itemIds: [at(i), at(0)] } })),
        api
          .as(member)
          .changeCollectionItems({ params: { id }, body: { move: { itemIds: [at(0)], afterItemId: null } } }),
      ]);
      expect((await titles(id)).toSorted()).to.deep.equal(['Anna', 'Bob', 'Cleo', 'Dora', 'Emil', 'Fay']);
      const rows = await api.deps.db('collection_items').where({ collection_id: id }).pluck('position');
      expect(new Set(rows).size).to.equal(6);
    });

    it('hides trashed items until they are restored, and loses deleted ones', async () => {
      const { db } = api.deps;
      const passing = await givenItem(db, films, { title: 'Passing', top: true });
      const id = await make({ itemIds: [at(0), passing] });
      await db('items').where({ id: passing }).update({ trashed_at: new Date() });
      expect(await titles(id)).to.deep.equal(['Anna']);
      await db('items').where({ id: passing }).update({ trashed_at: null });
      expect(await titles(id)).to.deep.equal(['Anna', 'Passing']);
      await db('items').where({ id: passing }).delete();
      expect(await titles(id)).to.deep.equal(['Anna']);
    });

    it('has its limits and says what it refuses', async () => {
      const { db } = api.deps;
      const id = await make({ itemIds: [at(0)] });
      await db.raw(`insert into items (id, library_id, type, identity_key, title, sort_title)
        select gen_random_uuid(), '${films.id}', 'movie', 'filler ' || n, 'Filler', 'filler' from generate_series(1, 9999) n`);
      await db.raw(`insert into collection_items (collection_id, item_id, position)
        select '${id}', id, 5000 from items where title = 'Filler'`);
      const full = await api.as(member).addCollectionItems({ params: { id }, body: { itemIds: [at(0), at(1)] } });
      expect(errorOf(full)).to.deep.include({ reason: 'collection-full' });
      await db('items').where({ title: 'Filler' }).delete();
      const unseen = await api.as(member).addCollectionItems({ params: { id }, body: { itemIds: [at(1), secret] } });
      expect(unseen.status).to.equal(404);
      expect(await titles(id)).to.deep.equal(['Anna']);
      const smart = await make({ kind: 'smart', rules: rulesOf({ all: [{ field: 'year', op: 'gt', value: 2003 }] }) });
      for (const answer of [
        await api.as(member).addCollectionItems({ params: { id: smart }, body: { itemIds: [at(0)] } }),
        await api.as(member).changeCollectionItems({ params: { id: smart }, body: { remove: [at(0)] } }),
      ])
        expect(errorOf(answer)).to.deep.include({ reason: 'smart-collection' });
      const twice = { name: 'Twice' };
      await make(twice);
      const again = await api.as(member).createCollection({ body: { name: 'TWICE' } });
      expect(errorOf(again)).to.deep.include({ reason: 'duplicate-name' });
      await make(twice, other);
      await db.raw(`insert into collections (id, name, name_folded, sort_name, sort_folded, kind, owner_id)
        select gen_random_uuid(), 'n' || n, 'n' || n, 'n', 'n', 'manual', '${member.accountId}' from generate_series(1, 1000) n`);
      const many = await api.as(member).createCollection({ body: draft() });
      expect(errorOf(many)).to.deep.include({ reason: 'too-many-collections' });
    });
  });

  describe('sharing', () => {
    it('is visible to the owner, to those named, or to all, each with their own items', async () => {
      const id = await make({ itemIds: [at(0), at(1)] });
      expect([await sees(member, id), await sees(other, id), await sees(owner, id)]).to.deep.equal([
        true,
        false,
        false,
      ]);
      const share = (body: object) => api.as(member).updateCollection({ params: { id }, body });
      await share({ sharing: 'accounts', userIds: [other.accountId] });
      expect([await sees(other, id), await sees(owner, id), await sees(child, id)]).to.deep.equal([true, false, false]);
      await share({ sharing: 'everyone' });
      expect([await sees(owner, id), await sees(child, id), await sees(guest, id)]).to.deep.equal([true, true, true]);
      expect(await titles(id, guest)).to.deep.equal(['Anna', 'Bob']);
      const shown = (await api.as(other).getCollection({ params: { id } })).body;
      expect(shown).to.deep.include({ mine: false, canEdit: false, itemCount: 2 });
      expect(shown).to.not.have.property('accounts');
      expect(shown.owner?.userId).to.equal(member.accountId);
      await share({ sharing: 'private' });
      expect(await sees(other, id)).to.equal(false);
      expect(await sees(child, id)).to.equal(false);
    });

    it('is 404 and in no list for those who see no item of it, and counts only what the reader sees', async () => {
      const id = await make({ itemIds: [secret], sharing: 'everyone' }, owner);
      expect(await sees(owner, id)).to.equal(true);
      expect(await sees(member, id)).to.equal(false);
      expect(errorOf(await api.as(member).getCollection({ params: { id } }))).to.deep.equal(
        errorOf(await api.as(member).getCollection({ params: { id: newId() } })),
      );
      expect(await names(member)).to.deep.equal([]);
      await api.as(owner).addCollectionItems({ params: { id }, body: { itemIds: [at(0)] } });
      const { body } = await api.as(member).getCollection({ params: { id } });
      expect(body).to.deep.include({ itemCount: 1, libraryIds: [films.id] });
      expect((await api.as(owner).getCollection({ params: { id } })).body.itemCount).to.equal(2);
      expect((await api.as(member).listCollections({ query: { libraryId: hidden.id } })).status).to.equal(404);
      const smart = await make(
        {
          kind: 'smart',
          sharing: 'everyone',
          rules: rulesOf({ all: [{ field: 'title', op: 'eq', value: 'Secret' }] }),
        },
        owner,
      );
      expect([await sees(owner, smart), await sees(member, smart)]).to.deep.equal([true, false]);
      expect(await names(member)).to.have.length(1);
    });

    it('respects the age limit of a child, in items, counts and lists', async () => {
      const { db } = api.deps;
      const adult = await givenItem(db, films, { title: 'Adult', top: true, age_years: 18 });
      const id = await make({ itemIds: [adult], sharing: 'everyone' });
      expect([await sees(other, id), await sees(child, id)]).to.deep.equal([true, false]);
      await api.as(member).addCollectionItems({ params: { id }, body: { itemIds: [at(0)] } });
      expect(await titles(id, child)).to.deep.equal(['Anna']);
      expect((await api.as(child).getCollection({ params: { id } })).body.itemCount).to.equal(1);
      await db('items').where({ id: adult }).delete();
    });

    it('is limited by the role, and notifies those who see something', async () => {
      const refused = async (by: Person, body: object) =>
        errorOf(await api.as(by).createCollection({ body: draft(body) }));
      expect(await refused(guest, {})).to.deep.include({ permission: 'playlist:own' });
      expect(await refused(child, { sharing: 'everyone' })).to.deep.include({ by: 'role' });
      expect(await refused(member, { ofServer: true })).to.deep.include({ permission: 'item:edit' });
      expect(await refused(member, { sharing: 'everyone', pinned: ['home'] })).to.deep.include({
        permission: 'library:manage',
      });
      const unknown = await api
        .as(child)
        .createCollection({ body: draft({ sharing: 'accounts', userIds: [member.accountId] }) });
      expect(unknown.status).to.equal(400); // a child finds only those who manage accounts
      await make({ itemIds: [at(0)], sharing: 'accounts', userIds: [owner.accountId] }, child);
      const notices = async (by: Person) =>
        (await api.as(by).listNotifications({ query: { limit: 200 } })).body.items.filter(
          ({ kind }) => kind === 'collection-shared',
        ).length;
      expect(await notices(owner)).to.equal(1);
      const before = await notices(other);
      await make({ itemIds: [secret], sharing: 'accounts', userIds: [other.accountId] }, owner);
      expect(await notices(other)).to.equal(before);
    });

    it('lets editors change those of the server, and no one else', async () => {
      const editor = await api.given.person('member', { own_permissions: JSON.stringify({ 'item:edit': true }) });
      const id = await make({ ofServer: true, sharing: 'everyone' }, editor);
      await api.as(editor).addCollectionItems({ params: { id }, body: { itemIds: [at(0)] } });
      const change = (by: Person) => api.as(by).updateCollection({ params: { id }, body: { overview: 'x' } });
      expect((await change(owner)).body.overview).to.equal('x');
      expect((await change(editor)).status).to.equal(200);
      expect(errorOf(await change(member))).to.deep.include({ permission: 'item:edit' });
      const own = await make({ itemIds: [at(0)], sharing: 'everyone' });
      const foreign = await api.as(owner).updateCollection({ params: { id: own }, body: { overview: 'x' } });
      expect(errorOf(foreign)).to.deep.include({ by: 'owner' });
      expect((await api.as(owner).deleteCollection({ params: { id: own } })).status).to.equal(403);
    });
  });

  describe('by rules', () => {
    it("uses each reader's own state and rights", async () => {
      await givenState(api.deps.db, films, { profileId: member.profileId, itemId: at(0), watched: true });
      const id = await make({
        ...{ kind: 'smart', sharing: 'everyone' },
        rules: rulesOf({ all: [{ field: 'unwatched', op: 'eq', value: true }] }, { types: ['movie'], sort: '-year' }),
      });
      expect(await titles(id)).to.deep.equal(['Fay', 'Emil', 'Dora', 'Cleo', 'Bob']);
      expect(await titles(id, other)).to.deep.equal(['Fay', 'Emil', 'Dora', 'Cleo', 'Bob', 'Anna']);
      expect(await titles(id, owner, { sort: 'title', filter: 'year:lte:2001' })).to.deep.equal([
        'Anna',
        'Bob',
        'Secret',
      ]);
      expect((await api.as(other).getCollection({ params: { id } })).body).to.deep.include({ itemCount: 6 });
    });

    it('counts its limit in the order of the rules, before any filter', async () => {
      const match = { all: [{ field: 'year', op: 'gte', value: 2000 }] };
      const limited = (limit: object) =>
        make({ kind: 'smart', rules: rulesOf(match, { sort: '-year', limit, libraryIds: [films.id] }) });
      const three = await limited({ items: 3 });
      expect(await titles(three)).to.deep.equal(['Fay', 'Emil', 'Dora']);
      expect(await titles(three, member, { sort: 'title', filter: 'year:lte:2004' })).to.deep.equal(['Dora', 'Emil']);
      expect(await titles(await limited({ durationMs: 11 * 60_000 }))).to.deep.equal(['Fay', 'Emil']);
      expect((await api.as(member).getCollection({ params: { id: three } })).body.itemCount).to.equal(3);
    });

    it('becomes a manual one with what the caller sees', async () => {
      const rules = rulesOf({
        any: [
          { field: 'year', op: 'eq', value: 2001 },
          { field: 'title', op: 'eq', value: 'Fay' },
        ],
      });
      const id = await make({ kind: 'smart', rules, sharing: 'everyone' });
      const manual = await make();
      const refused = await api.as(member).updateCollection({ params: { id: manual }, body: { rules } });
      expect(errorOf(refused)).to.deep.include({ reason: 'not-smart' });
      const { body } = await api.as(member).updateCollection({ params: { id }, body: { freeze: true } });
      expect(body).to.deep.include({ kind: 'manual', sort: 'manual' });
      expect(body).to.not.have.property('rules');
      expect(await titles(id, owner)).to.deep.equal(['Bob', 'Fay']);
    });

    it('leaves out conditions of deleted fields, and matches nothing for those without the field', async () => {
      const admin = api.as(owner);
      const field = async (key: string, more: object = {}) =>
        (await admin.createCustomField({ body: { key, label: key, kind: 'text', itemTypes: ['movie'], ...more } })).body
          .id;
      const gone = await field('mood');
      await field('inside', { audience: 'editors' });
      await admin.updateItem({ params: { id: at(1) }, body: { custom: { mood: 'dark', inside: 'yes' } } });
      const all = [
        { field: 'custom.mood', op: 'eq', value: 'dark' },
        { field: 'year', op: 'lte', value: 2001 },
      ];
      const rules = rulesOf({ all }, { libraryIds: [films.id] });
      const id = await make({ kind: 'smart', rules, sharing: 'everyone' });
      expect(await titles(id)).to.deep.equal(['Bob']);
      const inside = rulesOf({ all: [{ field: 'custom.inside', op: 'ne', value: 'no' }] });
      const editors = await make({ kind: 'smart', rules: inside, sharing: 'everyone' }, owner);
      expect([await sees(owner, editors), await sees(member, editors)]).to.deep.equal([true, false]);
      await admin.deleteCustomField({ params: { id: gone } });
      expect(await titles(id)).to.deep.equal(['Anna', 'Bob']);
      const { body } = await api.as(member).previewSmartRules({ body: { rules } });
      expect(body.ignored).to.deep.equal([{ path: ['rules', 'match', 'all', 0], reason: 'unknown-field' }]);
      expect(body.count).to.equal(2);
      const again = await api.as(member).createCollection({ body: draft({ kind: 'smart', rules }) });
      expect(errorOf(again).issues).to.have.length(1);
      expect(again.status).to.equal(400);
    });

    it('refuses rules with the path into them', async () => {
      const paths = async (rules: object) => {
        const { body } = await api.as(member).createCollection({ body: draft({ kind: 'smart', rules }) });
        const { issues } = (body as unknown as { error: { details: { issues: { path: unknown[]; code: string }[] } } })
          .error.details;
        return issues.map(({ path, code }) => `${path.join('.')} ${code}`);
      };
      const leaf = { field: 'year', op: 'eq', value: 'soon' };
      expect(await paths(rulesOf({ all: [{ any: [leaf, { field: 'nonsense', op: 'eq', value: 1 }] }] }))).to.deep.equal(
        ['body.rules.match.all.0.any.0 bad_value', 'body.rules.match.all.0.any.1 unknown_field'],
      );
      expect(
        await paths(rulesOf({ all: [{ field: 'year', op: 'eq', value: 1 }] }, { sort: 'custom.none' })),
      ).to.deep.equal(['body.rules.sort unknown_field']);
    });
  });

  describe('the preview', () => {
    it('answers both forms, and no filter for rules with an any', async () => {
      await givenTag(api.deps.db, films, at(2), ['genre', 'Noir; old']);
      const preview = async (body: object) => (await api.as(member).previewSmartRules({ body: body as never })).body;
      const filter = 'genre:eq:Noir\\; old;year:between:2000,2003';
      const found = await preview({ filter, sample: 5 });
      expect(found).to.deep.include({ count: 1, countIsEstimate: false, filter, durationMs: 180_000 });
      expect(found.items.map(({ title }) => title)).to.deep.equal(['Cleo']);
      expect((await preview({ rules: found.rules, sample: 0 })).filter).to.equal(filter);
      const any = rulesOf({ any: [found.rules.match, { field: 'title', op: 'eq', value: 'Fay' }] });
      const either = await preview({ rules: any });
      expect(either.count).to.equal(2);
      expect(either).to.not.have.property('filter');
      expect((await api.as(member).previewSmartRules({ body: {} })).status).to.equal(400);
    });

    it('is tried at most 30 times a minute', async () => {
      const statuses: number[] = [];
      for (let i = 0; i < 31; i++)
        statuses.push((await api.as(other).previewSmartRules({ body: { filter: 'year:eq:1', sample: 0 } })).status);
      expect(statuses.indexOf(429)).to.equal(30);
    });
  });

  describe('the list', () => {
    it('sorts, pages and narrows', async () => {
      await make({ name: 'The Zoo', itemIds: [at(0)] });
      await make({ name: 'aaa', itemIds: [at(0), at(1), at(2)] });
      const rules = rulesOf({ all: [{ field: 'year', op: 'lte', value: 2001 }] }, { libraryIds: [films.id] });
      await make({ name: 'Moor', kind: 'smart', rules });
      await make({ name: 'Empty' });
      expect(await names(member)).to.deep.equal(['aaa', 'Empty', 'Moor', 'The Zoo']);
      expect(await names(member, { sort: '-itemCount' })).to.deep.equal(['aaa', 'Moor', 'The Zoo', 'Empty']);
      expect(await names(member, { q: 'ZO' })).to.deep.equal(['The Zoo']);
      expect(await names(member, { itemId: at(1) })).to.deep.equal(['aaa', 'Moor']);
      expect(await names(member, { libraryId: films.id, kind: 'manual' })).to.deep.equal(['aaa', 'The Zoo']);
      expect(await names(other)).to.deep.equal([]);
      const found: string[] = [];
      let cursor: string | null | undefined;
      do {
        const query = { limit: 1, sort: '-itemCount', ...(cursor && { cursor }) };
        const { body } = await api.as(member).listCollections({ query });
        found.push(...body.items.map(({ name }) => name));
        cursor = body.page.cursor;
      } while (cursor);
      expect(found).to.deep.equal(['aaa', 'Moor', 'The Zoo', 'Empty']);
    });

    it('has a change of a collection in the next answer, with kept counts and without Redis', async () => {
      const id = await make({ itemIds: [at(0)] });
      const count = async () => (await api.as(member).listCollections({})).body.items[0]?.itemCount;
      expect(await count()).to.equal(1);
      await api.as(member).addCollectionItems({ params: { id }, body: { itemIds: [at(1)] } });
      expect(await count()).to.equal(2);
    });
  });

  it('is deleted by its owner, and its items stay', async () => {
    const id = await make({ itemIds: [at(0)] });
    expect((await api.as(member).deleteCollection({ params: { id } })).status).to.equal(204);
    expect((await api.as(member).getCollection({ params: { id } })).status).to.equal(404);
    expect((await api.as(member).getItem({ params: { id: at(0) } })).status).to.equal(200);
  });
});
