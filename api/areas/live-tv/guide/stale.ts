export { markStale } from '../schedule/schedule.store.ts';
