/** People for other areas and workers. */

export { findPeople, onlyVisiblePeople, visibleCredits } from './people.view.ts';
export {
  describePeopleBy,
  type PersonAgent,
  type PersonFacts,
  personAgents,
  type QueriedPerson,
} from './upkeep/agents.ts';
export { type NewItems, newItemsOf, noteNotified, profilesToNotify } from './upkeep/new-items.store.ts';
export { keepFacts, type RefreshedPerson, refreshedPerson, stalePeople } from './upkeep/refresh.store.ts';
export { forgetUncredited } from './upkeep/tidy.store.ts';
