/** Saved filters for other areas. */
export { findAppliedFilter } from './applied.ts';
export { renameLabelInFilters } from './filters.store.ts';
