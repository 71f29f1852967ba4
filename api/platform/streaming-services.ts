// Streaming services with their identities: the property of Wikidata that has their ids, and their numbers at TMDB.
import type { ServiceOfferKind, TitleKind } from './agents/listed-title.ts';

export interface ServiceId {
  /** Property of Wikidata. */
  property: string;
  kind: TitleKind | 'any';
  form: RegExp;
  /** Address of a title, with `{id}`. */
  url: string;
}

export interface KnownService {
  id: string;
  name: string;
  /** Entity of Wikidata. */
  wikidata?: string;
  kinds: readonly ServiceOfferKind[];
  /** ISO 3166-1; empty is most countries. */
  countries: readonly string[];
  /** Hosts of its addresses. */
  hosts: readonly string[];
  tmdb: readonly number[];
  ids: readonly ServiceId[];
}

const service = (
  id: string,
  name: string,
  more: Partial<KnownService> & Pick<KnownService, 'kinds' | 'hosts'>,
): KnownService => ({ id, name, countries: [], tmdb: [], ids: [], ...more });

const NUMBER = /^\d{1,12}$/;
const WORD = /^[\w.-]{1,80}$/;

/** The built-in services, which providers widen. */
export const knownServices: readonly KnownService[] = [
  service('netflix', 'Netflix', {
    ...{ wikidata: 'Q907311', kinds: ['subscription', 'ads'], hosts: ['www.netflix.com'], tmdb: [8, 175, 1796] },
    ids: [{ property: 'P1874', kind: 'any', form: NUMBER, url: 'https://www.netflix.com/title/{id}' }],
  }),
  service('amazon-prime-video', 'Amazon Prime Video', {
    ...{ wikidata: 'Q1969848', kinds: ['subscription', 'ads'], hosts: ['www.primevideo.com'], tmdb: [9, 119, 2100] },
    ids: [{ property: 'P8055', kind: 'any', form: WORD, url: 'https://www.primevideo.com/detail/{id}' }],
  }),
  service('disney-plus', 'Disney+', {
    ...{ wikidata: 'Q54958752', kinds: ['subscription'], hosts: ['www.disneyplus.com'], tmdb: [337] },
    ids: [
      { property: 'P7595', kind: 'movie', form: WORD, url: 'https://www.disneyplus.com/movies/wd/{id}' },
      { property: 'P7596', kind: 'show', form: WORD, url: 'https://www.disneyplus.com/series/wd/{id}' },
    ],
  }),
  service('apple-tv-plus', 'Apple TV+', {
    ...{ wikidata: 'Q62446736', kinds: ['subscription'], hosts: ['tv.apple.com'], tmdb: [350] },
    ids: [{ property: 'P9751', kind: 'show', form: WORD, url: 'https://tv.apple.com/show/{id}' }],
  }),
  service('apple-tv', 'Apple TV', {
    ...{ kinds: ['rent', 'buy'], hosts: ['tv.apple.com'], tmdb: [2] },
    ids: [{ property: 'P9586', kind: 'movie', form: WORD, url: 'https://tv.apple.com/movie/{id}' }],
  }),
  service('hbo-max', 'HBO Max', {
    ...{ kinds: ['subscription'], hosts: ['play.hbomax.com'], tmdb: [384, 1899] },
  }),
  service('hulu', 'Hulu', {
    ...{ wikidata: 'Q1630459', kinds: ['subscription'], countries: ['US'], hosts: ['www.hulu.com'], tmdb: [15] },
    ids: [
      { property: 'P6466', kind: 'movie', form: WORD, url: 'https://www.hulu.com/movie/{id}' },
      { property: 'P6467', kind: 'show', form: WORD, url: 'https://www.hulu.com/series/{id}' },
    ],
  }),
  service('crunchyroll', 'Crunchyroll', {
    kinds: ['subscription'],
    hosts: ['www.crunchyroll.com'],
    tmdb: [283],
  }),
  service('mubi', 'MUBI', {
    ...{ kinds: ['subscription'], hosts: ['mubi.com'], tmdb: [11] },
    ids: [{ property: 'P7299', kind: 'movie', form: NUMBER, url: 'https://mubi.com/films/{id}' }],
  }),
  service('paramount-plus', 'Paramount+', {
    ...{ kinds: ['subscription'], hosts: ['www.paramountplus.com'], tmdb: [531] },
  }),
  service('peacock', 'Peacock', {
    kinds: ['subscription'],
    countries: ['US'],
    hosts: ['www.peacocktv.com'],
    tmdb: [386],
  }),
  service('google-play', 'Google Play Movies', { kinds: ['rent', 'buy'], hosts: ['play.google.com'], tmdb: [3] }),
  service('amazon-video', 'Amazon Video', { kinds: ['rent', 'buy'], hosts: ['www.amazon.com'], tmdb: [10] }),
  service('rakuten-tv', 'Rakuten TV', { kinds: ['rent', 'buy', 'ads'], hosts: ['www.rakuten.tv'], tmdb: [35] }),
  service('youtube', 'YouTube', { kinds: ['rent', 'buy', 'free'], hosts: ['www.youtube.com'], tmdb: [192] }),
  service('pluto-tv', 'Pluto TV', { kinds: ['ads'], hosts: ['pluto.tv'], tmdb: [300] }),
  service('bbc-iplayer', 'BBC iPlayer', {
    ...{ kinds: ['free'], countries: ['GB'], hosts: ['www.bbc.co.uk'], tmdb: [38] },
  }),
  service('itvx', 'ITVX', { kinds: ['ads', 'subscription'], countries: ['GB'], hosts: ['www.itv.com'], tmdb: [41] }),
  service('arte', 'ARTE', { kinds: ['free'], countries: ['DE', 'FR'], hosts: ['www.arte.tv'], tmdb: [234] }),
  service('ard-mediathek', 'ARD Mediathek', {
    ...{ kinds: ['free'], countries: ['DE'], hosts: ['www.ardmediathek.de'], tmdb: [219] },
  }),
];

const byTmdb = new Map(knownServices.flatMap((one) => one.tmdb.map((number) => [number, one] as const)));
const byId = new Map(knownServices.map((one) => [one.id, one]));

export const knownService = (id: string): KnownService | undefined => byId.get(id);
/** Whether a service serves a country. */
export const servesCountry = ({ countries }: KnownService, country: string): boolean =>
  countries.length === 0 || countries.includes(country);

/** The id of a service by its number at TMDB, else a slug of its name. */
export const serviceOfTmdb = (number: number, name: string): { id: string; name: string } =>
  byTmdb.get(number) ?? { id: slugOf(name), name };

/** Lower-case letters and digits with single hyphens. */
export function slugOf(name: string): string {
  const plain = name.slice(0, 100).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('+', ' plus ');
  return (
    plain
      .split(/[^a-z0-9]+/)
      .filter(Boolean)
      .join('-')
      .slice(0, 60)
      .replace(/-$/, '') || 'unnamed'
  );
}

/** The address of a title at a service, only on a host of its entry. */
export function serviceUrl({ hosts }: KnownService, template: string, id: string): string | undefined {
  const url = new URL(template.replace('{id}', () => encodeURIComponent(id)));
  return url.protocol === 'https:' && hosts.includes(url.hostname) ? url.href : undefined;
}
