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
export { type FoundMarker, lockMarkers, saveFound } from './analyses/markers.store.ts';
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
export { changeFolder, insertFolders, refuseUnfit, removeFoldersOf, tidyPath } from './folders.store.ts';
export { LibraryDraft, LibrarySettings, LibraryType, libraryTypes } from './libraries.schemas.ts';
export { insertLibrary, raiseLabelsOf, raiseLabelsOfItems, setAccess } from './libraries.store.ts';
export { defaultSettings, settingsOf } from './settings.ts';
export { countTrash, filesOfEntries, purgeEntries, selectTrash, type TrashRow, trashEntries } from './trash.store.ts';
