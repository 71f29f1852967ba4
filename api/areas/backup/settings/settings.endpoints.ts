import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { BackupSettings, BackupSettingsChange } from '../backups.schemas.ts';
import { changeBackupSettings } from './change-settings.ts';
import { etagOf, showSettings } from './settings.view.ts';

const access = { permission: 'settings:manage' } as const;

export const getBackupSettings = defineEndpoint({
  operationId: 'getBackupSettings',
  method: 'get',
  path: '/backups/settings',
  summary: 'When backups are made, where they go and how many are kept',
  access,
  answer: json(200, BackupSettings),

  async handle(_input, call) {
    return shown(call);
  },
});

export const updateBackupSettings = defineEndpoint({
  operationId: 'updateBackupSettings',
  method: 'patch',
  path: '/backups/settings',
  summary: 'Change them; a new destination is tried first',
  access,
  body: BackupSettingsChange,
  answer: json(200, BackupSettings),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],
  plus: { partly: 'remote-backup' },

  async handle({ body }, call) {
    await changeBackupSettings(call, body);
    return shown(call);
  },
});

async function shown(call: Call): Promise<BackupSettings> {
  const settings = await showSettings(call.db, call.deps.settings);
  call.reply.header('ETag', etagOf(settings));
  return settings;
}
