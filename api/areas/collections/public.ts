export { passOnCollections, renameLabelInRules } from './collection/collections.store.ts';
