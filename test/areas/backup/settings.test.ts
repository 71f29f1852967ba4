import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import { makeBackup } from '#support/backups.ts';
import type { Person } from '#support/given.ts';
import { atEnd } from '#support/stores.ts';

const PASSPHRASE = 'correct horse battery';
const VERIFIER = '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}'; // of RFC 8037

interface Refusal {
  code: string;
  message: string;
  details: { reason?: string; step?: string; by?: string; feature?: string; revision?: number; fields?: string[] };
}
const refusalOf = ({ body }: Answered): Refusal => (body as unknown as { error: Refusal }).error;

describe('settings of backups', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let me: TestClient;
  beforeEach(async () => {
    api = await startApi();
    owner = await api.given.owner();
    me = api.as(owner);
    await api.deps.db('storages').update({ state: 'available' });
  });

  const patch = (body: object, headers: Record<string, string> = {}, by = me) =>
    by.updateBackupSettings({ body, headers });
  const folder = (path: string) => ({ kind: 'storage', storage: { storageId: api.given.storageId, path } });
  const bucket = (endpoint: string) => ({
    kind: 's3',
    s3: { endpoint, bucket: 'home-backups', accessKeyId: 'key' },
    secretAccessKey: 'a secret key',
  });
  /** An S3 server with the operations that a trial needs: it stores the objects it receives. */
  const pretended = async (): Promise<string> => {
    const kept = new Map<string, Buffer>();
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const name = request.url ?? '';
        const found = kept.get(name);
        if (request.method === 'PUT') kept.set(name, Buffer.concat(chunks));
        response.statusCode = request.method === 'GET' && !found ? 404 : request.method === 'DELETE' ? 204 : 200;
        response.setHeader('etag', '"x"');
        response.setHeader('last-modified', new Date(0).toUTCString());
        response.end(request.method === 'GET' ? found : undefined);
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    atEnd(() => server.closeAllConnections());
    atEnd(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it('begin with the defaults of the contract', async () => {
    const { body } = await me.getBackupSettings();
    expect(body).to.deep.include({
      enabled: true,
      cron: '30 3 * * *',
      verifyCron: '0 5 * * 0',
      keep: { last: 3, daily: 7, weekly: 4, monthly: 6 },
      beforeUpgrade: true,
      objects: 'kept',
      destination: { kind: 'builtin', state: 'ok' },
      encryption: { mode: 'none', passphraseSet: false },
      warnings: ['same-place'],
    });
    expect(new Date(body.nextRunAt ?? '').toISOString()).to.match(/T03:30:00/);
  });

  it('change together or not at all, are announced, and honour If-Match', async () => {
    const first = await me.getBackupSettings();
    const etag = first.headers.get('etag') ?? '';
    const { status, body } = await patch(
      { cron: '0 1 * * 1', keep: { daily: 2 }, objects: 'all' },
      { 'if-match': etag },
    );
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      cron: '0 1 * * 1',
      objects: 'all',
      keep: { last: 3, daily: 2, weekly: 4, monthly: 6 },
    });
    expect(body.revision).to.equal(first.body.revision + 1);
    const stale = await patch({ enabled: false, destination: folder('never') }, { 'if-match': etag });
    expect([stale.status, refusalOf(stale).details]).to.deep.equal([
      409,
      { reason: 'revision', revision: body.revision },
    ]);
    expect(existsSync(join(api.mediaRoot, 'never'))).to.equal(false);
    const both = await patch({ enabled: false, destination: bucket('http://169.254.169.254') });
    expect(refusalOf(both).details.reason).to.equal('check-failed');
    expect((await me.getBackupSettings()).body.enabled).to.equal(true);
    const payloads = await api.deps.db('outbox').where({ event: 'settings.changed' }).pluck('payload');
    expect(payloads).to.deep.equal([{ keys: ['backup.cron', 'backup.keep', 'backup.objects'] }]);
    for (const wrong of [{ cron: 'daily' }, { cron: '0 0 3 * * *' }, { keep: { daily: -1 } }, { maxBytesPerSecond: 1 }])
      expect((await patch(wrong)).status, JSON.stringify(wrong)).to.equal(400);
  });

  it('let only the owner name a destination, a copy or a passphrase', async () => {
    const admin = api.as(await api.given.admin());
    for (const body of [{ destination: folder('x') }, { copyTo: null }, { encryption: { mode: 'none' } }]) {
      const refused = await patch(body, {}, admin);
      expect([refused.status, refusalOf(refused).details.by]).to.deep.equal([403, 'owner']);
    }
    expect((await patch({ enabled: false }, {}, admin)).status).to.equal(200);
  });

  it('try a new destination by writing, reading and deleting one object', async () => {
    expect((await patch({ destination: folder('deep/backups') })).status).to.equal(200);
    expect(readdirSync(join(api.mediaRoot, 'deep/backups'))).to.not.include('backups/.check');
    const { id } = await makeBackup(api);
    expect(existsSync(join(api.mediaRoot, 'deep/backups/backups', id, 'manifest.json'))).to.equal(true);
    const { body } = await me.getBackupSettings();
    expect(body.destination).to.deep.include({ kind: 'storage', state: 'ok' });
    expect((await patch({ destination: { kind: 'builtin' } })).status).to.equal(200);
    const old = (await me.getBackup({ params: { id } })).body;
    expect(old.destination, 'old ones stay where they are').to.deep.equal({ kind: 'storage', name: 'deep/backups' });
    await api.deps.db('storages').update({ read_only: true });
    const closed = refusalOf(await patch({ destination: folder('other') }));
    expect([closed.details.reason, closed.details.step]).to.deep.equal(['check-failed', 'write']);
  });

  it('keep backups out of every library folder, above and below', async () => {
    mkdirSync(join(api.mediaRoot, 'films/new'), { recursive: true });
    const library = { name: 'Films', type: 'movies', folders: [{ storageId: api.given.storageId, path: 'films' }] };
    expect((await me.createLibrary({ body: library })).status).to.equal(201);
    for (const path of ['films', 'films/backups', ''])
      expect(refusalOf(await patch({ destination: folder(path) })).details.reason, path).to.equal('folder-overlap');
    expect((await patch({ destination: folder('films2') })).status).to.equal(200);
  });

  it('take a bucket with its secret, never return it, and require it again for another place', async () => {
    const url = await pretended();
    const opened = await startApi({ FOYER_BACKUP_NETWORKS: '["127.0.0.0/8"]' });
    const mine = opened.as(await opened.given.owner());
    const set = (destination: object) => mine.updateBackupSettings({ body: { destination } });
    const { status, body } = await set(bucket(url));
    expect(status).to.equal(200);
    expect(body.destination.s3).to.deep.include({ bucket: 'home-backups', secretSet: true, pathStyle: true });
    expect(JSON.stringify(body)).to.not.contain('a secret key');
    expect(body.warnings).to.deep.equal(['not-encrypted']);
    const stored = await opened.deps.db('backup_places').select('*');
    expect(JSON.stringify(stored)).to.not.contain('a secret key');
    const { secretAccessKey: _secret, ...without } = bucket(url);
    expect((await set(without)).status).to.equal(200);
    const other = await set({ ...without, s3: { ...without.s3, bucket: 'another-bucket' } });
    expect(other.status).to.equal(400);
  });

  it('reach no address of this machine, of its link or of its cluster', async () => {
    const url = await pretended();
    for (const endpoint of [url, 'http://localhost:9', 'http://169.254.169.254', 'http://[::1]:9', 'http://0.0.0.0']) {
      const refused = refusalOf(await patch({ destination: bucket(endpoint) }));
      expect(refused.details.reason, endpoint).to.equal('check-failed');
    }
    for (const endpoint of ['ftp://s3.example', 'http://me:secret@s3.example', 'x'])
      expect((await patch({ destination: bucket(endpoint) })).status, endpoint).to.equal(400);
  });

  it('name the possible cause of a bucket that does not answer, where there is a cluster', async () => {
    const answer = async (environment: Record<string, string>): Promise<string> => {
      const here = await startApi({ FOYER_BACKUP_NETWORKS: '["127.0.0.0/8"]', ...environment });
      const body = { destination: bucket('http://127.0.0.1:9') };
      return refusalOf(await here.as(await here.given.owner()).updateBackupSettings({ body })).message;
    };
    expect(await answer({})).to.equal('Backups cannot be stored there');
    expect(await answer({ KUBERNETES_SERVICE_HOST: '10.96.0.1' })).to.contain('spec.network.allow');
  });

  it('require the Plus feature for a bucket where licences are required, and for nothing else', async () => {
    const closed = await startApi({ FOYER_PLUS_VERIFIER: VERIFIER });
    const mine = closed.as(await closed.given.owner());
    for (const body of [{ destination: bucket('https://s3.example') }, { copyTo: bucket('https://s3.example') }]) {
      const refused = await mine.updateBackupSettings({ body });
      expect([refused.status, refusalOf(refused).details.feature]).to.deep.equal([402, 'remote-backup']);
    }
    await closed.deps.db('storages').update({ state: 'available' });
    expect((await mine.updateBackupSettings({ body: { destination: folder('b'), enabled: false } })).status).to.equal(
      200,
    );
  });

  it('keep the passphrase sealed and show its fingerprint, which backups bear', async () => {
    expect((await patch({ encryption: { mode: 'passphrase', passphrase: 'too short' } })).status).to.equal(400);
    expect((await patch({ encryption: { mode: 'passphrase' } })).status).to.equal(400);
    const { body } = await patch({ encryption: { mode: 'passphrase', passphrase: PASSPHRASE } });
    expect(body.encryption.fingerprint).to.match(/^[0-9a-f]{8}$/);
    expect(body.warnings).to.include('no-passphrase-copy');
    expect(JSON.stringify(await api.deps.db('backup_settings').first())).to.not.contain(PASSPHRASE);
    expect(JSON.stringify(await api.deps.db('audit_log').select('details'))).to.not.contain(PASSPHRASE);
    const { id, manifest } = await makeBackup(api);
    expect(manifest.encryption?.fingerprint).to.equal(body.encryption.fingerprint);
    await patch({ encryption: { mode: 'passphrase', passphrase: `${PASSPHRASE} other` } });
    const old = (await me.getBackup({ params: { id } })).body;
    expect(old).to.deep.include({ encrypted: true, restorable: false, notRestorableReason: 'wrong-passphrase' });
    expect((await patch({ encryption: { mode: 'none' } })).body.encryption).to.deep.equal({
      mode: 'none',
      passphraseSet: false,
    });
  });
});
