// What several providers know of one title, as one.
import { ageYears } from '#platform/age-ratings.ts';
import type { ListedOffer, ListedRelease, ListedTitle } from '#platform/agents/listed-title.ts';

/** Sources in the order in which the first one that knows a fact gives it. */
export const providers = ['local', 'tmdb', 'wikidata', 'spine'] as const;
export type Provider = (typeof providers)[number];

export interface Reading {
  provider: Provider;
  title: ListedTitle;
}

const before = (a: Reading, b: Reading): number => providers.indexOf(a.provider) - providers.indexOf(b.provider);

/** One title of all readings of it; undefined without any. */
export function together(readings: readonly Reading[]): ListedTitle | undefined {
  const [first, ...others] = [...readings].sort(before).map(({ title }) => title);
  return first && others.reduce(joined, first);
}

function joined(a: ListedTitle, b: ListedTitle): ListedTitle {
  const given = Object.entries(a).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  return {
    ...b,
    ...(Object.fromEntries(given) as unknown as ListedTitle),
    ids: { ...b.ids, ...a.ids },
    releases: releasesOf(a.releases, b.releases),
    offers: offersOf(a.offers, b.offers),
  };
}

/** Each kind once a day, the newest first. */
function releasesOf(a: readonly ListedRelease[] = [], b: readonly ListedRelease[] = []): ListedRelease[] {
  const all = new Map([...b, ...a].map((one) => [`${one.kind} ${one.day}`, one]));
  return [...all.values()].sort((one, other) => (one.day < other.day ? 1 : -1));
}

/** Offers of `a`, with addresses of `b`; a service that only `b` knows is added. */
function offersOf(a: readonly ListedOffer[] = [], b: readonly ListedOffer[] = []): ListedOffer[] {
  const more = new Map(b.map((offer) => [offer.serviceId, offer]));
  const known = new Set(a.map(({ serviceId }) => serviceId));
  const own = a.map((offer) => {
    const url = offer.url ?? more.get(offer.serviceId)?.url;
    return url === undefined ? offer : { ...offer, url };
  });
  return [...own, ...b.filter(({ serviceId }) => !known.has(serviceId))];
}

/** The age that a title requires in a country; null for an unrated one. */
export const ageOf = ({ ageRating }: Pick<ListedTitle, 'ageRating'>, country: string): number | null =>
  ageRating === undefined ? null : (ageYears(ageRating, country) ?? null);
