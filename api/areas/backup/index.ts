import { defineArea } from '#kernel/endpoint.ts';
import { createBackup, deleteBackup, getBackup, listBackups } from './backups/backups.endpoints.ts';
import { downloadBackup } from './backups/file.endpoints.ts';
import { verifyBackup } from './backups/verify.endpoints.ts';
import { restoreBackup } from './restore/restore.endpoints.ts';
import { getBackupSettings, updateBackupSettings } from './settings/settings.endpoints.ts';

export const backupArea = defineArea('backup', 'Backup', [
  listBackups,
  createBackup,
  getBackup,
  deleteBackup,
  downloadBackup,
  verifyBackup,
  restoreBackup,
  getBackupSettings,
  updateBackupSettings,
]);
