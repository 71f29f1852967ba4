import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { GuideSource } from './sources.schemas.ts';
import { listSourceRows, type SourceRow } from './sources.store.ts';
import type { StateRow } from './states.store.ts';

/** Sources with what their last refresh left; of all, or of some. */
export async function describeSources(db: Db, ids?: readonly string[]): Promise<GuideSource[]> {
  const rows = (await listSourceRows(db)).filter(({ id }) => !ids || ids.includes(id));
  const states = await db('guide_states').whereIn(
    'source_id',
    rows.map(({ id }) => id),
  );
  const running = (await db('jobs')
    .where({ kind: 'live.guide', state: 'active' })
    .whereRaw(`payload->>'sourceId' is not null`)
    .select(db.raw(`payload->>'sourceId' as source`))) as unknown as { source: string }[];
  const busy = new Set(running.map(({ source }) => source));
  return rows.map((row) =>
    toSource(row, { state: states.find(({ source_id: id }) => id === row.id), busy: busy.has(row.id) }),
  );
}

interface Standing {
  state: StateRow | undefined;
  busy: boolean;
}

function toSource(row: SourceRow, { state, busy }: Standing): GuideSource {
  return {
    ...{ id: row.id, name: row.name, kind: row.kind, uploaded: row.upload_id !== null, enabled: row.enabled },
    ...given({ tunerId: row.tuner_id, url: row.address, refreshCron: row.refresh_cron }),
    ...(row.managed_by && { managedBy: row.managed_by, managedFields: row.managed_fields }),
    ...{ priority: row.priority, refreshHours: row.refresh_hours, days: row.days, shiftMinutes: row.shift_minutes },
    ...(state ? refreshed(row, state) : { channels: 0, programs: 0, skippedEntries: 0 }),
    state: stateOf(state, busy),
  };
}

/** What the refreshes left. */
function refreshed({ enabled }: SourceRow, state: StateRow) {
  return {
    ...{ channels: state.channels, programs: state.programs, skippedEntries: state.skipped },
    ...given({ lastRefreshAt: iso(state.refreshed_at), coverageUntil: iso(state.coverage_until), error: state.error }),
    ...given({ nextRefreshAt: enabled ? iso(state.next_at) : null }),
  };
}

/** Only the members that have a value. */
const given = <T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as never;

function stateOf(state: StateRow | undefined, busy: boolean): GuideSource['state'] {
  if (busy) return 'refreshing';
  if (state?.error) return 'failed';
  return state?.refreshed_at ? 'ready' : 'never';
}
