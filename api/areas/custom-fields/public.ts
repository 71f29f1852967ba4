export { indexField, purgeValues } from './upkeep.store.ts';
export { setCustomValues, setScannedValues, type Values } from './values.store.ts';
