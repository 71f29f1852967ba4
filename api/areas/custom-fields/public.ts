export { Value as CustomValue } from './custom-fields.schemas.ts';
export { indexField, joinValues, purgeValues, redirectValues } from './upkeep.store.ts';
export { fieldsOfItem, setCustomValues, setScannedValues, type Values } from './values.store.ts';
