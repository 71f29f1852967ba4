import { expect } from 'chai';
import { connectDatabase, databaseUnavailable, databaseUp } from '#platform/db.ts';
import { createLog } from '#platform/log.ts';
import { newDatabase } from '#support/stores.ts';

const log = createLog('silent', 'test');
const coded = (code: string): Error => Object.assign(new Error('x'), { code });

describe('an unavailable database', () => {
  it('is distinguished from a wrong statement, also where its name is not known', () => {
    for (const code of ['EAI_AGAIN', 'ENOTFOUND', 'ECONNREFUSED', '57P01', '28P01'])
      expect(databaseUnavailable(coded(code)), code).to.equal(true);
    for (const code of ['23505', '42P01', 'ENOENT']) expect(databaseUnavailable(coded(code)), code).to.equal(false);
  });

  it('is waited for at a start, and given up at last', async () => {
    const there = connectDatabase(await newDatabase(), log, { max: 1 });
    await databaseUp(there);
    await there.destroy();
    const nowhere = connectDatabase('postgres://127.0.0.1:1/none', log, { max: 1 });
    const result = await databaseUp(nowhere, 600).catch((error: { code?: string }) => error.code);
    expect(result).to.equal('ECONNREFUSED');
    await nowhere.destroy();
  });
});
