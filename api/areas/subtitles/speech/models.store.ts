// Speech models as workers found them, and the workers that are alive.
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

/** Why a model cannot be used; empty when it can. */
export type ModelFault = '' | 'model-missing' | 'model-invalid' | 'sample-failed' | 'no-python';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'speech_models.fault': ModelFault;
  }
}

export type ModelRow = Row<'speech_models'>;

/** A worker that did not report for so long is gone. */
const ALIVE = '15 seconds';
const PACES = 50;

/** What a worker found about its model. */
export type FoundModel = Omit<ModelRow, 'paces' | 'seen_at'>;

/** Records what a worker found. The last word stays, so that the model is known while no worker runs. */
export async function saveModel(db: Db, { name, languages, ...found }: FoundModel): Promise<void> {
  const row = { ...found, languages, seen_at: db.fn.now() };
  await db('speech_models')
    .insert({ name, ...row })
    .onConflict('name')
    .merge(row);
}

export async function findModel(db: Db, name: string): Promise<ModelRow | undefined> {
  return db('speech_models').where({ name }).first();
}

/** Adds the pace of a checkpoint, in seconds of work a minute of sound. */
export async function addPace(db: Db, name: string, pace: number): Promise<void> {
  await db.raw('update speech_models set paces = (array[?::double precision] || paces)[1:?] where name = ?', [
    pace,
    PACES,
    name,
  ]);
}

/** Seconds of work a minute of sound: the median of the last checkpoints, or what the worker measured at its start. */
export function paceOf(model: Pick<ModelRow, 'paces' | 'seconds_per_minute'> | undefined): number | undefined {
  const sorted = [...(model?.paces ?? [])].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? model?.seconds_per_minute ?? undefined;
}

/** Says that a worker is alive; call it every few seconds. */
export async function reportSpeechWorker(db: Db, id: string, model: string): Promise<void> {
  await db('speech_workers')
    .insert({ id, model, seen_at: db.fn.now() })
    .onConflict('id')
    .merge({ model, seen_at: db.fn.now() });
  await db('speech_workers').whereRaw(`seen_at < now() - interval '1 hour'`).delete();
}

export async function forgetSpeechWorker(db: Db, id: string): Promise<void> {
  await db('speech_workers').where({ id }).delete();
}

/** Number of live workers. */
export async function countSpeechWorkers(db: Db): Promise<number> {
  const rows = await db('speech_workers').whereRaw(`seen_at > now() - interval '${ALIVE}'`).select('id');
  return rows.length;
}
