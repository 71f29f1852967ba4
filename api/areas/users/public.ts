export { directory, findPerson, type PersonRow } from './directory.store.ts';
export { isDeleted } from './purge.store.ts';
export { outranks } from './rank.ts';
