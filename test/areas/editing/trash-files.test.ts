import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { keepChange } from '#areas/editing/bulk/bulk.store.ts';
import { errorOf } from '#support/answers.ts';
import type { Api } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { changeInBulk } from '#workers/editing/bulk.ts';
import { purgeTrash } from '#workers/library-jobs.ts';
import { newPlace, type Place } from '../../workers/scan/support.ts';

const DAY_MS = 86_400_000;

describe('moving files of deleted items to the trash', function () {
  this.timeout(120_000);
  let api: Api;
  let owner: Person;
  let place: Place;

  beforeEach(async () => {
    place = await newPlace('movies', { fileDeletion: true });
    api = place.api;
    owner ??= await api.given.owner();
    await api.deps.db('libraries').where({ id: place.libraryId }).update({ everyone: true });
  });

  const remove = (id: string, query: object = {}) =>
    api.as(owner).deleteItem({ params: { id }, query: { files: 'trash', ...query } } as never);
  const restore = (id: string) =>
    api.as(owner).restoreTrash({ params: { id: place.libraryId }, body: { itemIds: [id] } });
  const move = () => purgeTrash({ files: true }, place.work());
  const at = (name: string): string => join(place.path, name);
  const trashed = async () => api.deps.db('trashed_files').where({ library_id: place.libraryId }).orderBy('path');
  /** Where the rows say that files lie in the trash. */
  const inTrash = async (): Promise<string[]> =>
    (await trashed()).map(({ id, path }) =>
      join(api.mediaRoot, '.foyer-trash', id, path.slice(path.lastIndexOf('/') + 1)),
    );

  async function givenFilm(name = 'Up (2009)/Up (2009).mkv'): Promise<string> {
    await place.put(name);
    await place.scan();
    return (await place.files()).find(({ path }) => path.endsWith(name))?.item_id ?? '';
  }

  async function entries() {
    return (await api.as(owner).listTrash({ params: { id: place.libraryId } })).body.items;
  }

  it('moves them, shows them in the trash, leaves them alone in scans, and restores them', async () => {
    const name = 'Up (2009)/Up (2009).mkv';
    const id = await givenFilm(name);
    const bytes = await readFile(at(name));
    expect((await remove(id)).status).to.equal(204);
    await move();
    const [lies = ''] = await inTrash();
    expect([existsSync(at(name)), (await readFile(lies)).equals(bytes)]).to.deep.equal([false, true]);
    const [entry] = await entries();
    expect(entry).to.deep.include({ filesInTrash: true, restorable: true });
    expect(entry?.files.map(({ present }) => present)).to.deep.equal([true]);
    await place.age();
    const scan = await place.scan({ mode: 'deep' });
    expect(scan.counts).to.deep.include({ added: 0, missing: 0 });
    expect((await place.files()).length).to.equal(1);
    await move(); // a repeat changes nothing
    expect(existsSync(lies)).to.equal(true);
    const back = await restore(id);
    expect(back.body).to.deep.include({ restored: 1, missing: 0, notRestored: [] });
    await move();
    expect([(await readFile(at(name))).equals(bytes), existsSync(lies), await trashed()]).to.deep.equal([
      true,
      false,
      [],
    ]);
    const item = await api.as(owner).getItem({ params: { id } });
    expect(item.body.files.map(({ missing }) => missing)).to.deep.equal([false]);
    expect((await place.items())[0]).to.include({ availability: null, trashed_at: null });
    const library = await api.deps.db('libraries').where({ id: place.libraryId }).first();
    expect([library?.item_counts, library?.size_bytes, library?.missing_count]).to.deep.equal([
      { movie: 1 },
      bytes.length,
      0,
    ]);
  });

  it('ends a move that a worker left, in each direction', async () => {
    const name = 'Up (2009)/Up (2009).mkv';
    const id = await givenFilm(name);
    await remove(id);
    const [lies = ''] = await inTrash();
    await mkdir(join(lies, '..'), { recursive: true });
    await rename(at(name), lies); // the worker ended after the move and before its row
    await move();
    expect([existsSync(lies), (await trashed())[0]?.settled_at === null]).to.deep.equal([true, false]);
    await restore(id);
    await link(lies, at(name)); // between the two names of the file
    await move();
    expect([existsSync(at(name)), existsSync(lies), await trashed()]).to.deep.equal([true, false, []]);
    expect(await readdir(join(api.mediaRoot, '.foyer-trash'))).to.not.include(lies.split('/').at(-2));
  });

  it('never moves a file that changed, and never replaces one', async () => {
    const name = 'Up (2009)/Up (2009).mkv';
    const id = await givenFilm(name);
    await remove(id);
    await writeFile(at(name), 'another film');
    await move();
    expect([await readFile(at(name), 'utf8'), await trashed()]).to.deep.equal(['another film', []]);

    const other = 'Heat (1995)/Heat (1995).mkv';
    const heat = await givenFilm(other);
    await remove(heat);
    await move();
    const [lies = ''] = await inTrash();
    await writeFile(at(other), 'a new file');
    const refused = await restore(heat);
    expect(refused.body).to.deep.include({ restored: 0, notRestored: [{ itemId: heat, reason: 'target-exists' }] });
    await api.deps
      .db('trashed_files')
      .where({ library_id: place.libraryId })
      .update({ wanted: 'place', settled_at: null });
    await move();
    expect([await readFile(at(other), 'utf8'), existsSync(lies)]).to.deep.equal(['a new file', true]);
  });

  it('brings an item back whose film is added again, and leaves one in the trash whose files are kept', async () => {
    const name = 'Up (2009)/Up (2009).mkv';
    const id = await givenFilm(name);
    await remove(id);
    await move();
    const [lies = ''] = await inTrash();
    await place.put(name, 'h264-allintra.mkv');
    await place.age();
    await place.scan();
    expect((await place.items()).map((item) => [item.id, item.trashed_at])).to.deep.equal([[id, null]]);
    const library = await api.deps.db('libraries').where({ id: place.libraryId }).first('item_counts', 'trash_count');
    expect(library).to.deep.equal({ item_counts: { movie: 1 }, trash_count: 0 });
    expect(existsSync(lies)).to.equal(true);
    await remove(id, { files: 'keep' });
    await place.age();
    await place.scan({ mode: 'deep' });
    expect((await place.items())[0]?.trashed_at).to.not.equal(null);
    await restore(id);
    await move();
    await remove(id);
    await move();
    expect([existsSync(at(name)), (await inTrash()).filter((path) => existsSync(path)).length]).to.deep.equal([
      false,
      2,
    ]);
  });

  it('deletes them with a purge, and of a dropped edition after the days of the trash', async () => {
    const id = await givenFilm();
    const { size } = await stat(at('Up (2009)/Up (2009).mkv'));
    await remove(id);
    await move();
    const [lies = ''] = await inTrash();
    const purged = await api.as(owner).purgeTrashedItem({ params: { id: place.libraryId, itemId: id } });
    expect(purged.body).to.deep.equal({ purged: 1, filesDeleted: 1, bytesFreed: size });
    expect(existsSync(lies)).to.equal(true);
    await move();
    expect([existsSync(lies), await trashed()]).to.deep.equal([false, []]);
    expect(await api.deps.db('ignored_files').where({ library_id: place.libraryId })).to.deep.equal([]);

    await place.put('Heat (1995)/Heat (1995) - Cut.mkv', 'h264-allintra.mkv');
    const heat = await givenFilm('Heat (1995)/Heat (1995).mkv');
    const cut = (await place.files()).find(({ path }) => path.endsWith('Cut.mkv'));
    expect((await remove(heat, { fileId: cut?.id })).status).to.equal(204);
    await move();
    const [dropped = ''] = await inTrash();
    expect([existsSync(dropped), existsSync(at('Heat (1995)/Heat (1995).mkv'))]).to.deep.equal([true, true]);
    await purgeTrash({}, place.work());
    expect(existsSync(dropped)).to.equal(true);
    await api.deps
      .db('trashed_files')
      .where({ library_id: place.libraryId })
      .update({ at: new Date(Date.now() - 31 * DAY_MS) });
    await purgeTrash({}, place.work());
    expect([existsSync(dropped), existsSync(at('Heat (1995)/Heat (1995).mkv'))]).to.deep.equal([false, true]);
  });

  it('leaves files that another library shows', async () => {
    const name = 'Up (2009)/Up (2009).mkv';
    const id = await givenFilm(name);
    const { db } = api.deps;
    const videos = await newPlace('videos', {}, api);
    await db('library_folders')
      .where({ id: videos.folderId })
      .update({ path: place.path.split('/').at(-1) });
    await videos.scan();
    expect((await videos.items()).length).to.equal(1);
    await remove(id);
    await move();
    expect([existsSync(at(name)), await trashed()]).to.deep.equal([true, []]);
  });

  it('moves those of many items, at once and by the job, and refuses each item whose library does not allow it', async () => {
    const { db } = api.deps;
    const [up, heat] = [await givenFilm(), await givenFilm('Heat (1995)/Heat (1995).mkv')];
    const other = await newPlace('movies', {}, api);
    await db('libraries').where({ id: other.libraryId }).update({ everyone: true });
    await other.put('Alien (1979)/Alien (1979).mkv');
    await other.scan();
    const [alien] = await other.items();
    const body = {
      action: 'delete' as const,
      itemIds: [up, heat, alien?.id ?? ''],
      delete: { files: 'trash' as const },
    };
    const refused = [{ itemId: alien?.id, reason: 'file-deletion-off' }];
    const editor = await api.given.person('member', { own_permissions: JSON.stringify({ 'item:edit': true }) });
    expect((await api.as(editor).changeItemsInBulk({ body })).status).to.equal(403);
    const dry = await api.as(owner).changeItemsInBulk({ body: { ...body, dryRun: true } });
    expect([dry.body.changed, dry.body.refused, await trashed()]).to.deep.equal([2, refused, []]);
    const done = await api.as(owner).changeItemsInBulk({ body: { ...body, itemIds: body.itemIds.slice(1) } });
    expect([done.body.changed, done.body.refused]).to.deep.equal([1, refused]);
    expect(await db('jobs').where({ kind: 'library.purge' })).to.have.length(1);
    const changeId = await db.transaction((tx) => {
      const change = {
        action: 'delete' as const,
        delete: body.delete,
        add: {},
        remove: {},
        labels: { add: [], remove: [] },
      };
      return keepChange(tx, { accountId: owner.accountId, change, ids: body.itemIds });
    });
    expect(await changeInBulk({ changeId }, place.work())).to.deep.include({ changed: 1 });
    await move();
    expect(
      ['Up (2009)/Up (2009).mkv', 'Heat (1995)/Heat (1995).mkv'].map((name) => existsSync(at(name))),
    ).to.deep.equal([false, false]);
    expect(existsSync(join(other.path, 'Alien (1979)/Alien (1979).mkv'))).to.equal(true);
    expect((await inTrash()).map((path) => existsSync(path))).to.deep.equal([true, true]);
    expect((await restore(up)).body.restored).to.equal(1);
    await move();
    expect(existsSync(at('Up (2009)/Up (2009).mkv'))).to.equal(true);
  });

  it('is refused without the right, the setting, or a storage that can be written', async () => {
    const id = await givenFilm();
    const { db } = api.deps;
    const editor = await api.given.person('member', { own_permissions: JSON.stringify({ 'item:edit': true }) });
    const alone = await api.as(editor).deleteItem({ params: { id }, query: { files: 'trash' } });
    expect([alone.status, errorOf(alone).details]).to.deep.equal([403, { permission: 'library:manage' }]);
    const storage = async (change: object): Promise<void> => {
      await db('storages').where({ id: api.given.storageId }).update(change);
    };
    const setting = (fileDeletion: boolean) =>
      db('libraries')
        .where({ id: place.libraryId })
        .update({ settings: JSON.stringify({ fileDeletion }) });
    await setting(false);
    const off = await remove(id);
    expect([off.status, errorOf(off).details['reason']]).to.deep.equal([409, 'file-deletion-off']);
    await setting(true);
    await storage({ read_only: true });
    const readOnly = await remove(id);
    await storage({ read_only: false });
    expect([readOnly.status, errorOf(readOnly).details['reason']]).to.deep.equal([409, 'read-only']);
    await storage({ state: 'unavailable' });
    const unavailable = await remove(id);
    await storage({ state: 'available' });
    expect(unavailable.status).to.equal(423);
    expect([await trashed(), (await place.items())[0]?.trashed_at]).to.deep.equal([[], null]);
  });
});
