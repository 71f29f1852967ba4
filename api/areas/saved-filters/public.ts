export { renameLabelInFilters } from './filters.store.ts';
