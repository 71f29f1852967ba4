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

/** The id of a person by their own id, or by that of one who was merged into them. */
export async function survivorOf(db: Db, id: string): Promise<string> {
  const merged = await db('person_aliases').where({ old_id: id }).first('person_id');
  return merged?.person_id ?? id;
}

/** Whether a person exists, credited or not. */
export async function personExists(db: Db, id: string): Promise<boolean> {
  return (await db('people').where({ id }).first('id')) !== undefined;
}

/** Gives a person without portraits those of the first of these people that has some, together with the choice. */
export async function adoptPortraits(db: Db, { into, from }: { into: string; from: readonly string[] }): Promise<void> {
  const owned = { owner_kind: 'person' as const, kind: 'portrait' };
  if (
    await db('images')
      .where({ ...owned, owner_id: into })
      .first('id')
  )
    return;
  const owners = await db('images')
    .where(owned)
    .whereRaw('owner_id = any(?::uuid[])', [[...from]])
    .distinct('owner_id');
  const giver = from.find((id) => owners.some(({ owner_id }) => owner_id === id));
  if (giver === undefined) return;
  await db('images')
    .where({ ...owned, owner_id: giver })
    .update({ owner_id: into });
  const chosen = await db('artwork_choices')
    .where({ ...owned, owner_id: into })
    .first('kind');
  if (!chosen)
    await db('artwork_choices')
      .where({ ...owned, owner_id: giver })
      .update({ owner_id: into });
  await settlePortraits(db, [into]);
}
