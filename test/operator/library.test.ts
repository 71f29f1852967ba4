import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { differences, libraryBody, reconcileLibrary, releaseLibrary, SCAN } from '#operator/library/library.ts';
import type { ServerLibrary } from '#operator/library/server-library.ts';
import { parseText } from '#operator/local/documents.ts';
import { toResources } from '#operator/local/resources.ts';
import { type LibraryStatus, LibraryStatus as LibraryStatusSchema } from '#operator/schemas/library.ts';
import { accountsNamed, accountsOf } from '#operator/server-api/accounts.ts';
import { type Answer, type SendRequest, serverClient, Unreachable } from '#operator/server-api/server-client.ts';

const managedBy = { kind: 'Library', namespace: 'default', name: 'films', uid: 'u1' };
const FILE = `apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: films, annotations: { ${SCAN}: again } }
spec:
  serverRef: { name: home }
  displayName: Films
  type: movies
  folders: [{ media: media, path: /films/ }, { media: media, path: /more }]
  agents: [nfo, tmdb]
  access: { roles: [admin, member] }
`;
const resourceOf = (text = FILE) => {
  const [library] = toResources(parseText(text, 'a.yaml')).resources.libraries;
  if (!library) throw new Error('no library');
  return library;
};

/** The server's side as the operator needs it: rows, and a list of requests. */
function fakeServer(rows: Map<string, ServerLibrary>) {
  const requests: string[] = [];
  const answer = (status: number, body?: unknown): Answer => ({ status, body });
  const request: SendRequest = async (method, path, body) => {
    const sent = body as Record<string, unknown> | undefined;
    requests.push(
      `${method} ${path} ${Object.keys(sent ?? {})
        .sort()
        .join()}`.trim(),
    );
    const [, , id = ''] = path.split('/');
    if (path.startsWith('/scans/')) return answer(200, { id, folders: [], startedAt: '2025-12-31T23:59:00.000Z' });
    if (method === 'POST' && path === '/libraries') {
      const made = {
        id: 'l1',
        order: 1,
        state: 'ready',
        itemCounts: { movie: 2 },
        sizeBytes: 9,
        ...sent,
      } as unknown as ServerLibrary;
      made.folders = made.folders.map((folder) => ({ ...folder, id: 'f', state: 'available' }));
      rows.set('l1', made);
      return answer(201, made);
    }
    const row = rows.get(id);
    if (!row) return answer(404, { error: { code: 'NOT_FOUND', message: 'none' } });
    if (method === 'PATCH') Object.assign(row, sent);
    if (method === 'DELETE') rows.delete(id);
    return answer(method === 'DELETE' ? 204 : 200, row);
  };
  return { request, requests };
}

