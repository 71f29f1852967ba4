// Job live.schedule: rules make their recordings, programmes that moved take theirs along, and the plan is made.
import { applyRule, enabledRules, followPrograms, lockSchedule, planNow } from '#areas/live-tv/public.ts';
import type { Work } from '#workers/work.ts';

export async function scheduleRecordings(_payload: object, { db, settings, signal }: Work): Promise<object> {
  const timeZone = settings.get('server.timeZone');
  return db.transaction(async (tx) => {
    await lockSchedule(tx);
    const moved = await followPrograms(tx);
    for (const rule of await enabledRules(tx)) {
      signal.throwIfAborted();
      await applyRule(tx, rule, { now: new Date(), timeZone });
    }
    await planNow({ db: tx });
    return { moved };
  });
}
