import { expect } from 'chai';
import { prepareServer } from '#areas/setup/public.ts';
import type { DeclaredBackup } from '#platform/config.ts';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';

const MANAGED_BY = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: 'u1' };
const place = (bucket: string) => ({
  endpoint: 'http://minio.media.svc:9000',
  bucket,
  pathStyle: true,
  accessKeyId: 'key',
  secretAccessKey: 'of the first bucket',
});
const DECLARED: DeclaredBackup = {
  schedule: '0 2 * * *',
  keep: { last: 1, daily: 2, weekly: 3, monthly: 4 },
  destination: place('first-bucket'),
  copyTo: place('second-bucket'),
  passphrase: 'correct horse battery',
};

interface Refusal {
  reason: string;
  fields: string[];
  managedBy: object;
}

describe('backups that the resource declares', () => {
  let api: Api;
  let me: TestClient;
  beforeEach(async () => {
    const environment = { FOYER_BACKUP: JSON.stringify(DECLARED), FOYER_MANAGED_BY: JSON.stringify(MANAGED_BY) };
    api = await startApi(environment);
    me = api.as(await api.given.owner());
  });

  const shown = async () => (await me.getBackupSettings()).body;
  /** As the next roll-out does. */
  const declare = (declaredBackup: DeclaredBackup | undefined) =>
    prepareServer(api.deps.db, { ...api.config, declaredBackup }, api.deps.keys);
  const detailsOf = ({ body }: Answered): Refusal => (body as unknown as { error: { details: Refusal } }).error.details;

  it('are in force, with their secrets sealed, and read-only for everybody', async () => {
    const settings = await shown();
    expect(settings).to.deep.include({ enabled: true, cron: '0 2 * * *', keep: DECLARED.keep });
    expect(settings.destination.s3).to.deep.include({ bucket: 'first-bucket', secretSet: true });
    expect(settings.copyTo?.s3?.bucket).to.equal('second-bucket');
    expect(settings.encryption).to.deep.include({ mode: 'passphrase', passphraseSet: true });
    expect(settings.warnings, 'the Secret has it too').to.not.include('no-passphrase-copy');
    const changes = [
      { enabled: false },
      { cron: '0 1 * * *' },
      { keep: { last: 9 } },
      { destination: { kind: 'builtin' } },
      { copyTo: null },
      { encryption: { mode: 'none' } },
    ];
    for (const body of changes) {
      const refused = await me.updateBackupSettings({ body: { ...body, objects: 'all' } });
      expect(detailsOf(refused)).to.deep.equal({
        reason: 'managed-by-resource',
        fields: Object.keys(body),
        managedBy: MANAGED_BY,
      });
    }
    expect(await shown(), 'no part of it was applied').to.deep.equal(settings);
    expect((await me.updateBackupSettings({ body: { objects: 'all' } })).status).to.equal(200);
    const kept = JSON.stringify([await api.deps.db('backup_settings'), await api.deps.db('backup_places')]);
    expect(kept).to.not.contain(DECLARED.passphrase).and.not.contain('of the first bucket');
  });

  it('change with the resource alone, keep the key of a passphrase that stays, and are free when it declares nothing', async () => {
    const before = await shown();
    await declare(DECLARED);
    expect((await shown()).revision, 'nothing changed').to.equal(before.revision);
    const { copyTo: _copy, ...alone } = DECLARED;
    await declare({ ...alone, schedule: '0 4 * * *' });
    const after = await shown();
    expect(after.cron).to.equal('0 4 * * *');
    expect(after).to.not.have.property('copyTo');
    expect(after.encryption.fingerprint).to.equal(before.encryption.fingerprint);
    await declare({ ...alone, passphrase: 'another passphrase' });
    expect((await shown()).encryption.fingerprint).to.not.equal(before.encryption.fingerprint);
    await declare(undefined);
    const free = await shown();
    expect(free).to.not.have.property('managedFields');
    expect(free.destination.s3?.bucket, 'as it was').to.equal('first-bucket');
    expect((await me.updateBackupSettings({ body: { destination: { kind: 'builtin' } } })).status).to.equal(200);
  });
});
