// Fields by which recordings are filtered, and orders of their lists.
import type { Principal } from '#identity/principal.ts';
import { folded, idOrName, moment, type SqlField, scalar } from '#kernel/filter-sql.ts';
import type { SortTable } from '#kernel/page.ts';

/** Queries read `recordings as r` and `libraries as l`. */
export interface RecordingContext {
  who: Principal;
  now: Date;
}

const some = ['eq', 'ne', 'in', 'nin'] as const;
const ids = (column: string) => ({
  kind: 'tag' as const,
  operators: some,
  where: scalar<RecordingContext>(`${column}::text`, 'text'),
});

export const recordingFields = {
  state: {
    kind: 'enum',
    values: ['scheduled', 'conflict', 'recording', 'completed', 'partial', 'failed', 'cancelled'],
    where: scalar('r.state', 'text'),
  },
  channel: ids('r.channel_id'),
  rule: ids('r.rule_id'),
  owner: ids('r.account_id'),
  title: { kind: 'text', where: folded('foyer_fold(r.title)') },
  start_at: { kind: 'date', where: moment('r.start_at') },
  library: { kind: 'tag', where: idOrName({ id: 'r.library_id', name: 'l.name_folded' }) },
} as const satisfies Record<string, SqlField<RecordingContext>>;

export const recordingSorts: SortTable = {
  startAt: { column: 'r.start_at', type: 'timestamptz' },
  title: { column: 'foyer_fold(r.title)', type: 'text' },
  priority: { column: 'r.priority', type: 'int' },
  sizeBytes: { column: 'r.size_bytes', type: 'bigint' },
};
