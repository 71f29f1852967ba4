// Job live.schedule: programmes that moved take their recordings along, rules make theirs, and the plan is made.
import {
  applyRecordingRules,
  clearStale,
  enabledRules,
  followPrograms,
  lockSchedule,
  planNow,
} from '#areas/live-tv/public.ts';
import { judge, opens } from '#identity/licence.ts';
import { databaseNowMs, holdLicence } from '#identity/plus.ts';
import { ringOf } from '#platform/keys.ts';
import type { Work } from '#workers/work.ts';

export async function scheduleRecordings(_payload: object, work: Work): Promise<object> {
  const timeZone = work.settings.get('server.timeZone');
  const isOpen = await mayRecord(work);
  return work.db.transaction(async (tx) => {
    await lockSchedule(tx);
    await clearStale(tx);
    const moved = await followPrograms(tx);
    // While the licence has lapsed, rules neither make nor remove recordings.
    const rules = isOpen ? await enabledRules(tx) : [];
    await applyRecordingRules(tx, rules, { now: new Date(), timeZone });
    await planNow({ db: tx });
    return { moved, rules: rules.length };
  });
}

async function mayRecord({ config, db, log }: Work): Promise<boolean> {
  if (!config.plusVerifier) return true;
  const held = await holdLicence({ config, db, log, keys: await ringOf(config.keysFile) });
  return opens(judge(held.licence, databaseNowMs(held)), 'dvr');
}
