import { defineArea } from '#kernel/endpoint.ts';
import { listPersonItems, mergePeople, refreshPerson, setPersonFavorite } from './actions.endpoints.ts';
import { createPerson, deletePerson, getPerson, listPeople, updatePerson } from './people.endpoints.ts';

export const peopleArea = defineArea('people', 'People', [
  listPeople,
  createPerson,
  getPerson,
  updatePerson,
  deletePerson,
  listPersonItems,
  mergePeople,
  refreshPerson,
  setPersonFavorite,
]);
