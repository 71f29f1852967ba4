import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { getStorageRow } from '../saved.ts';
import { AuthorizationEnd, AuthorizationStart, DriveDraft, Storage } from '../storages.schemas.ts';
import type { StorageRow } from '../storages.store.ts';
import { describeStorage } from '../storages.view.ts';
import { connect, requireDrives, tryDrive } from './drives.ts';

export const connectDrive = defineEndpoint({
  operationId: 'connectDrive',
  method: 'post',
  path: '/storages/connect',
  summary: 'Connect a drive of your own',
  description:
    'A read-only drive whose folders go into photo libraries with addLibraryFolders. It is tested first (409 `check-failed`). Only public addresses and the hosts of the setting `storages.personalHosts` are reached (400 `address_not_allowed`). An account has at most 5 drives (409 `storage-limit`). With the setting `storages.personal` off, or the restriction `personalStorage` on deny, it is 403.',
  access: { permission: 'photo:upload' },
  credentials: ['cookie', 'bearer'],
  body: DriveDraft,
  answer: json(201, Storage),
  errors: ['CONFLICT', 'FORBIDDEN', 'RATE_LIMITED'],

  async before({ body }, call) {
    await tryDrive(call, body);
    return undefined;
  },

  async handle({ body }, call) {
    return describeStorage(call, await connect(call, body));
  },
});

export const startStorageAuthorization = defineEndpoint({
  operationId: 'startStorageAuthorization',
  method: 'post',
  path: '/storages/:id/authorization',
  summary: 'Authorize a drive at its provider',
  description:
    'For kinds whose provider requires consent of the person. Kinds that need no authorization, which are all kinds of this version, are 409 `no-authorization`.',
  access: { signedIn: true },
  credentials: ['cookie', 'bearer'],
  params: IdParams,
  body: AuthorizationStart,
  optionalBody: true,
  answer: json(200, Storage),
  errors: ['CONFLICT', 'FORBIDDEN', 'PLUGIN_ERROR'],

  async handle({ params }, call) {
    requireDrives(call);
    return refuseAuthorization(await getStorageRow(call, params.id));
  },
});

export const completeStorageAuthorization = defineEndpoint({
  operationId: 'completeStorageAuthorization',
  method: 'put',
  path: '/storages/:id/authorization',
  summary: 'Complete the authorization of a drive',
  description:
    'Sent by the page to which the provider returns. Kinds that need no authorization, which are all kinds of this version, are 409 `no-authorization`.',
  access: { signedIn: true },
  credentials: ['cookie', 'bearer'],
  params: IdParams,
  body: AuthorizationEnd,
  answer: json(200, Storage),
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['system.storage.available'],

  async handle({ params }, call) {
    return refuseAuthorization(await getStorageRow(call, params.id));
  },
});

function refuseAuthorization({ kind }: StorageRow): never {
  throw conflict('no-authorization', `The kind ${kind} needs no authorization`);
}
