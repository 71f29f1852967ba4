import type { Knex } from 'knex';
import { ageYears } from '../age-ratings.ts';

/** What ratings that were read before mean: until now no age limit held anything back by them. */
export async function up(db: Knex): Promise<void> {
  const found: { age_rating: string }[] = await db('items').whereNotNull('age_rating').distinct('age_rating');
  for (const { age_rating: rating } of found) {
    const years = ageYears(rating);
    if (years === undefined) continue;
    await db('items').where({ age_rating: rating }).whereNull('age_years').update({ age_years: years });
  }
  // Lists that readers keep under their tags are of another state now.
  await db.raw(`update libraries l set change_seq = change_seq + 1
    where exists (select from items i where i.library_id = l.id and i.age_years is not null)`);
}
