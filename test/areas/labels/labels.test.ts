import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';
import { applyLabels } from '#workers/labels/apply.ts';
import type { Work } from '#workers/work.ts';

const reasonOf = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

describe('labels', () => {
  let api: Api;
  let owner: Person;
  let admin: Person;
  let member: Person;
  let library: GivenLibrary;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    admin = await api.given.admin();
    member = await api.given.member();
    library = await givenLibrary(api.deps.db, 'movies', { everyone: true });
  });

  let made = 0;
  const label = async (more: object = {}, by = owner): Promise<string> => {
    made += 1;
    const answer = await api.as(by).createLabel({ body: { name: `Label ${made}`, ...more } });
    expect(answer.status).to.equal(201);
    return answer.body.id;
  };
  const film = (more: object = {}) => givenItem(api.deps.db, library, { top: true, ...more });
  const put = (id: string, body: object, by = owner) => api.as(by).setLabelItems({ params: { id }, body });
  const access = (id: string, body: object, by = owner) => api.as(by).setLabelAccess({ params: { id }, body });
  const namesFor = async (by: Person, query: Record<string, string | boolean> = {}): Promise<string[]> =>
    (await api.as(by).listLabels({ query: { limit: 200, ...query } })).body.items.map(({ name }) => name);
  const sees = async (by: Person, id: string): Promise<boolean> =>
    (await api.as(by).getItem({ params: { id } })).status === 200;

  describe('making', () => {
    it('keeps the given values, and takes the next color without one', async () => {
      const answer = await api
        .as(owner)
        .createLabel({ body: { name: '  Weihnachten ', color: '#ABCDEF', description: 'for the feast' } });
      expect(answer.body).to.deep.include({
        name: 'Weihnachten',
        color: '#abcdef',
        description: 'for the feast',
        restricted: false,
        onlyForSome: false,
        itemCount: 0,
      });
      const colors = new Set<string>();
      for (let i = 0; i < 12; i++) {
        const id = await label();
        colors.add(
          (await api.as(owner).listLabels({ query: { limit: 200 } })).body.items.find((l) => l.id === id)?.color ?? '',
        );
      }
      expect(colors.size).to.equal(12);
    });

    it('refuses a name that is taken in any letter case, control characters and nothing', async () => {
      await label({ name: 'Krimi é' });
      const again = await api.as(owner).createLabel({ body: { name: 'KRIMI É' } });
      expect(again.status).to.equal(409);
      expect(reasonOf(again).details.reason).to.equal('duplicate-name');
      for (const name of ['a\u0007b', '  ', 'x'.repeat(61)]) {
        expect((await api.as(owner).createLabel({ body: { name } })).status, name).to.equal(400);
      }
    });

    it('holds at most 500', async () => {
      const { db } = api.deps;
      await db.raw(
        `insert into labels (id, name, name_folded, color) select gen_random_uuid(), 'full ' || n, 'full ' || n, '#000000'
         from generate_series(1, 500 - (select count(*)::int from labels)) n`,
      );
      const answer = await api.as(owner).createLabel({ body: { name: 'one more' } });
      expect(answer.status).to.equal(409);
      expect(reasonOf(answer).details.reason).to.equal('too-many-labels');
      await db('labels').where('name', 'like', 'full %').delete();
    });

    it('makes a restricted one for the caller alone, and for those who manage accounts alone', async () => {
      const editor = await api.given.person('member', { own_permissions: JSON.stringify({ 'item:edit': true }) });
      const refused = await api.as(editor).createLabel({ body: { name: 'secret', restricted: true } });
      expect(refused.status).to.equal(403);
      expect(reasonOf(refused).details.permission).to.equal('user:manage');
      const id = await label({ restricted: true }, admin);
      const [one] = (await api.as(admin).listLabels({ query: { include: 'access', limit: 200 } })).body.items.filter(
        (l) => l.id === id,
      );
      expect(one?.access?.allow.map(({ userId }) => userId)).to.deep.equal([admin.accountId]);
      const own = await label({ restricted: true });
      const listed = await api.as(owner).listLabels({ query: { include: 'access', limit: 200 } });
      expect(listed.body.items.find((l) => l.id === own)?.access?.allow).to.deep.equal([]);
      expect((await api.as(editor).listLabels({ query: { include: 'access' } })).status).to.equal(403);
    });
  });

  describe('on items', () => {
    it('labels and unlabels all or nothing, and is safe to repeat', async () => {
      const id = await label();
      const [a, b] = [await film(), await film()];
      expect((await put(id, { add: [a, b] })).body).to.deep.equal({ added: 2, removed: 0, unchanged: 0 });
      expect((await put(id, { add: [a, b] })).body).to.deep.equal({ added: 0, removed: 0, unchanged: 2 });
      const nobody = ABSENT;
      expect((await put(id, { remove: [a], add: [nobody] })).status).to.equal(400);
      expect((await put(id, { remove: [a], add: [a] })).status).to.equal(400);
      expect((await api.as(owner).getItem({ params: { id: a } })).body.labels).to.have.length(1);
      expect((await put(id, { remove: [a] })).body).to.deep.equal({ added: 0, removed: 1, unchanged: 0 });
      expect((await api.as(owner).getItem({ params: { id: a } })).body.labels).to.deep.equal([]);
    });

    it('covers everything inside a container, also items added later or moved, and counts the labelled items themselves', async () => {
      const { db } = api.deps;
      const shows = await givenLibrary(db, 'shows', { everyone: true });
      const show = await givenShow(db, shows, { seasons: 2, episodes: 2 });
      const other = await givenShow(db, shows, { seasons: 1, episodes: 1 });
      const id = await label();
      await put(id, { add: [show.id] });
      const labelsOf = async (item: string | undefined) =>
        (await api.as(owner).getItem({ params: { id: item ?? '' } })).body.labels;
      expect(await labelsOf(show.episodes[1]?.[1])).to.have.length(1);
      const later = await givenItem(db, shows, {
        type: 'episode',
        parent_id: show.seasons[0],
        grandparent_id: show.id,
      });
      const extra = await givenItem(db, shows, { type: 'video', extra_of: later, extra_kind: 'trailer' });
      expect(await labelsOf(later)).to.have.length(1);
      expect(await labelsOf(extra)).to.have.length(1);
      const [counted] = (await api.as(owner).listLabels({ query: { itemId: show.id } })).body.items;
      expect(counted).to.deep.include({ itemCount: 1, id });
      expect(counted).not.to.have.property('inheritedFrom');
      const [inherited] = (await api.as(owner).listLabels({ query: { itemId: later } })).body.items;
      expect(inherited?.inheritedFrom).to.equal(show.id);
      const refused = await put(id, { remove: [later] });
      expect(refused.status).to.equal(409);
      expect(reasonOf(refused).details).to.deep.include({ reason: 'inherited', from: [show.id] });

      await db('items').where({ id: later }).update({ parent_id: other.seasons[0], grandparent_id: other.id });
      expect(await labelsOf(later)).to.deep.equal([]);
      expect(await labelsOf(extra)).to.deep.equal([]);
      await put(id, { remove: [show.id] });
      expect(await labelsOf(show.episodes[0]?.[0])).to.deep.equal([]);
    });

    it('follows an item into the trash and back', async () => {
      const { db } = api.deps;
      const shows = await givenLibrary(db, 'shows', { everyone: true });
      const show = await givenShow(db, shows, { seasons: 1, episodes: 1 });
      const id = await label();
      const episode = show.episodes[0]?.[0] ?? '';
      await db('items').where({ id: episode }).update({ trashed_at: new Date() });
      await put(id, { add: [show.id] });
      await db('items').where({ id: episode }).update({ trashed_at: null });
      expect((await api.as(owner).getItem({ params: { id: episode } })).body.labels).to.have.length(1);
    });

    it('takes a filter, at once up to 1,000 items and by a job beyond', async () => {
      const { db } = api.deps;
      const many = await givenLibrary(db, 'movies', { everyone: true });
      await db.raw(
        `insert into items (id, library_id, type, top, identity_key, title, sort_title, year)
         select gen_random_uuid(), ?, 'movie', true, 'f' || n, 'f', 'f', case when n <= 5 then 1999 else 2000 end from generate_series(1, 1200) n`,
        [many.id],
      );
      const id = await label();
      const filter = { libraryId: many.id, filter: 'year:eq:1999', action: 'add' };
      expect((await put(id, { filter })).body).to.deep.equal({ added: 5, removed: 0, unchanged: 0 });
      const later = await put(id, { filter: { ...filter, filter: '' } });
      expect(later.status).to.equal(202);
      const job = await db('jobs').where({ id: later.body.jobId }).first('kind', 'queue');
      expect(job).to.deep.equal({ kind: 'labels.apply', queue: 'interactive' });
      const refused = await put(id, { filter: { ...filter, filter: 'year:eq:2000;nothing:eq:1' } });
      const { issues } = (refused.body as unknown as { error: { details: { issues: { path: unknown[] }[] } } }).error
        .details;
      expect(issues.map(({ path }) => path)).to.deep.equal([['body', 'filter', 'filter', 1]]);
      const { number } = await db('labels').where({ id }).first<{ number: number }>('number');
      const applied: unknown[] = [];
      const keep: Work['keep'] = async (_db, _checkpoint, units) => void applied.push(units);
      const work = { ...api.deps, signal: new AbortController().signal, checkpoint: null, keep } as unknown as Work;
      const change = { ...filter, filter: '', action: 'add' as const, accountId: owner.accountId };
      expect(await applyLabels({ number, filter: change }, work)).to.deep.equal({ changed: 1195 });
      expect(applied).to.deep.equal([{ done: 1200, total: 1200, unit: 'items' }]);
    });

    it('holds at most a hundred labels an item', async () => {
      const { db } = api.deps;
      const id = await label();
      const item = await film();
      await db.raw(
        `with made as (insert into labels (id, name, name_folded, color)
           select gen_random_uuid(), 'hundred ' || n, 'hundred ' || n, '#000000' from generate_series(1, 100) n returning number)
         insert into item_labels (item_id, label) select ?, number from made`,
        [item],
      );
      const refused = await put(id, { add: [item] });
      expect(refused.status).to.equal(409);
      expect(reasonOf(refused).details).to.deep.include({ reason: 'too-many-labels', itemIds: [item] });
      await db('labels').where('name', 'like', 'hundred %').delete();
    });
  });

  describe('changing', () => {
    it('renames, keeps the rest, and refuses a name that is taken', async () => {
      const [a, b] = [await label({ description: 'old' }), await label({ name: 'Taken' })];
      const answer = await api.as(owner).updateLabel({ params: { id: a }, body: { name: 'Renamed' } });
      expect(answer.body).to.deep.include({ name: 'Renamed', description: 'old' });
      const refused = await api.as(owner).updateLabel({ params: { id: a }, body: { name: 'taken' } });
      expect(reasonOf(refused).details.reason).to.equal('duplicate-name');
      const blank = await api.as(owner).updateLabel({ params: { id: a }, body: { description: null } });
      expect(blank.body).not.to.have.property('description');
      expect(await namesFor(owner)).to.include('Renamed');
      expect(b).to.be.a('string');
    });

    it('merges items and access into the other', async () => {
      const [from, into] = [await label(), await label()];
      const [a, b] = [await film(), await film()];
      await put(from, { add: [a, b] });
      await put(into, { add: [b] });
      await access(from, { restricted: false, deny: [{ userId: member.accountId }] });
      const editor = await api.given.person('member', { own_permissions: JSON.stringify({ 'item:edit': true }) });
      expect((await api.as(editor).updateLabel({ params: { id: into }, body: { mergeInto: from } })).status).to.equal(
        403,
      );
      expect((await api.as(editor).updateLabel({ params: { id: from }, body: { name: 'Other' } })).status).to.equal(
        403,
      );
      const merged = await api.as(owner).updateLabel({ params: { id: from }, body: { mergeInto: into } });
      expect(merged.body).to.deep.include({ id: into, itemCount: 2 });
      expect(await sees(member, a)).to.equal(false);
      expect(await sees(member, b)).to.equal(false);
      expect((await api.as(owner).updateLabel({ params: { id: from }, body: {} })).status).to.equal(404);
      expect((await api.as(owner).updateLabel({ params: { id: into }, body: { mergeInto: into } })).status).to.equal(
        400,
      );
    });

    it('deletes; one that restricts only by its name', async () => {
      const plain = await label();
      const item = await film();
      await put(plain, { add: [item] });
      expect((await api.as(owner).deleteLabel({ params: { id: plain } })).status).to.equal(204);
      expect((await api.as(owner).getItem({ params: { id: item } })).body.labels).to.deep.equal([]);

      const id = await label({ name: 'Hiding' });
      await put(id, { add: [item] });
      await access(id, { restricted: true, allow: [{ role: 'member' }], deny: [{ role: 'child' }] });
      const refused = await api.as(owner).deleteLabel({ params: { id }, query: { confirm: 'hiding' } });
      expect(refused.status).to.equal(409);
      expect(reasonOf(refused).details).to.deep.include({ reason: 'label-restricts', items: 1, principals: 2 });
      const editor = await api.given.person('member', { own_permissions: JSON.stringify({ 'item:edit': true }) });
      expect((await api.as(editor).deleteLabel({ params: { id }, query: { confirm: 'Hiding' } })).status).to.equal(403);
      expect((await api.as(owner).deleteLabel({ params: { id }, query: { confirm: 'Hiding' } })).status).to.equal(204);
    });

    it('leaves an account whose last only-label went with nothing until its access is set', async () => {
      const child = await api.given.child(18);
      const [id, item] = [await label({ name: 'Shelf' }), await film()];
      await access(id, { restricted: false, only: [{ userId: child.accountId }] });
      await put(id, { add: [item] });
      expect(await sees(child, item)).to.equal(true);
      await api.as(owner).deleteLabel({ params: { id }, query: { confirm: 'Shelf' } });
      expect(await sees(child, item)).to.equal(false);
      const set = { libraries: { mode: 'default', ids: [] } };
      expect((await api.as(owner).setUserAccess({ params: { id: child.accountId }, body: set })).status).to.equal(200);
      expect(await sees(child, item)).to.equal(true);
    });
  });

  describe('access', () => {
    it('replaces all three lists, names people, and is written down', async () => {
      const id = await label();
      const answer = await access(id, {
        restricted: true,
        allow: [{ userId: admin.accountId }, { role: 'member' }],
        deny: [{ profileId: member.profileId }],
      });
      expect(answer.body.allow.map(({ displayName }) => displayName)[1]).to.equal('member');
      expect(answer.body.deny).to.have.length(1);
      const next = await access(id, { restricted: false });
      expect(next.body).to.deep.equal({ restricted: false, allow: [], deny: [], only: [] });
      const entry = await api.deps
        .db('audit_log')
        .where({ action: 'label.access' })
        .orderBy('id', 'desc')
        .first('details');
      expect(entry.details.before.allow).to.have.length(2);
      expect(entry.details.after.allow).to.have.length(0);
    });

    it("lets no one lift limits that a superior set on their own account; other profiles of one's own can be limited", async () => {
      const limited = await api.given.admin();
      const id = await label();
      await put(id, { add: [await film()] });
      await access(id, { restricted: false, only: [{ userId: limited.accountId }] });
      const out = await access(id, { restricted: false }, limited);
      expect(out.status).to.equal(403);
      expect(reasonOf(out).details.by).to.equal('rank');
      const profileId = newId();
      await api.deps.db('profiles').insert({ id: profileId, account_id: admin.accountId, name: 'Kid' });
      const kid = { restricted: false, only: [{ profileId }] };
      expect((await access(await label(), kid, admin)).status).to.equal(200);
    });

    it('rejects allow without restricted, the owner, an unknown account, two names at once, and accounts that are not below the caller', async () => {
      const id = await label();
      const nobody = ABSENT;
      for (const body of [
        { restricted: false, allow: [{ role: 'child' }] },
        { restricted: true, allow: [{ userId: owner.accountId }] },
        { restricted: false, deny: [{ profileId: owner.profileId }] },
        { restricted: false, deny: [{ userId: nobody }] },
        { restricted: false, deny: [{ role: 'owner' }] },
        { restricted: false, deny: [{ role: 'child', userId: member.accountId }] },
        { restricted: false, deny: [{}] },
      ]) {
        expect((await access(id, body)).status, JSON.stringify(body)).to.equal(400);
      }
      const second = await api.given.admin();
      const refused = await access(id, { restricted: false, deny: [{ userId: second.accountId }] }, admin);
      expect(refused.status).to.equal(403);
      expect(reasonOf(refused).details.by).to.equal('rank');
      expect((await access(id, { restricted: false, deny: [{ role: 'admin' }] }, admin)).status).to.equal(403);
      expect((await access(id, { restricted: false, deny: [{ userId: member.accountId }] }, admin)).status).to.equal(
        200,
      );
    });

    it('lets deny beat allow, and any hiding label any showing one', async () => {
      const [hides, shows, item] = [await label(), await label(), await film()];
      await put(hides, { add: [item] });
      await put(shows, { add: [item] });
      await access(hides, { restricted: true, allow: [{ userId: member.accountId }] });
      expect(await sees(member, item)).to.equal(true);
      expect(await sees(admin, item)).to.equal(false);
      expect(await sees(owner, item)).to.equal(true);
      await access(hides, { restricted: true, allow: [{ userId: member.accountId }], deny: [{ role: 'member' }] });
      expect(await sees(member, item)).to.equal(false);
      await access(hides, { restricted: true });
      await access(shows, { restricted: true, allow: [{ userId: member.accountId }] });
      expect(await sees(member, item)).to.equal(false);
    });

    it('counts for accounts, profiles and roles that come later', async () => {
      const [id, item] = [await label(), await film()];
      await put(id, { add: [item] });
      await access(id, { restricted: true, allow: [{ role: 'admin' }] });
      const later = await api.given.member();
      expect(await sees(later, item)).to.equal(false);
      await api.deps.db('accounts').where({ id: later.accountId }).update({ role: 'admin' });
      expect(await sees(later, item)).to.equal(true);
    });

    it('reveals of labels only what the caller may know', async () => {
      const restricted = await label({ name: 'R-label', restricted: true });
      const denied = await label({ name: 'D-label' });
      await label({ name: 'H-label' });
      const item = await film();
      await put(denied, { add: [item] });
      await access(denied, { restricted: false, deny: [{ role: 'child' }] });
      await access(restricted, { restricted: true, allow: [{ role: 'member' }] });
      expect(await namesFor(member))
        .to.include('H-label')
        .and.not.include.members(['D-label', 'R-label']);
      expect(await namesFor(member)).to.not.include('D-label');
      expect(await namesFor(admin))
        .to.include('D-label')
        .and.not.include('R-label');
      expect((await api.as(member).getItem({ params: { id: item } })).body.labels).to.deep.equal([]);
      const filter = { params: { id: library.id }, query: { filter: 'label:eq:D-label' } };
      expect((await api.as(member).listLibraryItems(filter)).body.items).to.have.length(0);
      expect((await api.as(admin).listLibraryItems(filter)).body.items).to.have.length(1);
      expect((await access(restricted, { restricted: false }, admin)).status).to.equal(404);
      expect(await namesFor(owner, { restricted: true }))
        .to.include('R-label')
        .and.not.include('H-label');
      expect(await namesFor(owner, { q: 'd-LAB' })).to.deep.equal(['D-label']);
    });

    it('leaves out a label of whose items the caller sees none', async () => {
      const id = await label({ name: 'Elsewhere' });
      const closed = await givenLibrary(api.deps.db, 'movies', { everyone: false });
      await put(id, { add: [await givenItem(api.deps.db, closed, { top: true })] });
      expect(await namesFor(owner)).to.include('Elsewhere');
      expect(await namesFor(member)).to.not.include('Elsewhere');
      expect(await namesFor(owner, { libraryId: closed.id })).to.deep.equal(['Elsewhere']);
      expect((await api.as(member).listLabels({ query: { libraryId: closed.id } })).status).to.equal(404);
    });
  });
});
