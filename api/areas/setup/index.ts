import { defineArea } from '#kernel/endpoint.ts';
import { completeSetup, getSetup, listSetupFolders, runSetupChecks, saveSetupDraft } from './setup.endpoints.ts';

export const setupArea = defineArea('setup', 'Setup', [
  getSetup,
  saveSetupDraft,
  listSetupFolders,
  runSetupChecks,
  completeSetup,
]);
