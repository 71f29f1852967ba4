import { newId } from '#platform/ids.ts';
import type { Call } from './endpoint.ts';

/** A row of the audit log in the caller's transaction: who, from where, what, with old and new values and never a secret. */
export async function audit({ db, who, client }: Call, action: string, details: object): Promise<void> {
  const by = { ...(who.accountId && { account_id: who.accountId }), ...(who.deviceId && { device_id: who.deviceId }) };
  await db('audit_log').insert({
    id: newId(),
    ...by,
    action,
    address: client.address,
    details: JSON.stringify(details),
  });
}
