// Which airing of each episode is recorded: the first one that gets a slot.
import { plan } from '../schedule/plan.ts';
import type { PlanTuner, Wanted } from '../schedule/wanted.ts';
import type { Candidate } from './candidates.store.ts';
import type { RuleRow } from './rules.store.ts';

const MOST_ROUNDS = 10;

export interface Choice {
  rule: RuleRow;
  airings: readonly Candidate[];
}

export interface Planning {
  /** Recordings that stay as they are. */
  fixed: readonly Wanted[];
  tuners: readonly PlanTuner[];
  tunersOf: ReadonlyMap<string, string[]>;
}

/**
 * The airing of each choice. All are planned with their first airing, and those that get no slot with their next one, until all have a
 * slot or no further airing. An episode without a slot anywhere gets its first airing, which is then a conflict.
 */
export function airingsOf(choices: readonly Choice[], planning: Planning): Candidate[] {
  const places = choices.map(() => 0);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const refused = refusedOf(choices, places, planning);
    const movable = refused.filter((at) => (places[at] ?? 0) + 1 < (choices[at]?.airings.length ?? 0));
    if (movable.length === 0) break;
    for (const at of movable) places[at] = (places[at] ?? 0) + 1;
  }
  for (const at of refusedOf(choices, places, planning)) places[at] = 0;
  return choices.flatMap(({ airings }, at) => airings[places[at] ?? 0] ?? []);
}

/** Places of the choices that get no slot. */
function refusedOf(choices: readonly Choice[], places: readonly number[], planning: Planning): number[] {
  if (choices.every(({ airings }) => airings.length === 1)) return [];
  const wanted = choices.flatMap(({ rule, airings }, at): Wanted[] => {
    const one = airings[places[at] ?? 0];
    return one ? [toWanted(one, rule, planning)] : [];
  });
  const made = plan([...planning.fixed, ...wanted], planning.tuners);
  return wanted.flatMap(({ id }, at) => (made.refused.has(id) ? [at] : []));
}

function toWanted(one: Candidate, rule: RuleRow, { tunersOf }: Planning): Wanted {
  return {
    ...{ id: one.id, channelId: one.channelId, priority: rule.priority, createdMs: rule.created_at.getTime() },
    ...{ startMs: one.start_at.getTime(), endMs: one.end_at.getTime(), tunerIds: tunersOf.get(one.channelId) ?? [] },
    ...{ startPadMs: rule.start_pad_ms, endPadMs: rule.end_pad_ms },
  };
}
