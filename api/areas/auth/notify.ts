import { notify } from '#areas/notifications/public.ts';
import type { Call } from '#kernel/endpoint.ts';

/** Says so when the account is used on a device it was not used on before; its first device is no news. */
export async function notifyNewDevice({ db, client }: Call, accountId: string): Promise<void> {
  const known: { client_id: string }[] = await db('devices').where({ account_id: accountId }).select('client_id');
  if (known.length === 0 || known.some((device) => device.client_id === client.id)) return;
  await notify(db, {
    kind: 'sign-in-new-device',
    to: { accountIds: [accountId] },
    data: { name: client.name ?? client.address, address: client.address },
    url: '/settings/devices',
  });
}

/** `name` is the way to sign in that came, went or changed. */
export async function notifyMethodChanged({ db, who }: Call, name: string): Promise<void> {
  await notify(db, {
    kind: 'methods-changed',
    to: { accountIds: [who.accountId] },
    data: { name },
    url: '/settings/sign-in',
  });
}
