import { expect } from 'chai';
import type { ServerLibrary } from '#operator/library/server-library.ts';
import { LibraryList } from '#operator/server-api/library-list.ts';
import type { SendRequest } from '#operator/server-api/server-client.ts';

const library = (id: string, members: Partial<ServerLibrary> = {}): ServerLibrary => ({
  ...{ id, name: id, order: 0, state: 'ready', folders: [], settings: {}, itemCounts: {}, sizeBytes: 0 },
  ...members,
});

describe('list of libraries', () => {
  it('reports those that a later list shows otherwise, that came, and that went', async () => {
    let there = [library('same'), library('other'), library('gone')];
    const changed: string[] = [];
    const scan = { id: 'scan', folders: [] }; // a Scan looks like a library
    const request: SendRequest = async (method) => ({
      status: 200,
      body: method === 'POST' ? scan : structuredClone(there),
    });
    const list = new LibraryList(request, ({ id }) => changed.push(id));
    await list.all();
    expect(changed, 'the first list reports no change').to.deep.equal([]);
    there = [library('same'), library('other', { sizeBytes: 5 }), library('new')];
    await list.request('POST', '/libraries/same/scan'); // the list is not believed any more
    expect((await list.all()).map(({ id }) => id)).to.deep.equal(['same', 'other', 'new']);
    expect(changed.sort()).to.deep.equal(['gone', 'new', 'other']);
  });

  it('applies the answer to a write, and reports no change', async () => {
    const written = library('a', { name: 'written' });
    const changed: string[] = [];
    const request: SendRequest = async (method) => ({ status: 200, body: method === 'GET' ? [written] : written });
    const list = new LibraryList(request, ({ id }) => changed.push(id));
    await list.request('PATCH', '/libraries/a', {});
    expect((await list.read('a')).body).to.deep.equal(written);
    expect(changed).to.deep.equal([]);
  });
});
