// A worker process that is killed with kill -9 while it makes a backup.
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { namesAt, placeOf } from '#support/backups.ts';
import { started, storesOf } from '#support/processes.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';

const LONG_MS = 120_000;

describe('a backup whose worker is killed', function () {
  this.timeout(300_000);
  let api: Api;
  let me: TestClient;
  before(async () => {
    api = await startApi();
    me = api.as(await api.given.owner());
    await me.updateBackupSettings({ body: { maxBytesPerSecond: 400_000 } });
    for (let n = 0; n < 40; n += 1) await api.deps.objects.put('foyer-artwork', `pictures/${n}`, randomBytes(200_000));
  });

  const worker = () =>
    started(
      ['workers/main.ts'],
      { ...storesOf(api.config), FOYER_SCRATCH_DIR: temporaryFolder('worker'), FOYER_LOG_LEVEL: 'info' },
      'worker is up',
    );
  const backup = async (id: string) => (await me.getBackup({ params: { id } })).body;

  it('continues at its objects in another worker; the tables are not dumped again', async () => {
    const first = await worker();
    const { id } = (await me.createBackup()).body;
    const destination = await placeOf(api);
    await eventually(async () => (await namesAt(destination, 'objects/')).length >= 4, LONG_MS);
    process.kill(first, 'SIGKILL');
    const folder = join(new URL(api.config.objectsUrl).pathname, 'foyer-backups');
    const parts = await namesAt(destination, `backups/${id}/`);
    const times = () => parts.map((name) => statSync(join(folder, name)).mtimeMs);
    const before = times();
    const objects = (await namesAt(destination, 'objects/')).length;
    expect(objects).to.be.lessThan(40);
    expect((await backup(id)).state).to.equal('running');
    await me.updateBackupSettings({ body: { maxBytesPerSecond: null } });
    const second = await worker();
    try {
      const done = await eventually(async () => {
        const now = await backup(id);
        return now.state !== 'running' && now;
      }, LONG_MS);
      expect(done).to.deep.include({ state: 'completed', restorable: true });
      expect(done.objects.count).to.equal(40);
      expect(done.objects.newBytes, 'of this attempt').to.be.at.most((40 - objects) * 200_000);
      expect(times()).to.deep.equal(before);
    } finally {
      process.kill(second, 'SIGKILL');
    }
  });
});
