// Values that a library has already, proposed while a person types.
import type { GetLibraryFacetsResponse } from 'foyer-client';
import { FACETS } from '#core/editing/fields.ts';

/** Countries are stored by code; the rest by the name that is shown. */
const BY_VALUE = ['country', 'age_rating'];

export function suggestionsOf(facets: GetLibraryFacetsResponse['facets'] | undefined, field: string): string[] {
  const name = FACETS[field];
  const facet = name === undefined ? undefined : facets?.find((one) => one.field === name);
  return (facet?.values ?? []).map(({ value, label }) => (BY_VALUE.includes(name ?? '') ? value : label));
}
