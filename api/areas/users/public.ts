export { type AccountDraft, accountsReaching, foldUsername, getAccount, insertAccount } from './accounts.store.ts';
export { setLibraryAccess } from './library-access.ts';
