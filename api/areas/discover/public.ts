/** Discover for its jobs. */
export {
  type Entry,
  type ListName,
  listNames,
  placesInUse,
  writeList,
} from './lists/lists.store.ts';
export { cinemaDays, dayAfter, discDays } from './lists/windows.ts';
export { serverPlace } from './place.ts';
export { writeServices } from './services/services.store.ts';
export type { SourceStates } from './sources.ts';
export { keepDetails, trimDetails } from './titles/details.store.ts';
export { ageOf, type Provider, type Reading, together } from './titles/facts.ts';
export { learnTitles, titlesToLearn } from './titles/identity.store.ts';
export { type ItemTitle, itemTitles, workTitle } from './titles/inside.ts';
export {
  endTitles,
  notePosterFailed,
  type PosterWanted,
  postersStored,
  postersWanted,
} from './titles/posters.store.ts';
export { trimSearches } from './titles/searches.store.ts';
