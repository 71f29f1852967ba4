import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { storableJson } from '#platform/storable-json.ts';
import type { Call } from './endpoint.ts';

/** Writes to the audit log in the transaction of the caller: account, address, action, old and new values, and never a secret. */
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

/** Writes to the audit log outside of a request, or with a given id; an existing row of that id stays. */
export async function recordAudit(
  db: Db,
  { id = newId(), accountId, action, address }: { id?: string; accountId: string; action: string; address?: string },
): Promise<void> {
  await db('audit_log').insert({ id, account_id: accountId, action, address }).onConflict('id').ignore();
}

/** Whether the log has this action of the account with this id within the last `sinceHours`. */
export async function isAudited(
  db: Db,
  { id, accountId, action, sinceHours }: { id: string; accountId: string; action: string; sinceHours: number },
): Promise<boolean> {
  const row = await db('audit_log')
    .where({ id, account_id: accountId, action })
    .whereRaw('at > now() - make_interval(hours => ?)', [sinceHours])
    .first('id');
  return row !== undefined;
}

interface Entry {
  id: string;
  accountId: string | null;
  action: string;
  details: object;
}

/** Writes many entries at once, of a job or of a request for many records. */
export async function recordMany(db: Db, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ accountId, ...rest }) => ({ ...rest, account_id: accountId }));
  await db.raw(
    `insert into audit_log (id, account_id, action, details)
     select * from jsonb_to_recordset(?::jsonb) as r(id uuid, account_id uuid, action text, details jsonb)`,
    [storableJson(rows)],
  );
}
