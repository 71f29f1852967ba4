import { defineArea } from '#kernel/endpoint.ts';
import {
  checkSettings,
  getSetting,
  getSettings,
  getSettingsSchema,
  listSettingChanges,
  setSetting,
  updateSettings,
} from './settings.endpoints.ts';

export const settingsArea = defineArea('settings', 'Settings', [
  getSettings,
  updateSettings,
  getSettingsSchema,
  getSetting,
  setSetting,
  checkSettings,
  listSettingChanges,
]);
