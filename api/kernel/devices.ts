import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Client } from './endpoint.ts';

/** The account's device record of this `X-Client-Id`, made at its first use; undefined without one. */
export async function deviceFor(db: Db, accountId: string, client: Client): Promise<string | undefined> {
  if (!client.id) return undefined;
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
      // A name that a person gave wins over the header.
      ...(client.name
        ? { client_name: client.name, name: db.raw('case when devices.named then devices.name else excluded.name end') }
        : {}),
    })
    .returning<{ id: string }[]>('id');
  return row?.id;
}

function nameFrom(userAgent: string | undefined): string {
  return (userAgent ?? 'Unknown device').replace(/[\p{C}]/gu, '').slice(0, 60);
}

const ofKeys = new Map<string, { id: string; until: number }>();
const REMEMBERED_MS = 30_000; // a device that is removed meanwhile comes back after it
const MOST_REMEMBERED = 10_000;

/** The device that an API key is used on, looked up again after half a minute. */
export async function deviceOfKey(
  db: Db,
  key: { keyId: string; accountId: string },
  client: Client,
): Promise<string | undefined> {
  const name = `${key.keyId}|${client.id}|${client.name ?? ''}`;
  const remembered = ofKeys.get(name);
  if (remembered && remembered.until > Date.now()) return remembered.id;
  const id = await deviceFor(db, key.accountId, client);
  if (id === undefined) return undefined;
  await db('device_keys').insert({ device_id: id, key_id: key.keyId }).onConflict(['device_id', 'key_id']).ignore();
  if (ofKeys.size >= MOST_REMEMBERED) ofKeys.clear();
  ofKeys.set(name, { id, until: Date.now() + REMEMBERED_MS });
  return id;
}

const noted = new WeakMap<Db, Map<string, string | null>>();
const EVERY_MS = 5000;

/** The device is in use now, from that address; written with others every five seconds, so that no request waits for it. */
export function noteSeen(db: Db, deviceId: string, address: string | null): void {
  let seen = noted.get(db);
  if (!seen) {
    const fresh = new Map<string, string | null>();
    seen = fresh;
    noted.set(db, fresh);
    setTimeout(() => {
      noted.delete(db);
      writeSeen(db, fresh).catch(() => undefined); // the next use says it again
    }, EVERY_MS).unref();
  }
  seen.set(deviceId, address ?? seen.get(deviceId) ?? null);
}

async function writeSeen(db: Db, seen: ReadonlyMap<string, string | null>): Promise<void> {
  const rows = [...seen].map(([id, address]) => ({ id, address }));
  await db.raw(
    `update devices d set last_seen_at = now(), last_address = coalesce(u.address, d.last_address)
     from jsonb_to_recordset(?::jsonb) as u(id uuid, address text) where d.id = u.id`,
    [JSON.stringify(rows)],
  );
}
