import { expect } from 'chai';
import { Fenced } from '#platform/fence.ts';
import { type Api, startApi } from '#support/api.ts';
import { unfenced } from '#support/restoring.ts';
import { asSole } from '#workers/backup/sole.ts';

describe('the connection that makes backups', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  const held = () => asSole(api.deps, async () => 'held').catch((error: unknown) => error);

  it('is refused while a restore exchanges the database, and to a process of before the exchange', async () => {
    expect(await held()).to.deep.equal({ value: 'held' });
    const db = unfenced(api.config.databaseUrl, api.deps.log);
    await db('foyer_restore.epoch').update({ closed: true });
    expect(await held()).to.be.instanceOf(Fenced);
    await db('foyer_restore.epoch').update({ closed: false });
    expect(await held()).to.deep.equal({ value: 'held' });
    await db('foyer_restore.epoch').increment('number', 1);
    expect(await held()).to.be.instanceOf(Fenced);
  });
});
