export { changeFolder, insertFolders, refuseUnfit, removeFoldersOf, tidyPath } from './folders.store.ts';
export { agentIds, LibraryDraft, LibrarySettings, LibraryType, libraryTypes } from './libraries.schemas.ts';
export { insertLibrary, raiseLabelsOf, raiseLabelsOfItems, setAccess } from './libraries.store.ts';
export { defaultSettings, settingsOf } from './settings.ts';
export { touchItems, touchLibraries } from './touch.store.ts';
export { countTrash, filesOfEntries, purgeEntries, selectTrash, type TrashRow, trashEntries } from './trash.store.ts';
