import { defineArea } from '#kernel/endpoint.ts';
import { createBackup, deleteBackup, getBackup, listBackups } from './backups.endpoints.ts';
import { downloadBackup } from './file.endpoints.ts';
import { restoreBackup } from './restore.endpoints.ts';
import { getBackupSettings, updateBackupSettings } from './settings.endpoints.ts';
import { verifyBackup } from './verify.endpoints.ts';

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
