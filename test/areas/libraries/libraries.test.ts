import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ABSENT, errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';

describe('Libraries', () => {
  let api: Api;
  let owner: Person;
  let admin: TestClient;

  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    admin = api.as(owner);
    for (const folder of ['films', 'films/4k', 'shows', 'more']) mkdirSync(join(api.mediaRoot, folder));
  });

  const folder = (path: string): object => ({ storageId: api.given.storageId, path });
  const make = async (name: string, more: object = {}): Promise<string> => {
    const made = await admin.createLibrary({ body: { name, type: 'movies', ...more } });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    return made.body.id;
  };

  describe('createLibrary', () => {
    it('creates a library with the defaults of its type, notifies those who reach it and queues a full scan', async () => {
      const member = await api.given.member();
      const made = await admin.createLibrary({ body: { name: 'Films', type: 'movies', folders: [folder('films//')] } });
      expect(made.status).to.equal(201);
      expect(made.body).to.include({ name: 'Films', type: 'movies', state: 'scanning' });
      expect(made.body.settings).to.include({ trashKeepDays: 30, creditsDetection: true, introDetection: false });
      expect(made.body.folders[0]).to.include({ path: 'films', state: 'available' });
      const scan = await api.deps.db('scans').where({ library_id: made.body.id }).first();
      expect(scan).to.include({ mode: 'full', state: 'queued', trigger: 'person' });
      const granted = await api.deps.db('outbox').where({ event: 'library.access.granted' }).select('payload');
      expect(granted.map((row: { payload: { userId: string } }) => row.payload.userId)).to.include(member.accountId);
    });

    it('refuses a name already taken in any letter case', async () => {
      await make('Taken');
      const again = await admin.createLibrary({ body: { name: 'tAKEN', type: 'shows' } });
      expect(again.status).to.equal(409);
      expect(errorOf(again).details.reason).to.equal('duplicate-name');
    });

    it('makes no more than 500', async () => {
      const full = await startApi();
      await full.deps.db.raw(
        `insert into libraries (id, name, name_folded, type) select gen_random_uuid(), 'L' || n, 'l' || n, 'books' from generate_series(1, 499) n`,
      );
      const make = (name: string) => full.as(manager).createLibrary({ body: { name, type: 'books' } });
      const manager = await full.given.admin();
      expect((await make('The last')).status).to.equal(201);
      expect(errorOf(await make('One more')).details.reason).to.equal('library-limit');
      expect((await full.as(manager).listLibraries()).body).to.have.length(500);
    });

    it('names every fault of the body at once', async () => {
      const bad = await admin.createLibrary({
        body: {
          name: '',
          type: 'vinyl',
          settings: { scanCron: 'daily', agents: ['nobody'] },
          folders: [folder('../x')],
          extra: 1,
        },
      });
      expect(bad.status).to.equal(400);
      const paths = errorOf(bad).details['issues'].map((issue: { path: unknown[]; code: string }) =>
        issue.path.join('.'),
      );
      expect(paths).to.include.members([
        'body.name',
        'body.type',
        'body.settings.scanCron',
        'body.settings.agents.0',
        'body.folders.0.path',
        'body.extra',
      ]);
      const unreachable = await admin.createLibrary({
        body: { name: 'Away', type: 'movies', folders: [folder('films'), folder('nowhere')] },
      });
      expect(errorOf(unreachable).details.issues[0]).to.deep.include({
        path: ['body', 'folders', 1, 'path'],
        code: 'no_such_folder',
      });
    });

    it('refuses a folder inside another of the library, and the same folder in another library of the type', async () => {
      const nested = await admin.createLibrary({
        body: { name: 'Nested', type: 'movies', folders: [folder('more'), folder('more')] },
      });
      expect(errorOf(nested).details.reason).to.equal('folder-overlap');
      const taken = await admin.createLibrary({ body: { name: 'Second', type: 'movies', folders: [folder('films')] } });
      expect(errorOf(taken).details.reason).to.equal('folder-overlap');
      const storage = () => api.deps.db('storages').where({ id: api.given.storageId });
      await storage().update({ read_only: true });
      const closed = await admin.createLibrary({ body: { name: 'TV', type: 'livetv', folders: [folder('more')] } });
      await storage().update({ read_only: false });
      expect([closed.status, errorOf(closed).details.reason]).to.deep.equal([409, 'read-only']);
      const otherType = await admin.createLibrary({
        body: { name: 'Concerts', type: 'music', folders: [folder('films')] },
      });
      expect(otherType.status).to.equal(201);
    });

    it('makes one library of one Idempotency-Key, and refuses the key for other content', async () => {
      const headers = { 'idempotency-key': 'abc-1' };
      const first = await admin.createLibrary({ body: { name: 'Once', type: 'books' }, headers });
      const again = await admin.createLibrary({ body: { name: 'Once', type: 'books' }, headers });
      expect([first.status, again.status]).to.deep.equal([201, 200]);
      expect(again.body.id).to.equal(first.body.id);
      const other = await admin.createLibrary({ body: { name: 'Twice', type: 'books' }, headers });
      expect(errorOf(other).details.reason).to.equal('key-reused');
    });

    it('is for those who manage libraries', async () => {
      const member = await api.as(await api.given.member()).createLibrary({ body: { name: 'Mine', type: 'movies' } });
      expect(member.status).to.equal(403);
      expect(errorOf(member).details.permission).to.equal('library:manage');
      const key = await api.given.key(owner, ['library:view']);
      expect(
        errorOf(await api.as(key).createLibrary({ body: { name: 'K', type: 'movies' } })).details.scopes,
      ).to.deep.equal(['library:manage']);
      expect((await api.anyone.createLibrary({ body: {} })).status).to.equal(401);
    });
  });

  describe('visibility', () => {
    it('hides a library from accounts without access, as if it did not exist', async () => {
      const one = await api.given.member();
      const other = await api.given.member();
      const id = await make('Private', { access: { everyone: false, accountIds: [one.accountId] } });
      expect((await api.as(one).getLibrary({ params: { id } })).status).to.equal(200);
      const hidden = await api.as(other).getLibrary({ params: { id } });
      const absent = await api.as(other).getLibrary({ params: { id: ABSENT } });
      const { requestId: _a, ...shown } = errorOf(hidden);
      const { requestId: _b, ...same } = errorOf(absent);
      expect(hidden.status).to.equal(404);
      expect(shown).to.deep.equal(same);
      expect((await api.as(other).listLibraries()).body.map((library) => library.id)).to.not.include(id);
    });

    it('hides paths and access from accounts that do not manage libraries', async () => {
      const seen = await api.as(await api.given.member()).listLibraries();
      expect(JSON.stringify(seen.body)).to.not.match(/"path"|"access"/);
    });

    it('goes by age and by a new grant from the next request on', async () => {
      const child = await api.given.child(12);
      const id = await make('Grown-up', { settings: { ageLimit: 16 } });
      expect((await api.as(child).getLibrary({ params: { id } })).status).to.equal(404);
      await admin.updateLibrary({ params: { id }, body: { settings: { ageLimit: null } } });
      expect((await api.as(child).getLibrary({ params: { id } })).status).to.equal(200);
    });
  });

  describe('updateLibrary', () => {
    it('changes the given members, returns a setting to its default with null, and grows the revision', async () => {
      const id = await make('Change');
      const changed = await admin.updateLibrary({
        params: { id },
        body: { name: 'Changed', settings: { trashKeepDays: 7, agents: ['nfo'] } },
      });
      expect(changed.body).to.include({ name: 'Changed', revision: 3 - 1 });
      expect(changed.body.settings).to.deep.include({ trashKeepDays: 7, agents: ['nfo'], trashGraceHours: 24 });
      expect(changed.headers.get('x-refresh-suggested')).to.equal('true');
      const back = await admin.updateLibrary({ params: { id }, body: { settings: { trashKeepDays: null } } });
      expect(back.body.settings.trashKeepDays).to.equal(30);
    });

    it('refuses another revision and another type, and changes nothing', async () => {
      const id = await make('Held');
      const stale = await admin.updateLibrary({ params: { id }, body: { name: 'X' }, headers: { 'if-match': '"99"' } });
      expect(errorOf(stale).details).to.deep.include({ reason: 'revision', revision: 1 });
      expect(errorOf(await admin.updateLibrary({ params: { id }, body: { type: 'shows' } })).details.reason).to.equal(
        'type-fixed',
      );
      expect((await admin.getLibrary({ params: { id } })).body.name).to.equal('Held');
    });

    it('requires confirmation before it removes a folder that holds items', async () => {
      const id = await make('Folders', { folders: [folder('films/4k')] });
      const { db } = api.deps;
      const { folders } = (await admin.getLibrary({ params: { id } })).body;
      const itemId = '01900000-0000-7000-8000-0000000000aa';
      await db('items').insert({
        id: itemId,
        library_id: id,
        type: 'movie',
        top: true,
        identity_key: 'x',
        title: 'X',
        sort_title: 'x',
        size_bytes: 10,
      });
      await db('libraries')
        .where({ id })
        .update({ item_counts: { movie: 1 }, size_bytes: 10 });
      await db('media_files').insert({
        id: '01900000-0000-7000-8000-0000000000ab',
        item_id: itemId,
        library_id: id,
        folder_id: folders[0]?.id,
        storage_id: api.given.storageId,
        path: 'films/4k/x.mkv',
        size_bytes: 10,
        modified_ms: 1,
      });
      const since = (await admin.listLibraryChanges({ params: { id } })).body.page.cursor ?? '';
      const emptied = await admin.updateLibrary({ params: { id }, body: { folders: [] } });
      expect(errorOf(emptied).details).to.deep.include({ reason: 'removes-items', items: 1 });
      expect(
        (await admin.updateLibrary({ params: { id }, body: { folders: [], confirmRemoval: true } })).status,
      ).to.equal(200);
      const trash = await admin.listTrash({ params: { id } });
      expect(trash.body.items.map((entry) => [entry.item.id, entry.reason])).to.deep.equal([
        [itemId, 'folder-removed'],
      ]);
      const left = (await admin.getLibrary({ params: { id } })).body;
      expect(left).to.deep.include({ itemCounts: {}, sizeBytes: 0, trashCount: 1 });
      const changes = (await admin.listLibraryChanges({ params: { id }, query: { since } })).body.items;
      expect(changes.map((one) => [one.itemId, one.change])).to.deep.equal([[itemId, 'deleted']]);
    });
  });

  describe('fields that a resource owns', () => {
    const managedBy = { kind: 'Library', namespace: 'media', name: 'films', uid: 'uid-1' };
    it('is made by the operator once, refused to people, and free when let go', async () => {
      const operator = api.as({ ...owner, headers: { authorization: `Bearer ${api.operatorKey}` } });
      const body = { name: 'Declared', type: 'movies', managedBy, managedFields: ['name', 'settings.agents'] };
      const made = await operator.createLibrary({ body });
      const again = await operator.createLibrary({ body });
      expect([made.status, again.status]).to.deep.equal([201, 200]);
      expect(again.body.id).to.equal(made.body.id);
      const params = { id: made.body.id };
      const refused = await admin.updateLibrary({ params, body: { name: 'Mine', order: 3 } });
      expect(errorOf(refused).details).to.deep.include({ reason: 'managed-by-resource', fields: ['name'], managedBy });
      expect((await admin.updateLibrary({ params, body: { order: 3 } })).status).to.equal(200);
      const wrong = { name: 'Mine', folders: [{ storageId: api.given.storageId, path: 'nowhere' }] };
      const both = await admin.updateLibrary({ params, body: wrong, headers: { 'if-match': '"77"' } });
      expect(both.status, 'content before state').to.equal(400);
      expect((await admin.createLibrary({ body: { name: 'Fake', type: 'movies', managedBy } })).status).to.equal(403);
      await operator.updateLibrary({ params, body: { managedBy: null } });
      expect((await admin.updateLibrary({ params, body: { name: 'Mine' } })).body.name).to.equal('Mine');
    });
  });

  describe('orderLibraries', () => {
    it('puts the named first and keeps the others in their old order', async () => {
      const before = (await admin.listLibraries()).body.map((library) => library.id);
      const last = before.at(-1) ?? '';
      const after = await admin.orderLibraries({ body: { ids: [last] } });
      expect(after.body.map((library) => library.id)).to.deep.equal([last, ...before.slice(0, -1)]);
      const strange = await admin.orderLibraries({ body: { ids: [ABSENT] } });
      expect(strange.status).to.equal(400);
    });

    it('leaves a place that a resource declares, and moves all others around it', async () => {
      const operator = api.as({ ...owner, headers: { authorization: `Bearer ${api.operatorKey}` } });
      const managedBy = { kind: 'Library', namespace: 'media', name: 'last', uid: 'uid-last' };
      const body = { name: 'Declared last', type: 'movies', order: 9000, managedBy, managedFields: ['order'] };
      const { id: last } = (await operator.createLibrary({ body })).body;
      const [first = '', second = ''] = (await admin.listLibraries()).body.map((library) => library.id);
      const swapped = await admin.orderLibraries({ body: { ids: [second, first] } });
      expect(swapped.status, JSON.stringify(swapped.body)).to.equal(200);
      expect(swapped.body.map((library) => library.id).slice(0, 2)).to.deep.equal([second, first]);
      expect(swapped.body.at(-1)?.id).to.equal(last);
      const moved = await admin.orderLibraries({ body: { ids: [last] } });
      expect(errorOf(moved).details).to.deep.include({ reason: 'managed-by-resource', fields: ['order'] });
      expect((await admin.listLibraries()).body.at(-1)?.id).to.equal(last);
    });
  });

  describe('addLibraryFolders', () => {
    it('adds, takes a folder already there for no error, and queues a scan of the new one', async () => {
      const id = await make('Added');
      const added = await admin.addLibraryFolders({ params: { id }, body: { folders: [folder('shows')] } });
      expect(added.body.folders).to.have.length(1);
      const stale = { 'if-match': `"${added.body.revision - 1}"` };
      const late = await admin.updateLibrary({ params: { id }, headers: stale, body: { folders: [] } });
      expect(errorOf(late).details.reason, 'the list of an editor that was open meanwhile').to.equal('revision');
      expect(
        (await admin.addLibraryFolders({ params: { id }, body: { folders: [folder('shows')] } })).body.folders,
      ).to.have.length(1);
      const member = await api
        .as(await api.given.member())
        .addLibraryFolders({ params: { id }, body: { folders: [folder('more')] } });
      expect(member.status).to.equal(403);
      const strange = { id: ABSENT };
      const child = api.as(await api.given.child());
      expect((await child.addLibraryFolders({ params: strange, body: { folders: [folder('x')] } })).status).to.equal(
        403,
      );
    });
  });

  describe('deleteLibrary', () => {
    it('is 404 for everybody at once and leaves the rest to the job', async () => {
      const id = await make('Gone');
      expect((await admin.deleteLibrary({ params: { id } })).status).to.equal(204);
      expect((await admin.getLibrary({ params: { id } })).status).to.equal(404);
      expect(await api.deps.db('jobs').where({ kind: 'library.delete', library_id: id }).first()).to.include({
        state: 'waiting',
      });
      await make('Gone');
    });
  });
});
