export { narrowKeys, revokeKeys } from './account-keys.ts';
export { deleteKeys } from './api-keys.store.ts';
export { putOperatorKeyRow } from './operator-key.store.ts';
