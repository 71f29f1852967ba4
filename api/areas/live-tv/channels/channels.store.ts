import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { LiveTest } from './channels.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'live_sources.last_test': LiveTest;
  }
}

export type ChannelRow = Row<'live_channels'>;
export type SourceRow = Row<'live_sources'>;

/** Channels that have no source on another tuner. */
export async function orphanedBy(db: Db, tunerId: string): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    `select distinct s.channel_id as id from live_sources s where s.tuner_id = ?
       and not exists (select from live_sources o where o.channel_id = s.channel_id and o.tuner_id <> s.tuner_id)`,
    [tunerId],
  );
  return rows.map(({ id }) => id);
}

/** Those of these channels that have no source. */
export async function withoutSources(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    `select c.id from live_channels c where c.id = any(?::uuid[])
       and not exists (select from live_sources s where s.channel_id = c.id)`,
    [[...ids]],
  );
  return rows.map(({ id }) => id);
}

/** Numbers of the enabled channels of a library. */
export async function takenNumbers(db: Db, libraryId: string): Promise<string[]> {
  return db('live_channels').where({ library_id: libraryId, enabled: true }).pluck('number');
}

/** Sets what follows from the sources of channels: drm when all are, hd when one is. Returns the ids of changed ones. */
export async function deriveFromSources(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    `update live_channels c set drm = d.drm, hd = d.hd
     from (select s.channel_id, bool_and(s.drm) as drm, bool_or(coalesce(s.quality in ('hd', 'uhd'), false)) as hd
       from live_sources s where s.channel_id = any(?::uuid[]) group by s.channel_id) d
     where c.id = d.channel_id and (c.drm, c.hd) is distinct from (d.drm, d.hd) returning c.id`,
    [[...ids]],
  );
  return rows.map(({ id }) => id);
}
