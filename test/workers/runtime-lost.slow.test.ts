import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Workers } from '#support/workers.ts';

describe('a job that kills its worker', function () {
  this.timeout(120_000);

  it('is given up as worker-lost once it has taken four workers with it, and harms no other', async () => {
    const workers = await Workers.make();
    await workers.start();
    const id = await workers.enqueueAct('die', { maxAttempts: 1 });
    const other = await workers.enqueueAct('');
    const deadline = Date.now() + 100_000;
    let row = await workers.job(id);
    while (row.state !== 'failed' && Date.now() < deadline) {
      if (!workers.anyAlive()) await workers.start();
      await sleep(100);
      row = await workers.job(id);
    }
    expect(row).to.include({ state: 'failed', attempts: 1, losses: 3 });
    expect(row.error).to.include({ code: 'INTERNAL', reason: 'worker-lost' });
    expect(workers.noted(id)).to.equal(4);
    expect((await workers.reaches(other, 'completed')).error).to.equal(null);
    await workers.end();
  });

  it('is given up alone, although another job is taken with it each time', async () => {
    const workers = await Workers.make();
    const id = await workers.enqueueAct('die', { maxAttempts: 1 });
    const other = await workers.enqueueAct('slow');
    await workers.db('jobs').update({ state: 'active' }); // as if one worker had died of both
    const deadline = Date.now() + 100_000;
    while ((await workers.job(id)).state !== 'failed' && Date.now() < deadline) {
      if (!workers.anyAlive()) await workers.start();
      await sleep(100);
    }
    expect(await workers.job(id)).to.include({ state: 'failed', losses: 3 });
    expect(await workers.reaches(other, 'completed')).to.include({ error: null });
    await workers.end();
  });

  it('continues however many workers it loses, as long as each gets it further', async () => {
    const workers = await Workers.make();
    const id = await workers.enqueueAct('die-further', { maxAttempts: 1 });
    const deadline = Date.now() + 100_000;
    while ((await workers.job(id)).state !== 'completed' && Date.now() < deadline) {
      if (!workers.anyAlive()) await workers.start();
      await sleep(100);
    }
    expect(await workers.job(id)).to.include({ state: 'completed', attempts: 1 });
    expect(workers.noted(id)).to.equal(6);
    await workers.end();
  });
});
