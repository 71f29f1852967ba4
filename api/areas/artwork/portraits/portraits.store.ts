import { imageRefSql } from '#kernel/images.ts';
import type { Db } from '#platform/db.ts';
import { shownOf } from '../choosing.store.ts';

/** Writes the ImageRef of people, which credits carry, after their images or choices changed. */
export async function settlePortraits(db: Db, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const [shown] = (await shownOf(db, id, ['portrait'])).get('portrait') ?? [];
    await db.raw(`update people set portrait = ${imageRefSql('?::uuid')}::jsonb where id = ?`, [shown ?? null, id]);
  }
}

/** Whether a person exists, credited or not. */
export async function personExists(db: Db, id: string): Promise<boolean> {
  return (await db('people').where({ id }).first('id')) !== undefined;
}
