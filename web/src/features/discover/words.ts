import type { DiscoverMissing, DiscoverSource, TitleOffer } from 'foyer-client';
import * as m from '#messages/discover.ts';

const MISSING: Readonly<Record<DiscoverMissing, () => string>> = {
  lists: m.missingLists,
  'cinema-dates': m.missingCinemaDates,
  'disc-dates': m.missingDiscDates,
  'streaming-offers': m.missingOffers,
  popularity: m.missingPopularity,
  'services-not-chosen': m.missingServices,
  'search-results': m.missingResults,
};
export const missingText = (code: DiscoverMissing): string => MISSING[code]();

const STATES: Readonly<Record<DiscoverSource['state'], () => string>> = {
  ok: m.stateOk,
  'missing-key': m.stateKey,
  disabled: m.stateOffline,
  unavailable: m.stateSilent,
  stale: m.stateStale,
  'not-covered': m.stateNone,
};
const NAMES: Readonly<Record<string, () => string>> = {
  local: m.sourceLocal,
  spine: m.sourceSpine,
  wikidata: () => 'Wikidata',
  tmdb: () => 'TMDB',
};
export const sourceText = ({ source, state }: DiscoverSource): string =>
  m.sourceLine({ name: NAMES[source]?.() ?? source, state: STATES[state]() });

const KINDS: Readonly<Record<TitleOffer['kind'], () => string>> = {
  here: m.offerHere,
  recording: m.offerRecording,
  'live-tv': m.offerLive,
  subscription: m.offerSubscription,
  free: m.offerFree,
  ads: m.offerAds,
  rent: m.offerRent,
  buy: m.offerBuy,
};
export const offerText = ({ kind }: TitleOffer): string => KINDS[kind]();
