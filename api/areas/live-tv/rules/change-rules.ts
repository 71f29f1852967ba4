// Changes of recording rules.
import { opens } from '#identity/licence.ts';
import { plusOf } from '#identity/plus.ts';
import { may } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { getProgram, refuseRestricted } from '../guide/guide.ts';
import type { ProgramRow } from '../guide/programs.store.ts';
import { planNow } from '../recordings/plan-now.ts';
import { chooseTarget } from '../recordings/target.ts';
import { lockSchedule, replan } from '../schedule/schedule.store.ts';
import { applyRecordingRules } from './apply.ts';
import { matchOfProgram, nameOf, seriesOf } from './rule-fields.ts';
import type { RuleChange, RuleDraft, RuleMade, RuleSkipped } from './rules.schemas.ts';
import { getOwnRule, type RuleRow, removePlanned } from './rules.store.ts';
import { detailOf, shownRecordings } from './rules.view.ts';

/** Rules of an account. */
export const MOST_RULES = 100;

/** Saves a rule and plans its recordings; a dry run is rolled back. Throws 400, 403, 404 and 409 as createRecordingRule describes. */
export async function createRuleOf(call: Call, draft: RuleDraft): Promise<RuleMade> {
  return attempt(call, draft.dryRun, (inside) => makeRule(inside, draft));
}

/** Runs a change in a transaction inside that of the request, which a dry run rolls back. */
async function attempt<T>(call: Call, dryRun: boolean, change: (inside: Call) => Promise<T>): Promise<T> {
  if (!dryRun) return change(call);
  const db = await call.db.transaction();
  try {
    return await change({ ...call, db });
  } finally {
    await db.rollback();
  }
}

async function makeRule(call: Call, draft: RuleDraft): Promise<RuleMade> {
  const { db, who } = call;
  const match = draft.match ?? matchOfProgram(await programOf(call, String(draft.programId)));
  const columns = { ...columnsOf(draft), match, series_key: seriesOf(match) };
  requireHours(columns.from_time, columns.to_time);
  await requireChannels(call, draft.channelIds ?? []);
  const target = await targetOf(call, draft);
  await lockSchedule(db);
  if (!draft.dryRun) await requireFewRules(db, who.accountId);
  const { settings } = call.deps;
  const id = newId();
  await db('recording_rules').insert({
    ...columns,
    ...{ id, account_id: who.accountId, match, name: draft.name ?? (await nameFor(call, draft, match)) },
    start_pad_ms: draft.startPadMs ?? settings.get('dvr.startPadMs'),
    end_pad_ms: draft.endPadMs ?? settings.get('dvr.endPadMs'),
    ...target,
  });
  return applied(call, existing(await db('recording_rules').where({ id }).first()), draft.dryRun);
}

async function requireFewRules(db: Call['db'], accountId: string): Promise<void> {
  const [own] = await db('recording_rules').where({ account_id: accountId }).count<{ count: number }[]>('* as count');
  if ((own?.count ?? 0) >= MOST_RULES) throw conflict('rule-limit', `At most ${MOST_RULES} rules`);
}

/** What a rule leaves out, once its recordings are planned. While the licence has lapsed it neither makes nor removes any. */
async function planOf(call: Call, row: RuleRow): Promise<Map<string, RuleSkipped[]>> {
  if (!row.enabled) await removePlanned(call.db, row.id);
  const mayPlan = row.enabled && opens(await plusOf(call.deps).current(), 'dvr');
  return mayPlan ? applyRecordingRules(call.db, [row], clockOf(call)) : new Map();
}

/** Plans the recordings of a rule. A dry run also answers with the recordings of others that would lose their slot. */
async function applied(call: Call, row: RuleRow, dryRun: boolean): Promise<RuleMade> {
  const { db } = call;
  const skipped = await planOf(call, row);
  const lost = dryRun ? (await replan(db)).conflicts.filter((one) => one.rule_id !== row.id) : [];
  if (!dryRun) {
    await planNow(call);
    await call.enqueue('live.schedule', {}, { key: 'live.schedule' });
  }
  const detail = await detailOf(call, row, dryRun);
  const others = await shownRecordings(
    call,
    lost.map(({ id }) => id),
  );
  return { ...detail, upcoming: [...detail.upcoming, ...others], skipped: skipped.get(row.id) ?? [] };
}

