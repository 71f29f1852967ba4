import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import type { Recording } from '../recordings/recordings.schemas.ts';
import { OPEN_STATES, type RecordingRow } from '../recordings/recordings.store.ts';
import { toRecordings } from '../recordings/recordings.view.ts';
import { visibleRecordings } from '../recordings/visible.ts';
import { DAYS, type RecordingRule, type RuleDetail } from './rules.schemas.ts';
import { countsOf, type RuleCounts, type RuleRow } from './rules.store.ts';

const MOST_SHOWN = 50;

export async function toRules(
  { db, who }: Pick<Call, 'db' | 'who'>,
  rows: readonly RuleRow[],
): Promise<RecordingRule[]> {
  const counts = await countsOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => toRule(row, who.accountId, counts.get(row.id)));
}

const given = <T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as never;

function toRule(row: RuleRow, accountId: string, counts: RuleCounts | undefined): RecordingRule {
  return {
    ...{ id: row.id, name: row.name, enabled: row.enabled, match: row.match, channelIds: row.channel_ids },
    ...{ newOnly: row.new_only, skipOwned: row.skip_owned, days: DAYS.filter((day) => row.days.includes(day)) },
    ...given({ from: row.from_time, to: row.to_time, keepLast: row.keep_last, keepDays: row.keep_days }),
    ...{ startPadMs: row.start_pad_ms, endPadMs: row.end_pad_ms, priority: row.priority },
    ...{ maxUpcoming: row.max_upcoming, libraryId: row.library_id },
    ...given({ folderId: row.folder_id, ownerUserId: row.account_id }),
    mine: row.account_id === accountId,
    ...(counts ?? { upcoming: 0, conflicts: 0, recorded: 0 }),
    createdAt: iso(row.created_at),
  };
}

/** A rule with its next recordings that the caller sees; with `all`, every one. */
export async function detailOf(call: Pick<Call, 'db' | 'who'>, row: RuleRow, all = false): Promise<RuleDetail> {
  const query = visibleRecordings(call.db, call.who)
    .where('r.rule_id', row.id)
    .whereIn('r.state', OPEN_STATES)
    .orderBy('r.start_at')
    .orderBy('r.id');
  const rows: RecordingRow[] = await (all ? query : query.limit(MOST_SHOWN));
  const [rule] = await toRules(call, [row]);
  if (!rule) throw new Error('no rule');
  return { rule, upcoming: await toRecordings(call, rows) };
}

/** Those of these recordings that the caller sees. */
export async function shownRecordings(call: Pick<Call, 'db' | 'who'>, ids: readonly string[]): Promise<Recording[]> {
  if (ids.length === 0) return [];
  const rows: RecordingRow[] = await visibleRecordings(call.db, call.who)
    .whereRaw('r.id = any(?::uuid[])', [[...ids]])
    .orderBy('r.start_at');
  return toRecordings(call, rows);
}
