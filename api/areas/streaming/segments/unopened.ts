// Sessions whose file no worker can open, though the API can.
import type { Call } from '#kernel/endpoint.ts';
import { refuseUnavailableSource } from '../files/sources.ts';
import { announceReady } from '../sessions/offers.store.ts';
import { failSession, findSession, type SessionRow } from '../sessions/sessions.store.ts';
import { forgetUnopened } from '../sessions/unopened.store.ts';
import { refuseFailed } from './waiting.ts';

/** Workers in a row that could not open the file, after which the session ends. */
const MOST_UNOPENED = 5;

/** Throws 423 while the storage is unavailable here too; the session goes on once it is back. */
export async function requireSource(call: Call, { id, plan }: Pick<SessionRow, 'id' | 'plan'>): Promise<void> {
  try {
    await refuseUnavailableSource(call, plan.source);
  } catch (error) {
    await forgetUnopened(call.db, id);
    throw error;
  }
}

/** Ends a session that workers only take and return. Throws `TRANSCODE_FAILED` then. */
export async function endUnopened({ db, deps }: Call, row: SessionRow): Promise<void> {
  const { id, unopened, wanted_segment: segment } = row;
  if (unopened < MOST_UNOPENED) return;
  await failSession(db, id, { code: 'TRANSCODE_FAILED', reason: 'source-read', segment });
  await announceReady(deps.redis, id, 'failed');
  refuseFailed(await findSession(db, id));
}
