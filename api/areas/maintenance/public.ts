export { noteRun, windowNow } from './maintenance.store.ts';
export { tick } from './tick.ts';
