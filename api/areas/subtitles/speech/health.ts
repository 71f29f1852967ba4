import type { Db } from '#platform/db.ts';
import type { Settings } from '#platform/settings.ts';
import { countWaiting } from './line.store.ts';
import { countSpeechWorkers, findModel } from './models.store.ts';

/**
 * State of subtitles from speech: `off` while no worker ever found the model, `down` with a model that cannot be used,
 * `degraded` while single requests wait without a worker.
 */
export async function speechHealth({
  db,
  settings,
}: {
  db: Db;
  settings: Settings;
}): Promise<'ok' | 'degraded' | 'down' | 'off'> {
  const model = await findModel(db, settings.get('subtitles.model'));
  if (!model) return 'off';
  if (model.fault !== '') return 'down';
  const { single } = await countWaiting(db);
  return single > 0 && (await countSpeechWorkers(db)) === 0 ? 'degraded' : 'ok';
}