describe('Library resource', () => {
  const context = (request: SendRequest) => ({
    request,
    managedBy,
    mediaId: (name: string) => `id of ${name}`,
    read: (id: string) => request('GET', `/libraries/${id}`),
    accounts: async (names: readonly string[]) => accountsNamed(names, await accountsOf(request)),
  });

  it('sets only the members that its spec names', () => {
    expect(
      libraryBody(
        resourceOf(),
        context(async () => ({ status: 200, body: {} })),
      ),
    ).to.deep.equal({
      name: 'Films',
      folders: [
        { storageId: 'id of media', path: 'films' },
        { storageId: 'id of media', path: 'more' },
      ],
      settings: { agents: ['nfo', 'tmdb'], watch: 'auto', scanCron: '0 4 * * *' },
    });
  });

  it('is made once, scanned once for each value of the annotation, and then only read', async () => {
    const { request, requests } = fakeServer(new Map());
    const first = await reconcileLibrary(resourceOf(), {}, context(request));
    expect(requests).to.deep.equal([
      'POST /libraries access,folders,managedBy,managedFields,name,settings,type',
      'POST /libraries/l1/scan mode',
    ]);
    expect(first.status).to.include({ libraryId: 'l1', items: 2, sizeBytes: 9, scanRequest: 'again' });
    expect(first.verdicts[0]).to.include({ type: 'Ready', status: 'True' });
    requests.length = 0;
    await reconcileLibrary(resourceOf(), first.status, context(request));
    expect(requests).to.deep.equal(['GET /libraries/l1']);
  });

  it('restores drifted members, and no others', async () => {
    const rows = new Map<string, ServerLibrary>();
    const { request, requests } = fakeServer(rows);
    const { status } = await reconcileLibrary(resourceOf(), {}, context(request));
    const row = rows.get('l1') as ServerLibrary;
    row.settings = { ...row.settings, onHome: false }; // a person's own
    row.folders.reverse();
    row.name = 'Renamed';
    requests.length = 0;
    await reconcileLibrary(resourceOf(), status, context(request));
    expect(requests).to.deep.equal(['GET /libraries/l1', 'PATCH /libraries/l1 name']);
    expect(differences({ folders: [{ storageId: 'x', path: '' }] }, row)).to.have.property('folders');
  });

  it('is at rest in whatever order the server lists roles and accounts, and never where another one is named', () => {
    const access = { everyone: false, roles: ['member', 'admin'], accountIds: ['b', 'a'] };
    const there = { access: { everyone: false, roles: ['admin', 'member'], accountIds: ['a', 'b'] } };
    const row = there as unknown as ServerLibrary;
    expect(differences({ access }, row)).to.deep.equal({});
    expect(differences({ access: { ...access, accountIds: ['a', 'c'] } }, row)).to.have.property('access');
    expect(differences({ access: { ...access, accountIds: ['a'] } }, row)).to.have.property('access');
    const agents = { settings: { agents: ['tmdb', 'nfo'] } };
    expect(
      differences({ settings: { agents: ['nfo', 'tmdb'] } }, agents as unknown as ServerLibrary),
    ).not.to.deep.equal({});
  });

  it('is made again when the server no longer has it', async () => {
    const { request, requests } = fakeServer(new Map());
    await reconcileLibrary(resourceOf(), { libraryId: 'gone', scanRequest: 'again' }, context(request));
    expect(requests.map((line) => line.split(' ').slice(0, 2).join(' '))).to.deep.equal([
      'GET /libraries/gone',
      'POST /libraries',
    ]);
  });

  it('reports a refusal as a condition', async () => {
    const body = { error: { code: 'CONFLICT', message: 'taken', details: { reason: 'duplicate-name' } } };
    const { verdicts, status } = await reconcileLibrary(
      resourceOf(),
      {},
      context(async () => ({ status: 409, body })),
    );
    expect(verdicts.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`)).to.deep.equal([
      'Ready False ApiRefused',
      'Synced False ApiRefused',
    ]);
    expect(verdicts[0]?.message).to.contain('409 CONFLICT duplicate-name: taken');
    expect(status).to.deep.equal({});
  });

  it('reports unavailable folders and scans', async () => {
    const rows = new Map<string, ServerLibrary>();
    const { request, requests } = fakeServer(rows);
    const { status } = await reconcileLibrary(resourceOf(), {}, context(request));
    const row = rows.get('l1') as ServerLibrary;
    Object.assign(row.folders[0] ?? {}, { state: 'unavailable' });
    const counts = { added: 2, updated: 0, missing: 0 };
    row.lastScan = { id: 's1', state: 'completed', finishedAt: '2026-01-01T00:00:00.000Z', ...counts };
    const again = await reconcileLibrary(resourceOf(), status, context(request));
    const verdictsOf = Object.fromEntries(
      again.verdicts.map(({ type, status: is, reason }) => [type, `${is} ${reason}`]),
    );
    expect(verdictsOf).to.include({ Ready: 'False FolderMissing', Scanned: 'True Completed', Synced: 'True InSync' });
    expect(again.verdicts[0]?.message, 'which, and what to do').to.match(/: media:\/films \(unavailable\): check/);
    const startedAt = '2025-12-31T23:59:00.000Z';
    expect(again.status.lastScan).to.deep.equal({
      ...counts,
      startedAt,
      finishedAt: '2026-01-01T00:00:00.000Z',
      result: 'completed',
    });
    requests.length = 0;
    expect((await reconcileLibrary(resourceOf(), again.status, context(request))).status).to.deep.equal(again.status);
    expect(requests, 'when it began is known').to.deep.equal(['GET /libraries/l1']);
  });

  it('names unknown accounts, applies the rest, and heals when they are created', async () => {
    const rows = new Map<string, ServerLibrary>();
    const { request } = fakeServer(rows);
    const people = [{ id: 'a1', username: 'Ann' }];
    const withPeople: SendRequest = async (method, path, body) =>
      path.startsWith('/users')
        ? { status: 200, body: { items: people, page: { cursor: null } } }
        : request(method, path, body);
    const library = resourceOf(FILE.replace('roles: [admin, member]', 'users: [ann, ben, eve]'));
    const verdictsOf = ({ verdicts }: Awaited<ReturnType<typeof reconcileLibrary>>) =>
      Object.fromEntries(verdicts.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
    const first = await reconcileLibrary(library, {}, context(withPeople));
    expect(verdictsOf(first)).to.include({ Ready: 'True AllReady', Synced: 'False AccountUnknown' });
    const message = first.verdicts.find(({ type }) => type === 'Synced')?.message;
    expect(message).to.include('spec.access.users: no account is named ben, eve:').and.not.match(/ann/i);
    expect(rows.get('l1')?.access).to.deep.equal({ everyone: false, roles: [], accountIds: ['a1'] });
    expect(rows.get('l1')?.name, 'the rest is applied').to.equal('Films');
    people.push({ id: 'b2', username: 'ben' }, { id: 'e3', username: 'eve' });
    const healed = await reconcileLibrary(library, first.status, context(withPeople));
    expect(verdictsOf(healed)).to.include({ Ready: 'True AllReady', Synced: 'True InSync' });
    expect(rows.get('l1')?.access).to.deep.include({ accountIds: ['a1', 'b2', 'e3'] });
  });

  it('answers an annotation that no status could hold once, too', async () => {
    const { request, requests } = fakeServer(new Map());
    const library = resourceOf(FILE.replace(': again', `: ${'x'.repeat(3000)}`));
    const { status } = await reconcileLibrary(library, {}, context(request));
    expect(LibraryStatusSchema.safeParse(status).error).to.equal(undefined);
    requests.length = 0;
    await reconcileLibrary(library, status, context(request));
    expect(requests).to.deep.equal(['GET /libraries/l1']);
  });

  it('is let go or deleted when the resource is gone', async () => {
    const status: LibraryStatus = { libraryId: 'l1' };
    const rows = new Map<string, ServerLibrary>();
    const { request, requests } = fakeServer(rows);
    await reconcileLibrary(resourceOf(), {}, context(request));
    requests.length = 0;
    const { spec } = resourceOf();
    expect(await releaseLibrary(spec, status, request)).to.equal(true);
    expect(await releaseLibrary({ ...spec, deletionPolicy: 'Delete' }, status, request)).to.equal(true);
    expect(requests).to.deep.equal(['PATCH /libraries/l1 managedBy', 'DELETE /libraries/l1']);
    expect(await releaseLibrary(spec, status, request)).to.equal(true); // 404
    expect(await releaseLibrary(spec, status, async () => ({ status: 503, body: undefined }))).to.equal(false);
  });
});

describe('server client', () => {
  let server: Server;
  let port: number;
  beforeEach(async () => {
    server = createServer((request, response) => {
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, authorization: headers.authorization }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as { port: number });
  });
  afterEach(() => server.close());

  it('uses the operator key', async () => {
    expect((await serverClient(`http://127.0.0.1:${port}`, 'foyer_x')('GET', '/libraries')).body).to.deep.equal({
      method: 'GET',
      url: '/api/v1/libraries',
      authorization: 'Bearer foyer_x',
    });
  });

  it('distinguishes an unreachable server from one that refuses', async () => {
    server.close();
    await once(server, 'close');
    const fault: unknown = await serverClient(`http://127.0.0.1:${port}`, 'x')('GET', '/').catch(
      (error: unknown) => error,
    );
    expect(fault).to.be.instanceOf(Unreachable);
  });
});
