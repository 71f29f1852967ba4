import { transcodeSlots } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';

export interface Places {
  /** Slots of the live workers. */
  total: number;
  /** Sessions that hold a slot or wait for one. */
  taken: number;
  waiting: number;
  /** Slots including workers that may be added. */
  most: number;
}

/** The number of transcode sessions and their limit. */
export async function placesOf({ db, deps }: Pick<Call, 'db' | 'deps'>): Promise<Places> {
  const { total, used, waiting } = await transcodeSlots(db, deps.redis);
  const most = Math.max(total, deps.settings.get('transcode.maxWorkers') * deps.config.maxSessions);
  return { total, waiting, taken: used + waiting, most };
}

/** Throws 503 when every slot of every possible worker is taken. */
export function refuseFull({ total, taken, most, waiting }: Places): void {
  if (taken < most) return;
  throw new ApiError('TRANSCODE_LIMIT_REACHED', 'Every transcoder is busy', {
    slots: total,
    waiting,
    retryAfterSec: 10,
  });
}
