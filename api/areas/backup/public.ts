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
} from './backups/backups.store.ts';
export { buildOf, isNewer } from './backups/backups.view.ts';
export { requestBeforeUpgrade, upgradeWantsBackup, versionOfDatabase } from './backups/before-upgrade.ts';
export { listPlace, listPlaces } from './backups/listing.ts';
export { noteLoose, removeBackup } from './backups/remove.ts';
export { refuseOpen, requestBackup } from './backups/request.ts';
export { sha256Of } from './backups/stored.ts';
export { verifyPlace } from './backups/verifying.ts';
export type { Keep } from './backups.schemas.ts';
export { passphrasePlace } from './restore/restores.store.ts';
export { declareBackups } from './settings/declared.ts';
export { findPlace, livePlaces, nameOf, notePlace, type PlaceRow } from './settings/places.store.ts';
export { lookAt, openPlace, type PlaceDeps, recordUnavailable, within } from './settings/places.ts';
export { nextRun } from './settings/schedule.ts';
export { passphraseOf, readBackupSettings, type SettingsRow, updateSettings } from './settings/settings.store.ts';
