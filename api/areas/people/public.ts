/** People for other areas and workers. */
export {
  type AskedPerson,
  describePeopleBy,
  type PersonAgent,
  type PersonFacts,
  personAgents,
} from './agents.ts';
export { type Credited, identifyPeople } from './identify.ts';
export { type NewItems, newItemsOf, notePeopleTold, profilesToTell } from './new-items.store.ts';
export { keepFacts, type RefreshedPerson, refreshedPerson, stalePeople } from './refresh.store.ts';
export { forgetUncredited } from './tidy.store.ts';
