import { setTimeout as sleep } from 'node:timers/promises';

describe('a file that takes longer than its limits', () => {
  before(async function () {
    this.timeout(200);
    await sleep(300);
  });
  it('passes', async () => sleep(300)).timeout(200);
});
