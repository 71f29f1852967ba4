import { defineArea } from '#kernel/endpoint.ts';
import { createBackup, deleteBackup, getBackup, listBackups } from './backups.endpoints.ts';
import { downloadBackup } from './file.endpoints.ts';
import { getBackupSettings, updateBackupSettings } from './settings.endpoints.ts';

export const backupArea = defineArea('backup', 'Backup', [
  listBackups,
  createBackup,
  getBackup,
  deleteBackup,
  downloadBackup,
  getBackupSettings,
  updateBackupSettings,
]);
