// What refreshes left with each source.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'guide_states.error': { code: string; message: string };
  }
}

export type StateRow = Row<'guide_states'>;

export async function findState(db: Db, sourceId: string): Promise<StateRow | undefined> {
  return db('guide_states').where({ source_id: sourceId }).first();
}

/** Writes members of the state, which is created with the first of them. */
export async function putState(
  db: Db,
  sourceId: string,
  change: Partial<Omit<StateRow, 'source_id' | 'error'>> & { error?: StateRow['error'] },
): Promise<void> {
  const { error, ...rest } = change;
  const row = { ...rest, ...(error !== undefined && { error: error && JSON.stringify(error) }) };
  await db('guide_states')
    .insert({ source_id: sourceId, ...row })
    .onConflict('source_id')
    .merge();
}

/** The last end of a programme of the source. */
export async function coverageOf(db: Db, sourceId: string): Promise<Date | null> {
  const [row] = await rowsOf<{ until: Date | null }>(
    db,
    `select max(p.end_at) as until from guide_channels c
       join lateral (select end_at from guide_programs where channel = c.id order by start_at desc limit 1) p on true
      where c.source_id = ?`,
    [sourceId],
  );
  return row?.until ?? null;
}

/** Enabled sources that are due and have no job. */
export async function findDueSources(db: Db): Promise<{ id: string; name: string }[]> {
  return rowsOf(
    db,
    `select s.id, s.name from guide_sources s left join guide_states t on t.source_id = s.id
      where s.enabled and coalesce(t.next_at <= now(), true)
        and not exists (select from jobs j where j.kind = 'live.guide' and j.state in ('waiting', 'delayed', 'active')
          and j.payload->>'sourceId' = s.id::text)
      order by s.id limit 50`,
    [],
  );
}
