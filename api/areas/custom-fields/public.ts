export { indexField, joinValues, purgeValues, redirectValues } from './upkeep.store.ts';
export { setCustomValues, setScannedValues, type Values } from './values.store.ts';
