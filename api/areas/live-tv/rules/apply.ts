// A rule makes recordings of the programmes that it wants, with the rights of its owner.
import { principalOf } from '#identity/account-row.ts';
import { may, type Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { toAiring } from '../recordings/airing.ts';
import { MOST_OPEN } from '../recordings/create-recording.ts';
import { countOpen, insertRecording, type RecordingRow } from '../recordings/recordings.store.ts';
import { fits, type Plan } from '../schedule/plan.ts';
import { planWith } from '../schedule/schedule.store.ts';
import { tunersOfChannels } from '../schedule/tuners-of-channels.store.ts';
import { type Candidate, findCandidates } from './candidates.store.ts';
import type { RuleSkipped } from './rules.schemas.ts';
import type { RuleRow } from './rules.store.ts';

export interface Clocked {
  now: Date;
  /** Of the server. */
  timeZone: string;
}

interface Choice {
  chosen: Candidate[];
  skipped: RuleSkipped[];
}

/** The owner of a rule, unless the account may not record any more. */
export async function ownerOf(db: Db, { account_id: id }: RuleRow): Promise<Principal | undefined> {
  const who = id === null ? undefined : await principalOf(db, id);
  if (!who || !may(who, 'download:own') || !may(who, 'library:view')) return undefined;
  return who.restrictions['liveTv'] === 'deny' || who.restrictions['record'] === 'deny' ? undefined : who;
}

/**
 * Makes the planned recordings of a rule those that it wants now. Those that a person changed and running ones stay. The plan has to
 * be made afterwards. Run it in a transaction, under the lock of the schedule.
 */
export async function applyRule(db: Db, rule: RuleRow, clocked: Clocked): Promise<RuleSkipped[]> {
  const who = rule.enabled ? await ownerOf(db, rule) : undefined;
  const existing = await db('recordings').where({ rule_id: rule.id }).select('*');
  const { chosen, skipped } = who ? await choose(db, who, { rule, existing, clocked }) : { chosen: [], skipped: [] };
  const wanted = new Set(chosen.map(({ id }) => id));
  const left = existing.filter((row) => isPlanned(row) && !wanted.has(row.program_id ?? ''));
  await db('recordings')
    .whereIn(
      'id',
      left.map(({ id }) => id),
    )
    .delete();
  const kept = new Set(existing.filter((row) => isPlanned(row)).map((row) => row.program_id));
  await db('recordings')
    .where({ rule_id: rule.id, by_hand: false })
    .whereIn('state', ['scheduled', 'conflict'])
    .update(optionsOf(rule));
  for (const one of chosen) {
    if (kept.has(one.id)) continue;
    const name = await channelName(db, one.channelId);
    const airing = toAiring(one, { id: one.channelId, name });
    await insertRecording(db, { ...airing, ...optionsOf(rule), rule_id: rule.id, account_id: rule.account_id });
  }
  return skipped;
}

/** What the rule may still change. */
const isPlanned = ({ state, by_hand: byHand }: RecordingRow): boolean =>
  !byHand && (state === 'scheduled' || state === 'conflict');

const optionsOf = (rule: RuleRow) => ({
  ...{ start_pad_ms: rule.start_pad_ms, end_pad_ms: rule.end_pad_ms, priority: rule.priority },
  ...{ library_id: rule.library_id, folder_id: rule.folder_id, keep_days: rule.keep_days },
});

async function channelName(db: Db, id: string): Promise<string> {
  return (await db('live_channels').where({ id }).first('name'))?.name ?? '';
}

/** The same for all airings of an episode or film. */
function identityOf(row: Candidate | RecordingRow): string {
  if (row.episode_key !== null) return `key ${row.episode_key}`;
  const series = row.series_key ?? row.title;
  if (row.season_number !== null && row.episode_number !== null)
    return `number ${series} ${row.season_number} ${row.episode_number}`;
  if (row.original_air_date !== null) return `date ${row.title} ${String(row.original_air_date)}`;
  const id = 'program_id' in row ? row.program_id : row.id;
  return `airing ${id}`;
}

interface Choosing {
  rule: RuleRow;
  existing: readonly RecordingRow[];
  clocked: Clocked;
}

async function choose(db: Db, who: Principal, { rule, existing, clocked }: Choosing): Promise<Choice> {
  const candidates = await findCandidates(db, who, { rule, ...clocked });
  const taken = await takenBy(db, candidates, rule.id);
  const held = existing.filter((row) => row.state === 'recording' || (row.by_hand && row.state !== 'cancelled'));
  const others = existing.filter((row) => isPlanned(row)).length;
  const open = rule.account_id === null ? MOST_OPEN : (await countOpen(db, rule.account_id)) - others;
  const most = Math.max(0, Math.min(rule.max_upcoming - held.filter(isComing).length, MOST_OPEN - open));
  const plan = await planWith(db, []);
  const tuners = await tunersOfChannels(db, [...new Set(candidates.map(({ channelId }) => channelId))]);
  const choice: Choice = { chosen: [], skipped: [] };
  const skip = (one: Candidate, reason: RuleSkipped['reason']): void =>
    void choice.skipped.push({ programId: one.id, reason });
  const done = new Set(existing.filter(isSettled).map(identityOf));
  for (const [identity, airings] of Map.groupBy(candidates, identityOf)) {
    const free = airings.filter((one) => !refuse(one, { rule, taken, skip }));
    const isDone = done.has(identity);
    const first = isDone ? undefined : (free.find((one) => hasSlot(one, { plan, tuners, rule })) ?? free[0]);
    for (const one of free) if (one !== first) skip(one, 'duplicate');
    if (!first) continue;
    if (choice.chosen.length < most) choice.chosen.push(first);
    else skip(first, 'limit');
  }
  return choice;
}

const isComing = ({ state }: RecordingRow): boolean => ['scheduled', 'conflict', 'recording'].includes(state);
/** A failed or partial one is taken again. */
const isSettled = (row: RecordingRow): boolean =>
  ['completed', 'recording'].includes(row.state) || (row.by_hand && isComing(row));

interface Refusing {
  rule: RuleRow;
  taken: ReadonlySet<string>;
  skip: (one: Candidate, reason: RuleSkipped['reason']) => void;
}

function refuse(one: Candidate, { rule, taken, skip }: Refusing): boolean {
  const reason = one.owned
    ? 'owned'
    : rule.new_only && one.is_repeat
      ? 'repeat'
      : taken.has(one.id)
        ? 'duplicate'
        : undefined;
  if (reason !== undefined) skip(one, reason);
  return reason !== undefined;
}

/** Airings that another rule or a person records, and those that a person cancelled. */
async function takenBy(db: Db, candidates: readonly Candidate[], ruleId: string): Promise<Set<string>> {
  const rows = await db('recordings')
    .whereIn(
      'program_id',
      candidates.map(({ id }) => id),
    )
    .select('program_id', 'rule_id', 'state');
  const isTaken = (row: { rule_id: string | null; state: string }): boolean =>
    row.state === 'cancelled' || (row.rule_id !== ruleId && row.state !== 'failed' && row.state !== 'partial');
  return new Set(rows.filter(isTaken).flatMap((row) => row.program_id ?? []));
}

function hasSlot(
  one: Candidate,
  { plan, tuners, rule }: { plan: Plan; tuners: ReadonlyMap<string, string[]>; rule: RuleRow },
): boolean {
  return fits(plan, {
    ...{ id: one.id, channelId: one.channelId, priority: rule.priority, createdMs: 0, startPadMs: 0, endPadMs: 0 },
    ...{ startMs: one.start_at.getTime(), endMs: one.end_at.getTime(), tunerIds: tuners.get(one.channelId) ?? [] },
  });
}
