import { expect } from 'chai';
import { declaredBackup } from '#operator/backup-environment.ts';
import { backupStatus, backupVerdict, type ObservedBackup } from '#operator/backup-verdict.ts';
import { apiUnavailable, observeApi } from '#operator/observed-api.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { readConfig } from '#platform/config.ts';
import { type Api, startApi } from '#support/api.ts';
import { makeBackup } from '#support/backups.ts';

const spec = MediaServerSpec.parse({
  postgres: { managed: {} },
  redis: { managed: {} },
  objects: { managed: {} },
  backup: {
    schedule: '0 2 * * *',
    destination: { s3: { endpoint: 'https://s3.example', bucket: 'home-backups', secretRef: { name: 'bucket' } } },
    encryptionSecretRef: { name: 'seal', key: 'passphrase' },
  },
});
const secrets = new Map([
  ['bucket', { accessKey: 'key', secretKey: 'secret' }],
  ['seal', { passphrase: 'correct horse battery' }],
]);
const good: ObservedBackup = {
  destination: 'ok',
  overdue: false,
  lastCompletedAt: '2026-11-22T02:00:30.000Z',
  last: { state: 'completed' },
};
const verdictText = (seen: ObservedBackup | undefined): string => {
  const { status, reason } = backupVerdict(spec, seen);
  return `${status} ${reason}`;
};

describe('spec.backup', function () {
  this.timeout(60_000);

  it('reaches the server with its secrets, in one variable, and not at all when it is absent', () => {
    const text = declaredBackup(spec, secrets) ?? '';
    const needed = {
      FOYER_DATABASE_URL: 'postgres://x',
      FOYER_REDIS_URL: 'redis://x',
      FOYER_OBJECTS_URL: 'file:///x',
      FOYER_KEYS_FILE: '/x',
    };
    expect(readConfig({ ...needed, FOYER_BACKUP: text }).declaredBackup).to.deep.equal({
      schedule: '0 2 * * *',
      keep: { last: 3, daily: 7, weekly: 4, monthly: 6 },
      destination: {
        endpoint: 'https://s3.example',
        bucket: 'home-backups',
        pathStyle: true,
        accessKeyId: 'key',
        secretAccessKey: 'secret',
      },
      passphrase: 'correct horse battery',
    });
    expect(declaredBackup({}, secrets)).to.equal(undefined);
  });

  it('is healthy only while the last backup is good, in time, and the place answers', () => {
    expect(verdictText(undefined)).to.equal('Unknown ServerNotReady');
    expect(verdictText(good)).to.equal('True Completed');
    expect(verdictText({ ...good, last: { state: 'running' } })).to.equal('True Completed');
    expect(verdictText({ ...good, last: { state: 'verified' } })).to.equal('True Completed');
    expect(verdictText({ ...good, last: { state: 'failed', message: 'full' } })).to.equal('False BackupFailed');
    expect(verdictText({ ...good, last: { state: 'damaged' } })).to.equal('False BackupFailed');
    expect(verdictText({ ...good, overdue: true })).to.equal('False BackupOverdue');
    expect(verdictText({ ...good, destination: 'unreachable' })).to.equal('False DestinationUnreachable');
    expect(verdictText({ destination: 'ok', overdue: false })).to.equal('Unknown NeverBackedUp');
    expect(backupStatus({ ...good, last: { state: 'failed', message: 'full' } })).to.deep.equal({
      backup: { lastCompletedAt: good.lastCompletedAt, state: 'failed', message: 'full' },
    });
    expect(backupStatus({ destination: 'ok', overdue: false })).to.deep.equal({});
  });

  it('that is absent leaves it to the app, whose backups are judged the same', () => {
    const app = (seen: ObservedBackup | undefined) => backupVerdict({ networkPolicy: { enabled: true } }, seen);
    expect(app(undefined)).to.include({ status: 'False', reason: 'NoneAsked' });
    expect(app({ ...good, off: true })).to.include({ status: 'False', reason: 'NoneAsked' });
    expect(app(good)).to.include({ status: 'True', reason: 'Completed' });
    expect(app({ ...good, overdue: true })).to.include({ status: 'False', reason: 'BackupOverdue' });
    const unreachable = { ...good, destination: 'unreachable', kind: 's3' };
    expect(app(unreachable).message).to.contain('set in the app').and.contain('spec.network.allow');
    const open = (seen: ObservedBackup, { enabled = true } = {}) =>
      backupVerdict({ networkPolicy: { enabled } }, seen).message;
    expect(open({ ...unreachable, kind: 'builtin' })).to.not.contain('NetworkPolicies');
    expect(open(unreachable, { enabled: false })).to.not.contain('NetworkPolicies');
    expect(backupVerdict(spec, unreachable).message).to.match(/^spec\.backup\.destination is unreachable: [^;]*$/);
  });

  it('is judged by the answers of a real server to the key of the operator', async () => {
    const api: Api = await startApi();
    const headers = { authorization: `Bearer ${api.operatorKey}` };
    const send = async (method: string, path: string) => {
      const response = await api.fetch(`/api/v1${path}`, { method, headers });
      return { status: response.status, body: await response.json().catch(() => undefined) };
    };
    const see = async () => (await observeApi(send as never)).backup;
    expect((await see())?.lastCompletedAt).to.equal(undefined);
    expect(verdictText(await see())).to.equal('Unknown NeverBackedUp');
    const { id } = await makeBackup(api);
    expect(verdictText(await see())).to.equal('True Completed');
    await api.deps
      .db('backups')
      .where({ id })
      .update({ started_at: new Date(Date.now() - 3 * 86_400_000) });
    expect(verdictText(await see())).to.equal('False BackupOverdue');
    await api.deps.db('backup_places').update({ state: 'full', state_reason: 'no space left' });
    expect(verdictText(await see())).to.equal('False DestinationUnreachable');
    expect(backupVerdict({}, await see())).to.include({ status: 'False', reason: 'DestinationUnreachable' });
    await api.deps.db('backup_settings').update({ enabled: false });
    expect(backupVerdict({}, await see())).to.include({ status: 'False', reason: 'NoneAsked' });
    expect(apiUnavailable).to.not.have.property('backup');
  });
});
