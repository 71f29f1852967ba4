import { expect } from 'chai';
import { giveBackUse, settleUse, spendUse } from '#areas/subtitles/public.ts';
import { type Api, startApi } from '#support/api.ts';
import { replicaOf } from '#support/replica.ts';

const HISTORIES = 1000;

describe('the allowance of a day', function () {
  this.timeout(240_000);
  let api: Api;

  before(async () => {
    api = await startApi();
    await api.given.owner();
  });

  /** A process that dies between two statements: its transaction ends, and its pending time goes by. */
  class Killed extends Error {}

  it('is neither overdrawn nor lost, whatever is killed between any two statements', async () => {
    let seed = 3;
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const { db } = api.deps;
    const day = { limit: 3, timeZone: 'Europe/Berlin' };
    const { accountId } = await api.given.member();
    for (let history = 0; history < HISTORIES; history += 1) {
      await db('subtitle_uses').where({ account_id: accountId }).delete();
      const kept: string[] = [];
      const dieAt = (chance: number): void => {
        if (next(chance) === 0) throw new Killed();
      };
      const work = async (fails: boolean): Promise<void> => {
        const spent = await db.transaction(async (tx) => {
          const use = await spendUse(tx, { accountId, kind: 'fetch', itemId: accountId, pendingMs: 60_000 }, day);
          dieAt(6);
          return use;
        });
        if (!('id' in spent)) return;
        dieAt(6);
        if (fails) return giveBackUse(db, spent.id);
        await db.transaction(async (tx) => {
          if (!(await settleUse(tx, spent.id))) return;
          dieAt(6);
          kept.push(spent.id);
        });
      };
      const runs = Array.from({ length: 4 }, () => work(next(3) === 0));
      for (const result of await Promise.allSettled(runs))
        if (result.status === 'rejected' && !(result.reason instanceof Killed)) throw result.reason;
      await db('subtitle_uses')
        .where({ account_id: accountId })
        .whereNotNull('pending_until')
        .update({ pending_until: db.raw("now() - interval '1 s'") });
      const rows = await db('subtitle_uses')
        .where({ account_id: accountId, given_back_at: null, pending_until: null })
        .pluck('id');
      expect(rows, `history ${history}`).to.have.members(kept);
      expect(kept.length).to.be.at.most(day.limit);
      let left = 0;
      while ('id' in (await db.transaction((tx) => spendUse(tx, { accountId, kind: 'fetch', itemId: accountId }, day))))
        left += 1;
      expect(left, `history ${history}`).to.equal(day.limit - kept.length);
    }
  });

  it('is spent no further than its limit by 64 callers of three pods', async () => {
    const { accountId } = await api.given.member();
    const pods = [api.deps.db, (await replicaOf(api)).deps.db, (await replicaOf(api)).deps.db];
    const day = { limit: 10, timeZone: 'Europe/Berlin' };
    const use = { accountId, kind: 'fetch' as const, itemId: accountId };
    for (let round = 0; round < 5; round += 1) {
      await api.deps.db('subtitle_uses').where({ account_id: accountId }).delete();
      const callers = Array.from({ length: 64 }, (_, n) => pods[n % pods.length] ?? api.deps.db);
      const spent = await Promise.all(callers.map((db) => db.transaction((tx) => spendUse(tx, use, day))));
      expect(spent.filter((one) => 'id' in one)).to.have.length(day.limit);
    }
  });
});
