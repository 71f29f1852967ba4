import type { ManagedBy } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Choice, LastScan } from './tuners.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'live_tuners.managed_by': ManagedBy;
    'live_tuners.include': Choice;
    'live_tuners.exclude': Choice;
    'live_tuners.device': { id: string; model: string; firmware: string };
    'live_tuners.last_scan': LastScan;
  }
}

export type TunerRow = Row<'live_tuners'>;

export const MOST_TUNERS = 50;
const LOCK = 4_712_041;

/** Until the end of the transaction no other one creates a tuner or changes its address. */
export async function lockTuners(db: Db): Promise<void> {
  await db.raw('select pg_advisory_xact_lock(?)', [LOCK]);
}

/** All tuners, by priority and name. */
export async function listTunerRows(db: Db): Promise<TunerRow[]> {
  return db('live_tuners').orderBy([{ column: 'priority', order: 'desc' }, { column: 'name' }, { column: 'id' }]);
}

export async function findTunerRow(db: Db, id: string): Promise<TunerRow | undefined> {
  return db('live_tuners').where({ id }).first();
}

/** The row with a lock until the transaction ends. */
export async function lockTunerRow(db: Db, id: string): Promise<TunerRow | undefined> {
  return db('live_tuners').where({ id }).forUpdate().first();
}

/** The tuner that the operator made for a resource. */
export async function findManagedTuner(db: Db, uid: string): Promise<TunerRow | undefined> {
  return db('live_tuners').whereRaw(`managed_by ->> 'uid' = ?`, [uid]).first();
}

const JSON_COLUMNS = ['managed_by', 'include', 'exclude', 'device', 'last_scan'] as const;

function written(row: Partial<TunerRow>): object {
  const texts = JSON_COLUMNS.filter((name) => row[name] !== undefined && row[name] !== null);
  return { ...row, ...Object.fromEntries(texts.map((name) => [name, JSON.stringify(row[name])])) };
}

export async function insertTunerRow(
  db: Db,
  row: Partial<TunerRow> & Pick<TunerRow, 'id' | 'library_id' | 'name' | 'kind'>,
): Promise<void> {
  await db('live_tuners').insert(written(row) as typeof row);
}

export async function updateTunerRow(db: Db, id: string, change: Partial<TunerRow>): Promise<void> {
  await db('live_tuners')
    .where({ id })
    .update({ ...written(change), updated_at: new Date() });
}

/** What requests to the tuner need and no answer shows. */
export interface TunerSecrets {
  url?: string;
  headers?: Record<string, string>;
}

const placeOf = (id: string, column: 'secrets' | 'own_guide'): string => `live_tuners|${column}|${id}`;

export const sealSecrets = (keys: Keys, id: string, secrets: TunerSecrets): string =>
  seal(keys, JSON.stringify(secrets), placeOf(id, 'secrets'));

/** Undefined when no key of the ring opens them. */
export function secretsOf(keys: Keys, { id, secrets }: Pick<TunerRow, 'id' | 'secrets'>): TunerSecrets | undefined {
  if (secrets === null) return {};
  const text = unseal(keys, secrets, placeOf(id, 'secrets'));
  return text === undefined ? undefined : (JSON.parse(text) as TunerSecrets);
}

export const sealOwnGuide = (keys: Keys, id: string, address: string): string =>
  seal(keys, address, placeOf(id, 'own_guide'));

/** Address of the guide that the device or its playlist names. */
export const ownGuideOf = (keys: Keys, { id, own_guide: sealed }: Pick<TunerRow, 'id' | 'own_guide'>) =>
  sealed === null ? undefined : unseal(keys, sealed, placeOf(id, 'own_guide'));

const sourcePlace = (id: string): string => `live_sources|address|${id}`;
export const sealStream = (keys: Keys, sourceId: string, address: string): string =>
  seal(keys, address, sourcePlace(sourceId));
/** Address of the stream of a source; undefined when no key of the ring opens it. */
export const streamOf = (keys: Keys, { id, address }: { id: string; address: string }): string | undefined =>
  unseal(keys, address, sourcePlace(id));

export interface TunerFacts {
  id: string;
  channels: number;
  streams: { slot: number; channel_id: string; viewers: number; recordings: number }[];
  scan: { progress: number; found: number } | null;
  queued: boolean;
}

/** Counts, open streams and the running scan of tuners. */
export async function tunerFacts(db: Db, ids: readonly string[]): Promise<Map<string, TunerFacts>> {
  const rows = await rowsOf<TunerFacts>(
    db,
    `select t.id,
       (select count(distinct s.channel_id)::int from live_sources s where s.tuner_id = t.id) as channels,
       (select coalesce(json_agg(json_build_object('slot', x.slot, 'channel_id', x.channel_id, 'viewers',
          (select count(*) from playback_sessions p where p.item_id = x.channel_id and p.state <> 'stopped'), 'recordings',
          (select count(*) from recordings r where r.channel_id = x.channel_id and r.state = 'recording'))), '[]')
        from live_streams x where x.tuner_id = t.id and x.ended_at is null) as streams,
       (select json_build_object('progress', j.progress, 'found', coalesce(j.done_units, 0)) from jobs j
        where j.key = 'live.scan:' || t.id and j.state = 'active' limit 1) as scan,
       exists (select from jobs j where j.key = 'live.scan:' || t.id and j.state in ('waiting', 'delayed')) as queued
     from unnest(?::uuid[]) as t(id)`,
    [[...ids]],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Streams that are open on a tuner, those who watch them, and their recordings. */
export async function useOf(db: Db, id: string): Promise<{ streams: number; viewers: number; recordings: number }> {
  const streams = (await tunerFacts(db, [id])).get(id)?.streams ?? [];
  const sum = (member: 'viewers' | 'recordings'): number => streams.reduce((all, one) => all + one[member], 0);
  return { streams: streams.length, viewers: sum('viewers'), recordings: sum('recordings') };
}
