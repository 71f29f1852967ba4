import { checkPlus } from '#areas/plus/public.ts';
import { ringOf } from '#platform/keys.ts';
import type { Work } from './work.ts';

/** Each hour: checks the licence's dates. */
export async function lookAtPlus(_payload: unknown, { config, db, redis, log }: Work): Promise<void> {
  await checkPlus({ config, db, redis, log, keys: await ringOf(config.keysFile) });
}
