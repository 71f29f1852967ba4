import type { Knex } from 'knex';
import { updateDeviceRow } from '#identity/devices.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Device } from './devices.schemas.ts';

export interface DeviceRow extends Row<'devices'> {
  online: boolean;
  sessions: number;
  keys_used: number;
  profile_name: string | null;
}

const ONLINE = `d.last_seen_at > now() - interval '60 seconds'`;

export function selectDevices(
  db: Db,
  wanted: { accountId: string; state?: Device['state'] | undefined; online?: boolean | undefined },
): Knex.QueryBuilder {
  const query = db('devices as d')
    .leftJoin('profiles as p', 'p.id', 'd.last_profile_id')
    .where('d.account_id', wanted.accountId)
    .select(
      'd.*',
      'p.name as profile_name',
      db.raw(`${ONLINE} as online,
        (select count(*) from sessions s where s.device_id = d.id and s.expires_at > now()) as sessions,
        (select count(*) from device_keys k where k.device_id = d.id) as keys_used`),
    );
  if (wanted.state) query.where('d.state', wanted.state);
  if (wanted.online !== undefined) query.whereRaw(wanted.online ? ONLINE : `not ${ONLINE}`);
  return query;
}

export async function findDevice(db: Db, accountId: string, id: string): Promise<DeviceRow | undefined> {
  const rows: DeviceRow[] = await selectDevices(db, { accountId }).where('d.id', id);
  return rows[0];
}

export async function updateDevice(
  db: Db,
  id: string,
  { name, state }: { name?: string | undefined; state?: Device['state'] | undefined },
): Promise<void> {
  const change = { ...(name !== undefined && { name, named: true }), ...(state && { state }) };
  if (Object.keys(change).length > 0) await updateDeviceRow(db, { id }, change);
}