const clockOf = ({ now, deps }: Call) => ({ now, timeZone: deps.settings.get('server.timeZone') });

async function programOf(call: Call, programId: string): Promise<ProgramRow> {
  const found = await getProgram(call, programId);
  refuseRestricted(call, found);
  return found.row;
}

const nameFor = async (call: Call, { programId }: RuleDraft, match: string): Promise<string> =>
  programId === undefined ? nameOf(match) : (await programOf(call, programId)).title.slice(0, 200);

/** Throws 400 for a channel that the caller does not see. */
async function requireChannels({ db, who }: Call, ids: readonly string[]): Promise<void> {
  const seen = new Set(await visibleItemIds(db, who, ids));
  if (ids.some((id) => !seen.has(id))) throw invalid(['body', 'channelIds'], 'unknown_channel', 'visible channels');
}

interface Place {
  libraryId?: string | undefined;
  folderId?: string | null | undefined;
  channelIds?: readonly string[] | undefined;
}

async function targetOf(call: Call, { libraryId, folderId, channelIds = [] }: Place) {
  const channelId = channelIds[0] ?? null;
  const target = await chooseTarget(call, { libraryId, folderId: folderId ?? undefined, channelId });
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

/** Throws 400 for hours that end when they begin. */
function requireHours(from: string | null | undefined, to: string | null | undefined): void {
  if (typeof from === 'string' && from === to)
    throw invalid(['body', 'to'], 'out_of_range', 'another time than `from`');
}

/** Changes a rule and plans its recordings; a dry run is rolled back. Throws 400, 403, 404 and 409. */
export async function changeRule(call: Call, id: string, change: RuleChange): Promise<RuleMade> {
  await getOwnRule(call, id);
  return attempt(call, change.dryRun, (inside) => saveRule(inside, id, change));
}

async function saveRule(call: Call, id: string, change: RuleChange): Promise<RuleMade> {
  const { db } = call;
  await lockSchedule(db);
  const before = await db('recording_rules').where({ id }).forUpdate().first();
  if (!before) throw notFound();
  const columns = await changesOf(call, before, change);
  const { account_id: owner } = columns;
  if (owner && owner !== before.account_id) await requireFewRules(db, owner);
  await db('recording_rules')
    .where({ id })
    .update({ ...columns, updated_at: db.fn.now() });
  return applied(call, { ...before, ...columns }, change.dryRun);
}

async function changesOf(call: Call, before: RuleRow, change: RuleChange): Promise<Columns> {
  const columns = columnsOf(change);
  const after = { ...before, ...columns };
  requireHours(after.from_time, after.to_time);
  const isNew = (channelId: string): boolean => !before.channel_ids.includes(channelId);
  await requireChannels(call, (change.channelIds ?? []).filter(isNew));
  const moves = change.libraryId !== undefined || change.folderId !== undefined;
  const owner = await ownerOf(call, change.ownerUserId);
  if (after.enabled && (owner.account_id ?? before.account_id) === null)
    throw conflict('no-owner', 'A rule without an owner stays switched off');
  return {
    ...columns,
    ...(change.match !== undefined && { series_key: seriesOf(change.match) }),
    ...(moves && (await targetOf(call, placeAfter(before, change)))),
    ...owner,
  };
}

/** A folder that is named alone may lie in another library. */
const placeAfter = (before: RuleRow, { libraryId, folderId, channelIds }: RuleChange): Place => ({
  libraryId: libraryId ?? (folderId === null ? before.library_id : undefined),
  ...{ folderId, channelIds: channelIds ?? before.channel_ids },
});

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
  await removePlanned(db, id);
  await db('recording_rules').where({ id }).delete();
  await planNow(call);
}
