import type { KnownItem } from '#areas/libraries/public.ts';
import type { ItemValues, NamedCredit } from '#platform/item-values.ts';
import type { SavedCustom } from './custom.ts';

/** An item with the values that it shows. */
export interface SavedItem {
  type: string;
  values: ItemValues;
  /** The printed number of a comic, such as `12.5`. */
  number?: string | undefined;
  custom?: readonly SavedCustom[];
}

/** The shown values of an item, without those that only follow from others. */
export function valuesOf({ shown, origins }: KnownItem): ItemValues {
  const values = Object.fromEntries(shown) as ItemValues;
  if (origins['sortTitle'] === undefined || origins['sortTitle'] === 'default') delete values.sortTitle;
  return values;
}

/** People in one of the roles. */
export const peopleIn = ({ people = [] }: ItemValues, ...roles: readonly string[]): NamedCredit[] =>
  people.filter(({ role }) => roles.includes(role));

export const namesIn = (values: ItemValues, ...roles: readonly string[]): string[] =>
  peopleIn(values, ...roles).map(({ name }) => name);
