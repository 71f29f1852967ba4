// Drives of members and the libraries that have folders on them.
import { expect } from 'chai';
import { removeFoldersOf } from '#areas/libraries/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';

describe('drives of members', () => {
  let api: Api;
  let member: Person;
  before(async () => {
    api = await startApi();
    member = await api.given.member();
  });
  const drive = async (of: Person): Promise<string> => {
    const id = newId();
    const settings = { url: 'http://192.168.0.2/dav' };
    await api.deps.db('storages').insert({ id, name: id, kind: 'webdav', settings, owner_id: of.accountId });
    return id;
  };

  it('give no folder to a library while the account may not use them', async () => {
    const library = await givenLibrary(api.deps.db, 'photos');
    const restrictions = JSON.stringify({ personalStorage: 'deny' });
    const restricted = await api.given.person('member', { restrictions });
    const folders = [{ storageId: await drive(restricted), path: 'Trip' }];
    const answer = await api.as(restricted).addLibraryFolders({ params: { id: library.id }, body: { folders } });
    expect([answer.status, JSON.stringify(answer.body)]).to.satisfy(
      ([status, text]: [number, string]) => status === 403 && text.includes('personalStorage'),
    );
  });

  it('refuse an address whose path is no text, as a fault of the form', async () => {
    const body = { name: 'x', kind: 'webdav', settings: { url: 'https://dav.example/%zz' } };
    const answer = await api.as(member).connectDrive({ body });
    expect([answer.status, JSON.stringify(answer.body)]).to.satisfy(
      ([status, text]: [number, string]) => status === 400 && text.includes('bad_address'),
    );
  });

  it('take their items to the trash when the account is purged, which no library counts any more', async () => {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'photos');
    const [storageId, folderId] = [await drive(member), newId()];
    const folder = {
      id: folderId,
      library_id: library.id,
      storage_id: storageId,
      path: 'Trip',
      added_by: member.accountId,
    };
    await db('library_folders').insert(folder);
    const [theirs, other] = [await givenItem(db, library), await givenItem(db, library)];
    await givenFile(db, library, theirs, { storage_id: storageId, folder_id: folderId });
    await givenFile(db, library, other);
    await db.transaction((transaction) => removeFoldersOf(transaction, member.accountId));
    const rows = await db('items').whereIn('id', [theirs, other]).select('id', 'trash_reason');
    expect(rows).to.have.deep.members([
      { id: theirs, trash_reason: 'folder-removed' },
      { id: other, trash_reason: null },
    ]);
    expect(await db('library_folders').where({ storage_id: storageId })).to.deep.equal([]);
  });
});
