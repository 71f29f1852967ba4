// Backups in a bucket of a real S3 server outside.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Client } from 'minio';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import { copyOf, makeBackup, namesAt } from '#support/backups.ts';
import { ACCESS, SECRET, startS3 } from '#support/s3.ts';

const BUCKET = 'home-backups';
const detailsOf = ({ body }: Answered): unknown => (body as unknown as { error: { details: unknown } }).error.details;

describe('backups in a bucket outside', function () {
  this.timeout(180_000);
  let api: Api;
  let me: TestClient;
  let endpoint: string;
  before(async () => {
    const { port } = new URL(await startS3());
    endpoint = `http://127.0.0.1:${port}`;
    const client = new Client({
      endPoint: '127.0.0.1',
      port: Number(port),
      useSSL: false,
      accessKey: ACCESS,
      secretKey: SECRET,
    });
    await client.makeBucket(BUCKET);
    api = await startApi({ FOYER_BACKUP_NETWORKS: '["127.0.0.0/8"]' });
    me = api.as(await api.given.owner());
  });

  const place = (more: object = {}, secretAccessKey = SECRET) => ({
    kind: 's3',
    s3: { endpoint, bucket: BUCKET, prefix: 'our/server', accessKeyId: ACCESS, ...more },
    secretAccessKey,
  });
  const set = (destination: object) => me.updateBackupSettings({ body: { destination } });

  it('are refused with the step where the secret is not the right one', async () => {
    const refused = await set(place({}, 'another secret'));
    expect(detailsOf(refused)).to.deep.include({ reason: 'check-failed', step: 'write' });
    expect((await me.getBackupSettings()).body.destination.kind).to.equal('builtin');
  });

  it('are made, read, listed, shared and deleted there, below the prefix', async () => {
    expect((await set(place())).status).to.equal(200);
    await api.deps.objects.put('foyer-artwork', 'large', randomBytes(5_000_000));
    await api.deps.objects.put('foyer-artwork', 'small', randomBytes(500));
    const first = await makeBackup(api);
    expect(await copyOf(first, 'accounts')).to.contain('owner-');
    const names = await namesAt(first.destination);
    expect(names).to.include(`backups/${first.id}/manifest.json`);
    expect(names.filter((name) => name.startsWith('objects/'))).to.have.length(2);
    const second = await makeBackup(api);
    expect((await me.getBackup({ params: { id: second.id } })).body.objects.newBytes).to.equal(0);
    expect((await me.deleteBackup({ params: { id: first.id } })).status).to.equal(204);
    expect(await namesAt(second.destination, `backups/${first.id}/`)).to.deep.equal([]);
    const { items } = (await me.listBackups({ query: { refresh: true } })).body;
    expect(items.map(({ id, state }) => [id, state])).to.deep.equal([[second.id, 'completed']]);
    const tar = await me.downloadBackup({ params: { id: second.id }, headers: { range: 'bytes=1000-' } });
    expect(tar.status).to.equal(206);
  });
});
