import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Match, Update } from '#platform/typed-query.ts';
import type { Client } from './client.ts';
import type { Principal } from './principal.ts';

/** Id of the device record of this `X-Client-Id`, created at first use; undefined without a client id. */
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
      // A name set by a person takes precedence over the header.
      ...(client.name
        ? { client_name: client.name, name: db.raw('case when devices.named then devices.name else excluded.name end') }
        : {}),
    })
    .returning('id');
  return row?.id;
}

function nameFrom(userAgent: string | undefined): string {
  return (userAgent ?? 'Unknown device').replace(/[\p{C}]/gu, '').slice(0, 60);
}

const ofKeys = new Map<string, { id: string; until: number }>();
const REMEMBERED_MS = 30_000; // a removed device is created again after this time
const MOST_REMEMBERED = 10_000;

/** Device on which an API key is used, cached for half a minute. */
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

/** The account, session and device of a use. */
type Using = Pick<Principal, 'accountId' | 'sessionId' | 'deviceId'>;
interface Use {
  device: string | null;
  session: string | null;
  /** Null for API keys, whose use is not a use by the person. */
  account: string | null;
  address: string | null;
}

const noted = new WeakMap<Db, Map<string, Use>>();
const EVERY_MS = 5000;

/** Records the use of device and session. Uses are written together every five seconds, so that no request waits. */
export function recordLastUse(db: Db, { accountId, sessionId, deviceId }: Using, address: string | null): void {
  if (sessionId === undefined && deviceId === undefined) return;
  let uses = noted.get(db);
  if (!uses) {
    const fresh = new Map<string, Use>();
    uses = fresh;
    noted.set(db, fresh);
    setTimeout(() => {
      noted.delete(db);
      writeUses(db, [...fresh.values()]).catch(() => undefined); // the next use is recorded again
    }, EVERY_MS).unref();
  }
  const name = `${sessionId}|${deviceId}`;
  const account = sessionId === undefined ? null : accountId;
  const from = address ?? uses.get(name)?.address ?? null;
  uses.set(name, { device: deviceId ?? null, session: sessionId ?? null, account, address: from });
}

const USES = 'jsonb_to_recordset(?::jsonb) as u(device uuid, session uuid, account uuid, address text)';

/** Writes devices each time, sessions and accounts at most once a minute, without waiting for locked rows. */
async function writeUses(db: Db, uses: readonly Use[]): Promise<void> {
  const given = [JSON.stringify(uses)];
  await db.raw(
    `update devices d set last_seen_at = now(), last_address = coalesce(u.address, d.last_address)
     from ${USES} where d.id = u.device`,
    given,
  );
  await db.raw(
    `with due as (select s.id, u.address from sessions s join ${USES} on u.session = s.id
       where s.last_seen_at < now() - interval '1 minute' for no key update of s skip locked)
     update sessions s set last_seen_at = now(), address = coalesce(due.address, s.address) from due where s.id = due.id`,
    given,
  );
  await db.raw(
    `with due as (select a.id from accounts a where a.id in (select u.account from ${USES})
       and coalesce(a.last_seen_at < now() - interval '1 minute', true) for no key update of a skip locked)
     update accounts a set last_seen_at = now() from due where a.id = due.id`,
    given,
  );
}

/** Changes columns of the matching devices and returns their number. */
export async function updateDeviceRow(db: Db, match: Match<'devices'>, change: Update<'devices'>): Promise<number> {
  return db('devices').where(match).update(change);
}

/** Deletes a device; a later sign-in creates a new one. */
export async function deleteDevice(db: Db, id: string): Promise<void> {
  await db('devices').where({ id }).delete();
}
