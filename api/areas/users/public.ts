export { directory, findPerson, type PersonRow } from './directory.store.ts';
export { isDeleted, passOnStorages, purgeAccount, purgeSome } from './purge.store.ts';
export { outranks } from './rank.ts';
