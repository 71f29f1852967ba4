export {
  AccessDraft,
  AccessParts,
  AccountAccess,
  AccountLimits,
  TimeZone,
} from './access.schemas.ts';
export { narrowKeys, revokeKeys } from './account-keys.ts';
export {
  type AccountDraft,
  CHILD_AGE,
  createAccount,
  getAccount,
  insertAccount,
  nameTaken,
  toAccount,
} from './accounts.store.ts';
export { emitReached, type LibraryAccess, setAccountLibraries, setLibraryAccess } from './library-access.ts';
export { foldUsername, isSameName, Username } from './names.ts';
export { accountsReaching, librariesReached, reachSql } from './reach.store.ts';
export { roleColumns } from './roles.store.ts';
