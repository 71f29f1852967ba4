/** Live TV for other areas and for workers. */

export type { LiveTest } from './channels/channels.schemas.ts';
export {
  type ChannelRow,
  deriveFromSources,
  type SourceRow,
  takenNumbers,
  withoutSources,
} from './channels/channels.store.ts';
export { Numbers, numberAt, numberOrder, tidyNumber, wholeOf } from './channels/numbers.ts';
export * from './guide/public.ts';
export { leaveRecordings } from './recordings/account.store.ts';
export {
  bytesOnTheirWayOut,
  expireRecording,
  findExpired,
  findKeepable,
} from './recordings/keeping.store.ts';
export { type Keepable, recordingsToRemove } from './recordings/keeping.ts';
export { endForLibrary } from './recordings/library.store.ts';
export { notifyConflicts } from './recordings/notices.ts';
export { planNow } from './recordings/plan-now.ts';
export {
  beginRecording,
  type Caught,
  type Ending,
  endRecording,
  failConflicts,
  finishOf,
  finishRecording,
  type HeldRecording,
  holdRecordings,
  isWatchedGrowing,
  markCleared,
  noteCaught,
  notePlace,
  noteReason,
  releaseRecordings,
} from './recordings/recorder.store.ts';
export {
  findRecording,
  type Gap,
  isOpen,
  lockRecording,
  OPEN_STATES,
  type RecordingRow,
  type RecordingState,
  type StoredConflict,
  updateRecordingRow,
} from './recordings/recordings.store.ts';
export { trashRecording } from './recordings/removal.ts';
export { usedBytes } from './recordings/target.ts';
export { applyRecordingRules } from './rules/apply.ts';
export { enabledRules } from './rules/rules.store.ts';
export { followPrograms, isPlanDue } from './schedule/follow.store.ts';
export { clearStale, lockSchedule, markStale, type Replanned, replan } from './schedule/schedule.store.ts';
export { tunersOfChannels } from './schedule/tuners-of-channels.store.ts';
export { liveNetworks, liveOutbound, maskedAddress, requestOf } from './tuners/addresses.ts';
export { Order, openOrder, Tried } from './tuners/orders.ts';
export { requestScan, scanKey } from './tuners/saved.ts';
export type { Choice, LastScan } from './tuners/tuners.schemas.ts';
export {
  findTunerRow,
  ownGuideOf,
  sealOwnGuide,
  sealStream,
  secretsOf,
  streamOf,
  type TunerRow,
  updateTunerRow,
} from './tuners/tuners.store.ts';
