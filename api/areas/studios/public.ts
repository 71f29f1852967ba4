/** Studios for other areas and workers. */
export { listStudiosOf, visibleCounts } from './studios.view.ts';
export { forgetUnused } from './tidy.store.ts';
