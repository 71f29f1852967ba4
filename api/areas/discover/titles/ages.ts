import type { Sight } from '#identity/principal.ts';
import type { ListedTitle } from '#platform/agents/listed-title.ts';
import { ageOf } from './facts.ts';

/** Whether the caller has an age limit, or sees rated titles only. */
export const isLimited = ({ ageLimit, hideUnrated }: Pick<Sight, 'ageLimit' | 'hideUnrated'>): boolean =>
  ageLimit !== undefined || hideUnrated;

/** Whether a title outside of the libraries may be shown: with a limit, only a rated one within it. */
export function allows(sees: Pick<Sight, 'ageLimit' | 'hideUnrated'>, facts: ListedTitle, country: string): boolean {
  if (!isLimited(sees)) return true;
  const age = ageOf(facts, country);
  return age !== null && facts.adult !== true && age <= (sees.ageLimit ?? 1000);
}
