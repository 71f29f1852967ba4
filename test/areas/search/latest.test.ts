import { expect } from 'chai';
import { latestOfDevice } from '#areas/search/suggest/latest.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { type Api, startApi } from '#support/api.ts';

describe('questions of one device', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  const question = (began: number): Call =>
    ({
      ...{ db: api.deps.db, began, client: {}, signal: new AbortController().signal },
      who: { deviceId: 'one' },
    }) as unknown as Call;
  const slowly = async (db: Db): Promise<string> => {
    await db.raw('select pg_sleep(0.3)');
    return 'read';
  };

  it('ends the earlier one, in the order in which they arrived', async () => {
    const earlier = latestOfDevice(question(1), slowly);
    expect(await Promise.all([earlier, latestOfDevice(question(2), slowly)])).to.deep.equal([undefined, 'read']);
    const later = latestOfDevice(question(4), slowly);
    const late = latestOfDevice(question(3), slowly);
    expect(await Promise.all([later, late]), 'one that waited longer does not end a later one').to.deep.equal([
      'read',
      undefined,
    ]);
    expect(await latestOfDevice(question(3), slowly), 'once the later one has its answer').to.equal('read');
  });
});
