export type { Keep } from './backups.schemas.ts';
export {
  type BackupColumns,
  type BackupRow,
  columnsOf,
  findBackup,
  GOOD,
  newestGood,
  type Phase,
  settleLost,
  updateBackup,
} from './backups.store.ts';
export { buildOf, isNewer } from './backups.view.ts';
export { requestBeforeUpgrade, upgradeWantsBackup, versionOfDatabase } from './before-upgrade.ts';
export { declareBackups } from './declared.ts';
export { listPlace, listPlaces } from './listing.ts';
export { findPlace, livePlaces, nameOf, notePlace, type PlaceRow } from './places.store.ts';
export { lookAt, noteAway, openPlace, type PlaceDeps, within } from './places.ts';
export { noteLoose, removeBackup } from './remove.ts';
export { refuseOpen, requestBackup } from './request.ts';
export { passphrasePlace } from './restores.store.ts';
export { nextRun } from './schedule.ts';
export { passphraseOf, readBackupSettings, type SettingsRow, updateSettings } from './settings.store.ts';
export { sha256Of } from './stored.ts';
export { verifyPlace } from './verifying.ts';
