import { transcodeSlots } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';

export interface Places {
  /** Of the workers that are there. */
  total: number;
  /** Sessions that hold a slot or wait for one. */
  taken: number;
  waiting: number;
  /** With all the workers that may be added. */
  most: number;
}

/** How many transcode sessions there are, and may be. */
export async function placesOf({ db, deps }: Pick<Call, 'db' | 'deps'>): Promise<Places> {
  const { total, used, waiting } = await transcodeSlots(db, deps.redis);
  const most = Math.max(total, deps.settings.get('transcode.maxWorkers') * deps.config.maxSessions);
  return { total, waiting, taken: used + waiting, most };
}
