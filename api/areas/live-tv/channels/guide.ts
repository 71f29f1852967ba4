// What tuners and channels read of the guide.
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** The guide source of each tuner that has one. */
export async function guideSourcesOf(db: Db, tunerIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsOf<{ id: string; tuner_id: string }>(
    db,
    'select id, tuner_id from guide_sources where tuner_id = any(?::uuid[])',
    [[...tunerIds]],
  );
  return new Map(rows.map((row) => [row.tuner_id, row.id]));
}

/** Times between which the guide has programmes. */
export async function guideCoverage(db: Db): Promise<{ coverageFrom?: string; coverageUntil?: string }> {
  const [row] = await rowsOf<{ first: Date | null; last: Date | null }>(
    db,
    `select (select start_at from guide_programs order by start_at limit 1) as first,
       (select max(t.coverage_until) from guide_states t join guide_sources s on s.id = t.source_id and s.enabled) as last`,
    [],
  );
  return {
    ...(row?.first && { coverageFrom: iso(row.first) }),
    ...(row?.last && { coverageUntil: iso(row.last) }),
  };
}

/** Whether a guide names such a channel. */
export async function isGuideChannel(
  db: Db,
  { guideSourceId, guideChannelId }: { guideSourceId: string; guideChannelId: string },
): Promise<boolean> {
  const known = { source_id: guideSourceId, guide_id: guideChannelId };
  return (await db('guide_channels').where(known).first('id')) !== undefined;
}
