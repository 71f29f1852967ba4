import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { BackupSettings, BackupSettingsChange } from '../backups.schemas.ts';
import { changeBackupSettings } from './change-settings.ts';
import { etagOf, showSettings } from './settings.view.ts';

const access = { permission: 'settings:manage' } as const;

export const getBackupSettings = defineEndpoint({
  operationId: 'getBackupSettings',
  method: 'get',
  path: '/backups/settings',
  summary: 'Get the backup settings',
  description:
    'Returns the schedule, the destinations and the keeping rules. Secrets and the passphrase are never returned; `fingerprint` identifies the passphrase of a backup. The answer carries an ETag.',
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
  summary: 'Update the backup settings',
  description:
    'Only the given fields change; all of them or none. A new destination is tested first by writing, reading and deleting an object (409 `check-failed`) and needs its secret again. Only the owner may change destinations and encryption. Honours If-Match (409 `revision`); fields that a resource declares are refused with 409 `managed-by-resource`.',
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
