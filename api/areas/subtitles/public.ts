export { keptKey } from '#areas/streaming/public.ts';
export { countUses, giveBackLost, giveBackUse, settleUse, spendUse } from './allowance/uses.store.ts';
export { announceSubtitles } from './announce.ts';
export { attachedNames } from './attached.ts';
export { SEARCHES_AN_HOUR } from './find/limits.ts';
export { countSearches, isSearching, trimSearches } from './find/searches.store.ts';
export { isSubtitleName, isZip, readEntry, zipEntries } from './foreign/archive.ts';
export { decodeForeign } from './foreign/encoding.ts';
export { guessedLanguage } from './foreign/language.ts';
export { addKept, findKept, type Keeping, type KeptText, putKeptText } from './kept/kept.store.ts';
export { removeKept } from './kept/remove.ts';
export {
  clearFolder,
  type FolderRow,
  folderTitle,
  knownFiles,
  putFolderFiles,
  signatureOf,
} from './providers/folder.store.ts';
export { configuredProviders, type ProviderState, providerStates } from './providers/providers.ts';
export { speechHealth } from './speech/health.ts';
export { serveSpeechMetrics } from './speech/metrics.ts';
export { findModel as findSpeechModel } from './speech/models.store.ts';
export type { SyncEnd } from './sync/auto.schemas.ts';
export { getSubtitleRow } from './sync/sync.ts';
export { type Correction, deleteSync, findRunningSync, putSync, syncKey } from './sync/syncs.store.ts';
export { requireTool, type SubtitleTool } from './tools.ts';
