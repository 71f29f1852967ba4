// Titles that are not in a library, as catalogues of open data and their providers list them.

export const titleKinds = ['movie', 'show'] as const;
export type TitleKind = (typeof titleKinds)[number];
export const releaseKinds = ['cinema', 'digital', 'disc', 'tv', 'premiere'] as const;
export const serviceOfferKinds = ['subscription', 'free', 'ads', 'rent', 'buy'] as const;
export type ServiceOfferKind = (typeof serviceOfferKinds)[number];
/** A provider of offers confirms them for the country; an id under which a service has a title only lists it. */
export type Certainty = 'confirmed' | 'listed';

export interface ListedRelease {
  kind: (typeof releaseKinds)[number];
  /** YYYY-MM-DD */
  day: string;
  country: string;
  certainty: Certainty;
}

export interface ListedOffer {
  serviceId: string;
  serviceName: string;
  kind: ServiceOfferKind;
  certainty: Certainty;
  url?: string;
  seasons?: number[];
}

export interface ListedPerson {
  name: string;
  role: string;
  /** Of the person, by provider. */
  ids?: Record<string, string>;
}

/** What one provider knows of a title, in one language and for one country. Absent members are unknown to it. */
export interface ListedTitle {
  kind: TitleKind;
  /** By scheme: wikidata, imdb, tmdb, tvdb. */
  ids: Record<string, string>;
  title: string;
  originalTitle?: string;
  year?: number;
  releasedOn?: string;
  overview?: string;
  genres?: string[];
  ageRating?: string;
  rating?: { source: string; value: number; votes: number };
  runtimeMs?: number;
  /** Of the country. */
  releases?: ListedRelease[];
  offers?: ListedOffer[];
  /** In a measure of the provider, which compares its titles only. */
  popularity?: number;
  /** Of a picture, as the provider names it. */
  poster?: string;
  adult?: boolean;
  tagline?: string;
  countries?: string[];
  languages?: string[];
  seasons?: { number: number; title: string; episodeCount: number; releasedOn?: string }[];
  people?: ListedPerson[];
  trailers?: { site: string; url: string; language?: string }[];
  homepage?: string;
}

/** A country and a language for which titles are read. */
export interface Place {
  /** ISO 3166-1. */
  country: string;
  /** BCP 47. */
  language: string;
}

export interface Days {
  /** YYYY-MM-DD, both included. */
  from: string;
  to: string;
}
