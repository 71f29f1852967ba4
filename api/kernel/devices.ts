import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Client } from './endpoint.ts';

const known = new Map<string, string>();

/** The account's device record of this `X-Client-Id`, made at its first use; undefined without one. */
export async function deviceFor(db: Db, accountId: string, client: Client): Promise<string | undefined> {
  if (!client.id) return undefined;
  const key = `${accountId}|${client.id}|${client.name ?? ''}`;
  const remembered = known.get(key);
  if (remembered) return remembered;
  const [row] = await db('devices')
    .insert({
      id: newId(),
      account_id: accountId,
      client_id: client.id,
      name: client.name ?? nameFrom(client.userAgent),
      client_name: client.name ?? null,
      last_address: client.address,
    })
    .onConflict(['account_id', 'client_id'])
    .merge({
      last_seen_at: new Date(),
      last_address: client.address,
      ...(client.name ? { client_name: client.name } : {}),
    })
    .returning<{ id: string }[]>('id');
  if (!row) return undefined;
  if (known.size > 10_000) known.clear();
  known.set(key, row.id);
  return row.id;
}

function nameFrom(userAgent: string | undefined): string {
  return (userAgent ?? 'Unknown device').replace(/[\p{C}]/gu, '').slice(0, 60);
}
