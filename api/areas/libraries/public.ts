export {
  analysesOf,
  endAnalysesOf,
  endAnalysis,
  forgetAnalysesOf,
  nextAnalysisDue,
  putOffAnalysis,
  queueAnalysis,
  type Taken,
  type Taking,
  takeAnalysis,
} from './analyses/analyses.store.ts';
export { switchesOf } from './analyses/analyze.ts';
export { markByChapters } from './analyses/chapter-markers.ts';
export { type AnalysisName, analyses, analysisNames } from './analyses/kinds.ts';
export { type FoundMarker, lockMarkers, saveCommercials, saveFound } from './analyses/markers.store.ts';
export { findVoice, saveVoice } from './analyses/voice.store.ts';
export {
  nearHashes,
  nextFileDue,
  type Print,
  putOffFile,
  queueFingerprints,
  savePairs,
  savePrint,
  type TakenFile,
  takeFile,
  twinsOf,
} from './fingerprints/fingerprints.store.ts';
export { type FingerprintKind, kindsFor, MOST_DISTANCE } from './fingerprints/kinds.ts';
export {
  changeFolder,
  insertFolders,
  refuseUnfit,
  removeFoldersOf,
  removeFoldersOn,
  tidyPath,
} from './folders.store.ts';
export {
  deleteKeptStream,
  insertKeptStream,
  insertSidecar,
  type KeptStream,
  markTracks,
} from './kept-streams.store.ts';
export { agentIds, LibraryDraft, LibrarySettings, LibraryType, libraryTypes } from './libraries.schemas.ts';
export { insertLibrary, raiseLabelsOf, raiseLabelsOfItems, setAccess } from './libraries.store.ts';
export {
  type ChannelItem,
  changeChannelItems,
  deleteChannelItems,
  emitChannels,
  insertChannelItems,
} from './live-items.store.ts';
export { type Combined, combineItems, countCombined, type Joined } from './merge/combine.store.ts';
export { divideItem, makeSibling, pinFiles } from './merge/divide.store.ts';
export { editFields, type FieldEdits, raiseChangesOfItems, setLocks } from './merge/edit.ts';
export { FIELDS, fieldNames, hasField, isEditable } from './merge/fields.ts';
export { replaceChapters, setAddedAt, setAddedBy, setEdition } from './merge/file-edits.store.ts';
export { findKnownItems, type KnownItem, lockKnown, lockTypes, type ServerPlace } from './merge/known.store.ts';
export { givenBy } from './merge/merge.ts';
export { newFields, writeNewLists } from './merge/new-items.ts';
export { placeEpisode } from './merge/numbers.store.ts';
export { MAX_TITLE, type Settled, type SettleMode, settleItems } from './merge/settle.ts';
export {
  dropEdits,
  dropLayers,
  type ItemLayers,
  putEdits,
  putLayers,
  sourceName,
  writeLocks,
} from './merge/write.store.ts';
export {
  identityOf,
  placeOf,
  type RefreshedItem,
  refreshedItem,
  refreshedItems,
} from './metadata/refreshed-item.view.ts';
export { recordRemovals } from './removals.store.ts';
export {
  addToLibraries,
  librariesOf,
  lockLibraries,
  type Measures,
  measure,
  nextChange,
  nextChanges,
  rollUpItems,
  withParents,
} from './rollup.store.ts';
export {
  confirmSavedFile,
  dropSavedFile,
  dropUnwritten,
  findSavedFiles,
  hasSavedFiles,
  isSavedContent,
  noteSavedFile,
  type SavedFile,
  type SavedPlace,
  savedFilesOf,
  savedItemsOf,
} from './saving/saved-files.store.ts';
export {
  endSave,
  nextSave,
  noteSaves,
  noteSavesAfter,
  type PendingSave,
  putOffSave,
  queueSaves,
  type SaveKind,
  takeSaves,
} from './saving/saves.store.ts';
export { agentsByDefault, defaultSettings, settingsOf } from './settings.ts';
export { reviseItems, touchLibraries } from './touch.store.ts';
export { raiseChanges, touchItems } from './touch-items.ts';
export { holdClocks } from './trash/clocks.store.ts';
export {
  countTrash,
  filesOfEntries,
  purgeEntries,
  selectTrash,
  type TrashRow,
  trashEntries,
} from './trash/trash.store.ts';
export { bringBack, obstacles } from './trash/trash.ts';
export { dropEdition, type Trashed, trashItems } from './trash/trash-items.store.ts';
export {
  forgetTrashed,
  nextTrashed,
  noteInTrash,
  noteReturned,
  parentOf,
  refusedMoves,
  refuseMoves,
  type TrashedFile,
  trashFiles,
  trashPathOf,
  wantOldGone,
} from './trash/trashed-files.ts';
