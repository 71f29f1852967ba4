// Rules make recordings of the programmes that they want, with the rights of their owners.
import { visibleLibraryIds } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { MOST_OPEN } from '../recordings/create-recording.ts';
import { lockSchedule, readPlanning } from '../schedule/schedule.store.ts';
import { tunersOfChannels } from '../schedule/tuners-of-channels.store.ts';
import { airingsOf, type Choice } from './airings.ts';
import { type Candidate, type Clocked, findCandidates } from './candidates.store.ts';
import { isReplaceable, sift } from './episodes.ts';
import { identityOf } from './identity.ts';
import { findKnown, type Known, putChosen, type SeenKnown } from './made.store.ts';
import { type Owner, ownerOf } from './owner.ts';
import type { RuleSkipped } from './rules.schemas.ts';
import type { RuleRow } from './rules.store.ts';

/** A rule with the programmes that match it. */
interface Run {
  rule: RuleRow;
  /** Absent where the rule makes nothing: its owner may not record any more. */
  owner: Owner | undefined;
  candidates: Candidate[];
  choices: Choice[];
  skipped: RuleSkipped[];
}

/**
 * Makes the planned recordings of rules those that they want now. Those that a person changed and running ones stay. The plan has to be
 * made afterwards, in the same transaction. Returns the programmes that each rule leaves out.
 */
export async function applyRecordingRules(
  db: Db,
  rules: readonly RuleRow[],
  clocked: Clocked,
): Promise<Map<string, RuleSkipped[]>> {
  await lockSchedule(db);
  const runs = await runsOf(db, rules, clocked);
  const known = await findKnown(
    db,
    runs.flatMap(({ candidates }) => candidates),
  );
  await chooseEpisodes(db, runs, { known, now: clocked.now });
  await makeRecordings(db, runs, known);
  return new Map(runs.map(({ rule, skipped }) => [rule.id, skipped]));
}

async function runsOf(db: Db, rules: readonly RuleRow[], clocked: Clocked): Promise<Run[]> {
  const owners = new Map<string, Owner | undefined>();
  const runs: Run[] = [];
  for (const rule of rules) {
    const { account_id: id } = rule;
    if (id !== null && !owners.has(id)) owners.set(id, await ownerOf(db, id));
    const owner = id === null ? undefined : owners.get(id);
    const candidates = owner ? await findCandidates(db, rule, { owner, ...clocked }) : [];
    runs.push({ rule, owner, candidates, choices: [], skipped: [] });
  }
  return runs;
}

/** One rule after the other: an episode that one has, or has chosen, is a duplicate for the next. */
async function chooseEpisodes(
  db: Db,
  runs: readonly Run[],
  { known, now }: { known: readonly Known[]; now: Date },
): Promise<void> {
  const claimed = new Set<string>();
  const added = new Map<string, number>();
  const views = new Map<Owner, SeenKnown[]>();
  for (const run of runs) {
    const { rule, owner } = run;
    if (!owner) continue;
    const visible = views.get(owner) ?? (await visibleTo(db, owner, known));
    views.set(owner, visible);
    const others = added.get(owner.who.accountId) ?? 0;
    const { episodes, skipped } = sift(run.candidates, {
      ...{ rule, now, known: visible, claimed, room: roomOf(rule, known, others) },
    });
    run.choices = episodes.map(({ airings }) => ({ rule, airings }));
    run.skipped = skipped;
    for (const { airings } of episodes) for (const one of airings) claimed.add(identityOf(one));
    const before = known.filter((row) => isReplaceable(row, rule)).length;
    added.set(owner.who.accountId, others + Math.max(0, episodes.length - before));
  }
}

/** How many recordings the rule may plan, next to those that it does not replace and `added` ones of earlier rules of the account. */
function roomOf(rule: RuleRow, known: readonly Known[], added: number): number {
  const held = known.filter((row) => row.isOpen && !isReplaceable(row, rule));
  const ofRule = held.filter((row) => row.rule_id === rule.id).length;
  const ofAccount = held.filter((row) => row.account_id === rule.account_id).length;
  return Math.max(0, Math.min(rule.max_upcoming - ofRule, MOST_OPEN - ofAccount - added));
}

/** With whether the owner sees the library of each: a rule does not reveal the recordings of others. */
async function visibleTo(db: Db, { who }: Owner, known: readonly Known[]): Promise<SeenKnown[]> {
  const libraries = new Set(await visibleLibraryIds(db, who, [...new Set(known.map((row) => row.library_id))]));
  return known.map((row) => ({
    ...row,
    isVisible: row.account_id === who.accountId || libraries.has(row.library_id),
  }));
}

async function makeRecordings(db: Db, runs: readonly Run[], known: readonly Known[]): Promise<void> {
  const choices = runs.flatMap((run) => run.choices);
  const own = new Map(runs.map(({ rule }) => [rule.id, known.filter((row) => isReplaceable(row, rule))]));
  const replaced = new Set([...own.values()].flat().map(({ id }) => id));
  const { wanted, tuners } = await readPlanning(db);
  const channels = new Set(choices.flatMap(({ airings }) => airings.map(({ channelId }) => channelId)));
  const chosen = airingsOf(choices, {
    ...{ fixed: wanted.filter(({ id }) => !replaced.has(id)), tuners },
    tunersOf: await tunersOfChannels(db, [...channels]),
  });
  const taken = new Set(chosen);
  for (const run of runs) {
    const airings = run.choices.flatMap((choice) => choice.airings);
    await putChosen(db, run.rule, {
      own: own.get(run.rule.id) ?? [],
      chosen: airings.filter((one) => taken.has(one)),
      keepsGone: run.owner !== undefined,
    });
    for (const one of airings) if (!taken.has(one)) run.skipped.push({ programId: one.id, reason: 'duplicate' });
  }
}
