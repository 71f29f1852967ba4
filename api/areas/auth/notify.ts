import { notify } from '#areas/notifications/public.ts';
import type { Call } from '#kernel/endpoint.ts';

/** Notifies the account of a sign-in on a new device, except its first one. */
export async function notifyNewDevice({ db, client }: Call, accountId: string): Promise<void> {
  const known = await db('devices').where({ account_id: accountId }).select('client_id');
  if (known.length === 0 || known.some((device) => device.client_id === client.id)) return;
  await notify(db, {
    kind: 'sign-in-new-device',
    to: { accountIds: [accountId] },
    data: { name: client.name ?? client.address, address: client.address },
    url: '/me/devices',
  });
}

/** `name` is the sign-in method that was added, removed or changed. */
export async function notifyMethodChanged({ db, who }: Call, name: string): Promise<void> {
  await notify(db, {
    kind: 'methods-changed',
    to: { accountIds: [who.accountId] },
    data: { name },
    url: '/me/sign-in',
  });
}
