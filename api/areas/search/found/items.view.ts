import type { Knex } from 'knex';
import { listed } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conditionsOf } from '#kernel/filter.ts';
import type { Db } from '#platform/db.ts';
import type { Understood } from '../question/understand.ts';
import { candidates, type Scope, type Way } from './candidates.view.ts';

/** Candidates that the lists of one question may look at. */
export interface Width {
  /** Of each way to find a document. */
  cap: number;
  way: Way;
  types?: readonly string[] | undefined;
}

export function scopeOf(
  { db, who }: { db: Db; who: Call['who'] },
  { libraries }: Pick<Understood, 'libraries'>,
  types?: readonly string[],
): Scope {
  return { db, who, kinds: ['item'], libraryIds: libraries.map(({ id }) => id), types };
}

/** A little more for items that the profile watches, and for new ones. */
export const SCORE = `(d.score + case when s.favorite or s.play_count > 0 then 0.15 else 0 end
  + case when i.added_at > current_date - 30 then 0.05 else 0 end)`;

/** Visible items that fit the question, as `items as i` joined to their candidates `d`. */
export function foundItems(call: Call, understood: Understood, width: Width): Knex.QueryBuilder {
  const scope = scopeOf(call, understood, width.types);
  const some = candidates(scope, understood.terms, width).as('d');
  const listing = { types: [], narrow: (query: Knex.QueryBuilder) => query.join(some as never, 'd.id', 'i.id') };
  return listed(call, listing, understood.rules);
}

/** Whether the question has words, or at least conditions. */
export const hasConditionsOrTerms = ({ terms, rules }: Understood): boolean =>
  terms.query !== '' || conditionsOf(rules).length > 0;
