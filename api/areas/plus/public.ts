export { checkPlus } from './plus.store.ts';
