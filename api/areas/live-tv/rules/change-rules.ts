// Changes of recording rules.
import { may } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { printConditions } from '#kernel/filter.ts';
import { existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { getProgram, refuseRestricted } from '../guide/guide.ts';
import { planNow } from '../recordings/plan-now.ts';
import { chooseTarget } from '../recordings/target.ts';
import { lockSchedule } from '../schedule/schedule.store.ts';
import { applyRule } from './apply.ts';
import { parseMatch } from './rule-fields.ts';
import type { RuleChange, RuleDetail, RuleDraft, RuleMade } from './rules.schemas.ts';
import { getOwnRule, type RuleRow } from './rules.store.ts';
import { detailOf } from './rules.view.ts';

/** Rules of an account. */
export const MOST_RULES = 100;

/** The outcome of a dry run: its transaction is rolled back. */
class Tried extends Error {
  readonly made: RuleMade;
  constructor(made: RuleMade) {
    super('tried');
    this.made = made;
  }
}

/** Saves a rule and plans its recordings; a dry run saves nothing. Throws 400, 403, 404 and 409 as createRecordingRule describes. */
export async function createRuleOf(call: Call, draft: RuleDraft): Promise<RuleMade> {
  try {
    return await call.db.transaction(async (db) => {
      const made = await makeRule({ ...call, db }, draft);
      if (draft.dryRun) throw new Tried(made);
      return made;
    });
  } catch (error) {
    if (error instanceof Tried) return error.made;
    throw error;
  }
}

async function makeRule(call: Call, draft: RuleDraft): Promise<RuleMade> {
  const { db, who } = call;
  await lockSchedule(db);
  const [own] = await db('recording_rules')
    .where({ account_id: who.accountId })
    .count<{ count: number }[]>('* as count');
  if ((own?.count ?? 0) >= MOST_RULES) throw conflict('rule-limit', `At most ${MOST_RULES} rules`);
  const from = await matchOf(call, draft);
  await requireChannels(call, draft.channelIds ?? []);
  const target = await targetOf(call, draft);
  const { settings } = call.deps;
  const id = newId();
  await db('recording_rules').insert({
    ...columnsOf(draft),
    ...{ id, account_id: who.accountId, name: draft.name ?? from.name, match: from.match },
    series_key: from.seriesKey,
    start_pad_ms: draft.startPadMs ?? settings.get('dvr.startPadMs'),
    end_pad_ms: draft.endPadMs ?? settings.get('dvr.endPadMs'),
    ...target,
  });
  return applied(call, existing(await db('recording_rules').where({ id }).first()));
}

/** Plans the recordings of a rule. */
async function applied(call: Call, row: RuleRow): Promise<RuleMade> {
  const skipped = await applyRule(call.db, row, clockOf(call));
  await planNow(call);
  return { ...(await detailOf(call, row)), skipped: skipped.slice(0, 500) };
}

const clockOf = ({ now, deps }: Call) => ({ now, timeZone: deps.settings.get('server.timeZone') });

async function matchOf(
  call: Call,
  { programId, match = '', name }: RuleDraft,
): Promise<{ match: string; name: string; seriesKey: string | null }> {
  if (programId === undefined) {
    const rules = parseMatch(match);
    const [first] = 'all' in rules ? rules.all : [];
    const title = first && 'field' in first && first.field === 'title' ? first.values[0] : undefined;
    return { match, name: name ?? title ?? match.slice(0, 200), seriesKey: null };
  }
  const found = await getProgram(call, programId);
  refuseRestricted(call, found);
  const { title, series_key: seriesKey } = found.row;
  const condition = seriesKey === null ? { field: 'title', values: [title] } : { field: 'series', values: [seriesKey] };
  return { match: printConditions([{ ...condition, op: 'eq' }]), name: title.slice(0, 200), seriesKey };
}

/** Throws 400 for a channel that the caller does not see. */
async function requireChannels({ db, who }: Call, ids: readonly string[]): Promise<void> {
  const seen = new Set(await visibleItemIds(db, who, ids));
  if (ids.some((id) => !seen.has(id))) throw invalid(['body', 'channelIds'], 'unknown_channel', 'visible channels');
}

async function targetOf(call: Call, { libraryId, folderId, channelIds }: RuleDraft | RuleChange) {
  const target = await chooseTarget(call, { libraryId, folderId, channelId: channelIds?.[0] ?? null });
  return { library_id: target.libraryId, folder_id: target.folderId };
}

type Columns = Partial<Omit<RuleRow, 'id'>>;

function columnsOf(change: RuleDraft | RuleChange): Columns {
  const columns = {
    ...{ name: change.name, enabled: change.enabled, match: change.match, channel_ids: change.channelIds },
    ...{ new_only: change.newOnly, skip_owned: change.skipOwned, days: change.days },
    ...{ from_time: change.from, to_time: change.to, start_pad_ms: change.startPadMs, end_pad_ms: change.endPadMs },
    ...{ priority: change.priority, keep_last: change.keepLast, keep_days: change.keepDays },
    max_upcoming: change.maxUpcoming,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** Changes a rule and plans its recordings. Throws 400, 403 and 404. */
export async function changeRule(call: Call, id: string, change: RuleChange): Promise<RuleDetail> {
  const { db } = call;
  await getOwnRule(call, id);
  await lockSchedule(db);
  if (change.match !== undefined) parseMatch(change.match);
  await requireChannels(call, change.channelIds ?? []);
  const moves = change.libraryId !== undefined || change.folderId !== undefined;
  const columns = {
    ...columnsOf(change),
    ...(change.match !== undefined && { series_key: null }),
    ...(moves && (await targetOf(call, change))),
    ...(await ownerOf(call, change.ownerUserId)),
  };
  await db('recording_rules')
    .where({ id })
    .update({ ...columns, updated_at: db.fn.now() });
  const { skipped: _skipped, ...detail } = await applied(
    call,
    existing(await db('recording_rules').where({ id }).first()),
  );
  return detail;
}

async function ownerOf({ db, who }: Call, id: string | undefined): Promise<Columns> {
  if (id === undefined) return {};
  if (!may(who, 'library:manage'))
    throw new ApiError('FORBIDDEN', 'Only those who manage libraries may change the owner', {
      permission: 'library:manage',
    });
  if (!(await db('accounts').where({ id }).first('id')))
    throw invalid(['body', 'ownerUserId'], 'unknown_account', 'an account');
  return { account_id: id };
}

/** Deletes a rule with its planned recordings; a running one ends as planned. Throws 403 and 404. */
export async function deleteRule(call: Call, id: string): Promise<void> {
  const { db } = call;
  requireAllowed(call.who, 'liveTv');
  await getOwnRule(call, id);
  await lockSchedule(db);
  await db('recordings').where({ rule_id: id }).whereIn('state', ['scheduled', 'conflict']).delete();
  await db('recording_rules').where({ id }).delete();
  await planNow(call);
}
