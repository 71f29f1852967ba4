// Requests that wait for a storage hold no transaction, so that they keep no row and no connection from others.
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';
import { LOOPBACK, webdavPlace } from '#support/remote-places.ts';
import { eventually } from '#support/stores.ts';

describe('requests that wait for a storage', function () {
  this.timeout(60_000);
  let api: Api;
  let admin: Person;
  let server: Server;
  let url: string;
  const held = new Set<Socket>();

  before(async () => {
    api = await startApi(LOOPBACK);
    admin = await api.given.owner();
    server = createServer((socket) => void held.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}/dav`;
    const values = { 'storages.personalHosts': ['127.0.0.1'] };
    expect((await api.as(admin).updateSettings({ body: { values } })).status).to.equal(200);
  });
  const release = (): void => {
    for (const socket of held) socket.destroy();
    held.clear();
  };
  after(() => {
    release();
    server.close();
  });

  /** Runs `meanwhile` while the server of the storage has the request and does not answer. */
  async function whileWaiting<T>(
    request: Promise<T>,
    meanwhile: () => Promise<unknown> = async () => undefined,
  ): Promise<T> {
    await eventually(() => held.size > 0);
    const { rows } = await api.deps.db.raw<{ rows: { query: string }[] }>(
      `select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    );
    await meanwhile();
    const stop = setInterval(release, 50);
    const answer = await request.finally(() => clearInterval(stop));
    expect(rows, 'open transactions').to.deep.equal([]);
    return answer;
  }

  it('connect a drive', async () => {
    const draft = { kind: 'webdav', name: 'drive', settings: { url } };
    const { status, body } = await whileWaiting(api.as(admin).connectDrive({ body: draft }));
    expect([status, JSON.stringify(body)]).to.satisfy(
      ([code, text]: [number, string]) => code === 409 && text.includes('check-failed'),
    );
  });

  it('connect a drive with a test when the kept answer of the key ends meanwhile', async () => {
    const { kind, settings, secrets, stop } = await webdavPlace();
    const other = await api.given.admin();
    const connect = () =>
      api.as(other).connectDrive({
        body: { kind, name: 'ending', settings, secrets },
        headers: { 'idempotency-key': 'ending' },
      });
    expect((await connect()).status).to.equal(201);
    stop?.();
    await api.deps.db('storages').where({ name: 'ending' }).delete();
    await api.deps
      .db('idempotency_keys')
      .where({ key: 'ending' })
      .update({ created_at: api.deps.db.raw(`now() - interval '24 hours' + interval '2 seconds'`) });
    const holding = await api.deps.db.transaction();
    await holding.raw('lock table idempotency_keys in access exclusive mode');
    const again = connect();
    await new Promise((resolve) => void setTimeout(resolve, 2500));
    await holding.commit();
    const { status, body } = await again;
    expect([status, JSON.stringify(body).includes('check-failed')]).to.deep.equal([409, true]);
  });

  it('connect a drive once for each Idempotency-Key, without another test', async () => {
    const { kind, settings, secrets, stop } = await webdavPlace();
    const connect = () =>
      api.as(admin).connectDrive({
        body: { kind, name: 'connected', settings, secrets },
        headers: { 'idempotency-key': 'drive' },
      });
    const first = await connect();
    expect(first.status, JSON.stringify(first.body)).to.equal(201);
    stop?.();
    const again = await connect();
    expect([again.status, again.body.id]).to.deep.equal([200, first.body.id]);
  });

  it('keep the key as long as their process lives, and seconds longer when it is killed', async () => {
    const body = { kind: 'webdav', name: 'killed', settings: { url } };
    const request = (): Promise<{ status: number; body: unknown }> =>
      api.as(admin).connectDrive({ body, headers: { 'idempotency-key': 'killed' } });
    const name = `idempotency:${admin.accountId}|connectDrive|killed`;
    const first = request();
    await eventually(() => held.size > 0);
    await new Promise((resolve) => setTimeout(resolve, 6000));
    expect((await request()).body).to.have.nested.property('error.details.reason', 'in-progress');
    // A killed process renews it no more.
    expect(await api.deps.redis.pttl(name)).to.be.within(14_500, 20_000);
    await whileWaiting(first);
    expect(await api.deps.redis.exists(name)).to.equal(0);
  });

  it('add a folder to a library, which others change in the meantime', async () => {
    const made = await api
      .as(admin)
      .createStorage({ body: { name: newId(), kind: 'webdav', settings: { url }, check: false } });
    const { id } = await givenLibrary(api.deps.db, 'photos');
    const draft = { name: newId(), type: 'photos', folders: [{ storageId: made.body.id, path: 'a' }] };
    const created = await whileWaiting(api.as(admin).createLibrary({ body: draft }));
    expect(created.status).to.equal(423);
    await api.deps.db('library_folders').delete();
    const folders = [{ storageId: made.body.id, path: 'a' }];
    const rename = async (): Promise<void> => {
      const { status } = await api.as(admin).updateLibrary({ params: { id }, body: { name: newId() } });
      expect(status).to.equal(200);
    };
    const added = await whileWaiting(api.as(admin).addLibraryFolders({ params: { id }, body: { folders } }), rename);
    expect(added.status).to.equal(423);
    const changed = await whileWaiting(api.as(admin).updateLibrary({ params: { id }, body: { folders } }), rename);
    expect(changed.status).to.equal(423);
  });
});
