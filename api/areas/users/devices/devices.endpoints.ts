import { endDeviceSessions } from '#areas/auth/public.ts';
import { deleteDevice } from '#identity/devices.ts';
import { requireMain } from '#identity/person.ts';
import { may } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { inRanges } from '#kernel/request.ts';
import { IdParams, iso } from '#kernel/schemas.ts';
import { requireRank } from '../rank.ts';
import { getUserRow } from '../users.store.ts';
import { Device, DeviceChange, DeviceParams, DevicesQuery, deviceSorts } from './devices.schemas.ts';
import { type DeviceRow, findDevice, selectDevices, updateDevice } from './devices.store.ts';

export const listUserDevices = defineEndpoint({
  operationId: 'listUserDevices',
  method: 'get',
  path: '/users/:id/devices',
  summary: 'List the devices of an account',
  description:
    'For the own account, or any account with `user:manage` (404 otherwise). Most recently used first unless `sort` is given. A device is online when it made a request or had an open event stream in the last 60 seconds.',
  access: { signedIn: true },
  params: IdParams,
  query: DevicesQuery,
  answer: page(Device),

  async handle({ params, query }, call) {
    const { db, deps } = call;
    refuseForeign(call, params.id);
    await getUserRow(db, params.id);
    const { cursor, limit, sort, ...wanted } = query;
    return pageOf<DeviceRow, Device>(db, selectDevices(db, { ...wanted, accountId: params.id }), {
      keys: deps.keys,
      terms: parseSort(sort, deviceSorts, '-lastSeenAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listUserDevices', params.id, wanted]),
      idColumn: 'd.id',
      toItem: (row) => toDevice(row, call),
    });
  },
});

export const updateUserDevice = defineEndpoint({
  operationId: 'updateUserDevice',
  method: 'patch',
  path: '/users/:id/devices/:deviceId',
  summary: 'Change the name or state of a device',
  description:
    'Blocking ends the sessions of the device and refuses sign-in on it; the device in use is 409 `current-device`. A name given here takes precedence over `X-Client-Name`. Own devices need the main profile, those of others `user:manage` and a higher rank.',
  access: { person: true },
  params: DeviceParams,
  body: DeviceChange,
  answer: json(200, Device),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    const { db, who } = call;
    await requireManaged(call, params.id);
    const before = await findDevice(db, params.id, params.deviceId);
    if (!before) throw notFound();
    if (body.state === 'blocked' && before.id === who.deviceId)
      throw conflict('current-device', 'This is the device in use; sign out instead');
    await updateDevice(db, before.id, body);
    if (body.state === 'blocked') await endDeviceSessions(db, before.id);
    const old = { name: before.name, state: before.state };
    await audit(call, 'device.changed', { userId: params.id, deviceId: before.id, before: old, after: body });
    const after = await findDevice(db, params.id, before.id);
    if (!after) throw notFound();
    return toDevice(after, call);
  },
});

export const removeUserDevice = defineEndpoint({
  operationId: 'removeUserDevice',
  method: 'delete',
  path: '/users/:id/devices/:deviceId',
  summary: 'Remove a device',
  description:
    'Ends its sessions and push subscriptions and deletes its record. The device is created again when it signs in again. Removing an unknown device is 204.',
  access: { person: true },
  params: DeviceParams,
  answer: none(),

  async handle({ params }, call) {
    const { db } = call;
    await requireManaged(call, params.id);
    const device = await findDevice(db, params.id, params.deviceId);
    if (!device) return; // deleted already
    await endDeviceSessions(db, device.id);
    await deleteDevice(db, device.id);
    await audit(call, 'device.removed', { userId: params.id, deviceId: device.id, name: device.name });
  },
});

/** 404 for another account without `user:manage`. */
function refuseForeign({ who }: Call, accountId: string): void {
  if (accountId !== who.accountId && !may(who, 'user:manage')) throw notFound();
}

/** Own devices need the main profile, those of others a higher rank. */
async function requireManaged(call: Call, accountId: string): Promise<void> {
  refuseForeign(call, accountId);
  const { role } = await getUserRow(call.db, accountId);
  if (accountId === call.who.accountId) requireMain(call.who);
  else requireRank(call.who, role);
}

function toDevice(row: DeviceRow, { who, deps }: Call): Device {
  const { last_profile_id: profileId, profile_name: profileName, last_address: address } = row;
  return {
    id: row.id,
    clientId: row.client_id.slice(0, 8),
    name: row.name,
    ...(row.client_name !== null && { clientName: row.client_name }),
    ...(row.platform !== null && { platform: row.platform }),
    state: row.state,
    online: row.online,
    current: row.id === who.deviceId,
    receiver: row.receiver,
    sessions: row.sessions,
    keysUsed: row.keys_used,
    ...(profileId && profileName !== null && { lastProfile: { id: profileId, name: profileName } }),
    ...(address !== null && { lastAddress: address }),
    isRemote: address !== null && !inRanges(address, deps.settings.get('network.localRanges')),
    firstSeenAt: iso(row.first_seen_at),
    lastSeenAt: iso(row.last_seen_at),
  };
}
