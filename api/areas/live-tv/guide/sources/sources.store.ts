import { isDeepStrictEqual } from 'node:util';
import type { ManagedBy } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, seal, sign, unseal } from '#platform/keys.ts';
import type { Row, Update } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'guide_sources.kind': 'xmltv' | 'tuner';
    'guide_sources.managed_by': ManagedBy;
  }
}

export type SourceRow = Row<'guide_sources'>;

/** Where a guide is fetched. */
export interface GuideAddress {
  url?: string;
  headers?: Record<string, string>;
}

/** Class and number of the advisory lock under which sources are compared and counted. */
const LOCK = 4_712_063;
const placeOf = (id: string): string => `guide_sources|secrets|${id}`;

/** Until the end of the transaction no other one adds a source or changes its address. */
export async function lockSources(db: Db): Promise<void> {
  await db.raw('select pg_advisory_xact_lock(?)', [LOCK]);
}

export async function listSourceRows(db: Db): Promise<SourceRow[]> {
  return db('guide_sources').orderBy(['name', 'id']).select('*');
}

export async function findSourceRow(db: Db, id: string): Promise<SourceRow | undefined> {
  return db('guide_sources').where({ id }).first();
}

/** Whether the guide is still read in the same way; it stays so until the transaction ends. */
export async function readsAlike(db: Db, row: SourceRow): Promise<boolean> {
  const { id, days, shift_minutes, secrets, upload_id } = row;
  const now = await db('guide_sources').where({ id }).forShare().first();
  return isDeepStrictEqual(now && [now.days, now.shift_minutes, now.secrets, now.upload_id], [
    days,
    shift_minutes,
    secrets,
    upload_id,
  ]);
}

export async function insertSourceRow(
  db: Db,
  row: Partial<SourceRow> & Pick<SourceRow, 'id' | 'name' | 'kind'>,
): Promise<void> {
  await db('guide_sources').insert({ ...row, ...written(row) });
}

export async function updateSourceRow(db: Db, id: string, change: Partial<SourceRow>): Promise<void> {
  const columns = { ...change, ...written(change), updated_at: new Date() } as Update<'guide_sources'>;
  await db('guide_sources').where({ id }).update(columns);
}

/** JSON as Postgres takes it. */
const written = ({ managed_by: managedBy }: Partial<SourceRow>): object =>
  managedBy ? { managed_by: JSON.stringify(managedBy) } : {};

export async function deleteSourceRow(db: Db, id: string): Promise<void> {
  await db('guide_sources').where({ id }).delete();
}

/** Empty without secrets, and when no key of the ring opens them. */
export function addressOf(keys: Keys, { id, secrets }: Pick<SourceRow, 'id' | 'secrets'>): GuideAddress {
  const text = secrets === null ? undefined : unseal(keys, secrets, placeOf(id));
  return text === undefined ? {} : (JSON.parse(text) as GuideAddress);
}

export function sealAddress(keys: Keys, id: string, address: GuideAddress): string | null {
  return Object.keys(address).length === 0 ? null : seal(keys, JSON.stringify(address), placeOf(id));
}

/** The mark by which the same address is found, without revealing it. */
export const markOfAddress = (keys: Keys, url: string): string =>
  sign(keys, `guide|${new URL(url).href}`).toString('base64url');

/** The address of the guide that a tuner or its playlist names; undefined without one, or without the tuner. */
export async function ownGuideOf(db: Db, keys: Keys, tunerId: string): Promise<string | undefined> {
  const tuner = await db('live_tuners').where({ id: tunerId }).first('own_guide');
  if (!tuner || tuner.own_guide === null) return undefined;
  return unseal(keys, tuner.own_guide, `live_tuners|own_guide|${tunerId}`);
}
