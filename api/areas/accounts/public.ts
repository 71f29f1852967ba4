export {
  AccessDraft,
  AccessParts,
  AccountAccess,
  AccountLimits,
  TimeZone,
} from './access.schemas.ts';
export {
  type AccountDraft,
  CHILD_AGE,
  createAccount,
  deleteAccountRow,
  displayNameOf,
  getAccount,
  insertAccount,
  nameTaken,
  releaseAddress,
  toAccount,
  updateAccount,
} from './accounts.store.ts';
export {
  deleteAccess,
  emitReached,
  type LibraryAccess,
  setAccountLibraries,
  setLibraryAccess,
} from './library-access.ts';
export { foldUsername, isSameName, Username } from './names.ts';
export {
  countWrongPin,
  insertProfileRow,
  markLostLabels,
  removeProfileRow,
  settleLostLabels,
  updateProfile,
} from './profiles.store.ts';
export { accountsReaching, librariesReached, reachSql } from './reach.store.ts';
export { roleColumns } from './roles.store.ts';
