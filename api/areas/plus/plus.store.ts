import { notify } from '#areas/notifications/public.ts';
import { GRACE_MS, type Judged, judge } from '#identity/licence.ts';
import { announcePlus, databaseNowMs, type Held, holdLicence, type PlusDeps, SUMMARY } from '#identity/plus.ts';
import type { Db } from '#platform/db.ts';
import { emit } from '#platform/outbox.ts';

/** State and licence as one text, to detect a change of either. */
export function summaryOf({ state, licence }: Judged): string {
  return `${state} ${licence?.good ? licence.claims.jti : ''}`;
}

const DAY_MS = 86_400_000;
const NOTICES = [0, 3, 14] as const; // days before grace ends

/** Emits and notifies changes of the licence by time or by a resource, each once across all replicas. */
export async function checkPlus(deps: Omit<PlusDeps, 'draining'>): Promise<void> {
  if (!deps.config.plusVerifier) return;
  const changed = await deps.db.transaction(async (db) => {
    await db('plus_licence').forUpdate().first('one');
    const held = await holdLicence({ ...deps, db });
    const nowMs = databaseNowMs(held);
    const judged = judge(held.licence, nowMs);
    const sameLicence = held.emitted?.split(' ')[1] === summaryOf(judged).split(' ')[1];
    await noticeEnd(db, judged, { nowMs, noticed: sameLicence ? held.noticed : null });
    return emitChange(db, judged, held);
  });
  if (changed) await announcePlus(deps.redis);
}

async function emitChange(db: Db, judged: Judged, held: Held): Promise<boolean> {
  const summary = summaryOf(judged);
  if (summary === (held.emitted ?? summaryOf({ state: 'none' }))) return false;
  await db('plus_licence').update({ [SUMMARY]: summary });
  await emit(db, 'settings.changed', { payload: { keys: ['plus.licence'] } });
  return true;
}

/** Sends the latest notice that is due before the grace period ends, unless it was sent already. */
async function noticeEnd(db: Db, { licence }: Judged, was: { nowMs: number; noticed: number | null }): Promise<void> {
  const { nowMs, noticed } = was;
  if (!licence?.good || licence.endsMs === undefined) return;
  const endMs = licence.endsMs + GRACE_MS;
  const due = NOTICES.find((days) => nowMs >= endMs - days * DAY_MS);
  if (due === undefined || (noticed !== null && noticed <= due)) return;
  await db('plus_licence').update({ noticed: due });
  await notify(db, {
    kind: 'plus-ending',
    data: { name: new Date(endMs).toISOString().slice(0, 10), days: due },
    url: '/admin/licence',
    mergeKey: `plus-ending:${licence.claims.jti}:${due}`,
  });
}
