export { changeItems, listedWith, relabel } from './label-items.store.ts';
