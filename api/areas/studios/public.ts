/** Studios for workers. */
export { forgetUnused } from './tidy.store.ts';
