// Which episodes a rule takes of its candidates. Pure.
import type { Candidate } from './candidates.store.ts';
import { identityOf } from './identity.ts';
import type { Known, SeenKnown } from './made.store.ts';
import type { RuleSkipped } from './rules.schemas.ts';
import type { RuleRow } from './rules.store.ts';

export interface Episode {
  /** The preferred first: the one that is about to be recorded, those to come by their start, then those on air. */
  airings: Candidate[];
}

export interface Sifting {
  rule: RuleRow;
  now: Date;
  /** Recordings that stand in the way, or count as recorded. */
  known: readonly SeenKnown[];
  /** Episodes that other rules have chosen in the same run. */
  claimed: ReadonlySet<string>;
  /** How many episodes more may be planned. */
  room: number;
}

type Reason = RuleSkipped['reason'];

/** The episodes that the rule records, and why it leaves others out. An airing that has its recording is neither. */
export function sift(
  candidates: readonly Candidate[],
  sifting: Sifting,
): { episodes: Episode[]; skipped: RuleSkipped[] } {
  const skipped: RuleSkipped[] = [];
  const free: Candidate[] = [];
  const judge = judgeOf(sifting);
  for (const one of candidates) {
    const outcome = judge(one);
    if (outcome === 'free') free.push(one);
    else if (outcome !== 'done') skipped.push({ programId: one.id, reason: outcome });
  }
  const groups = [...Map.groupBy(free, identityOf).values()];
  const ordered = groups.map((airings) => preferred(airings, sifting)).sort(byStart);
  const [episodes, beyond] = [ordered.slice(0, sifting.room), ordered.slice(sifting.room)];
  for (const one of beyond.flat()) skipped.push({ programId: one.id, reason: 'limit' });
  return { episodes: episodes.map((airings) => ({ airings })), skipped };
}

/** An airing that is about to be recorded is not exchanged any more. */
function preferred(airings: readonly Candidate[], { rule, now, known }: Sifting): Candidate[] {
  const begun = known.filter((row) => row.hasBegun && isReplaceable(row, rule)).map((row) => row.program_id);
  const rank = (one: Candidate): number => (begun.includes(one.id) ? 0 : one.start_at > now ? 1 : 2);
  return airings.toSorted((a, b) => rank(a) - rank(b));
}

const byStart = ([a]: readonly Candidate[], [b]: readonly Candidate[]): number =>
  (a?.start_at.getTime() ?? 0) - (b?.start_at.getTime() ?? 0);

function judgeOf({ rule, known, claimed }: Sifting): (one: Candidate) => Reason | 'free' | 'done' {
  const held = known.filter((row) => row.isOpen && !isReplaceable(row, rule));
  const others = new Set(held.flatMap((row) => (row.rule_id === rule.id ? [] : (row.program_id ?? []))));
  const planned = new Set([...held.flatMap((row) => row.episode ?? []), ...claimed]);
  const over = new Set(known.flatMap((row) => (isOver(row, rule) ? (row.program_id ?? []) : [])));
  const recorded = known.filter((row) => row.state === 'completed');
  const byAnyone = new Set(recorded.flatMap((row) => (row.isVisible ? (row.episode ?? []) : [])));
  const byRule = new Set(recorded.flatMap((row) => (row.rule_id === rule.id ? (row.episode ?? []) : [])));
  return (one) => {
    const episode = identityOf(one);
    if (over.has(one.id)) return 'done';
    if (rule.skip_owned && (one.owned || byAnyone.has(episode))) return 'owned';
    if (rule.new_only && one.is_repeat) return 'repeat';
    return others.has(one.id) || planned.has(episode) || byRule.has(episode) ? 'duplicate' : 'free';
  };
}

/** A recording that its rule may still move, change or take back. */
export const isReplaceable = (row: Known, { id }: Pick<RuleRow, 'id'>): boolean =>
  row.rule_id === id && row.isOpen && !row.by_hand && row.state !== 'recording';

/** The airing is not taken: it was recorded, it was cancelled for this account, or it is the rule's own and settled. */
function isOver(row: Known, rule: RuleRow): boolean {
  if (row.isOpen) return row.rule_id === rule.id && !isReplaceable(row, rule);
  return row.state !== 'cancelled' || (row.by_hand && row.account_id === rule.account_id);
}
