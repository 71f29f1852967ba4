import {
  type Condition,
  type FieldTable,
  faultOf,
  type RawCondition,
  type Rule,
  type RuleGroup,
  type Rules,
  textOf,
} from './filter.ts';

/** Rules and filters that were checked when they were kept, and whose fields or values may be gone by now. */

export const brokenReasons = ['unknown-field', 'unknown-value', 'bad-operator'] as const;
export type BrokenReason = (typeof brokenReasons)[number];

/** A condition that no longer counts. */
export interface Ignored {
  /** Into the rules: `['match', 'all', 0]`. */
  path: (string | number)[];
  reason: BrokenReason;
}

const reasons = {
  unknown_field: 'unknown-field',
  bad_operator: 'bad-operator',
  bad_value: 'unknown-value',
} as const satisfies Record<string, BrokenReason>;

/** Why a kept condition no longer counts; undefined for a valid one. */
export function brokenReason(raw: RawCondition, fields: FieldTable): BrokenReason | undefined {
  const fault = faultOf(raw, fields);
  return fault && reasons[fault.code];
}

/**
 * Reads kept rules without the conditions that no longer count. A condition on a field that exists, but not for this caller
 * (it is in `all` alone), matches nothing.
 */
export function readKept(
  group: RuleGroup,
  { fields, all }: { fields: FieldTable; all: FieldTable },
): { rules: Rules; ignored: Ignored[] } {
  const ignored: Ignored[] = [];
  const read = (one: RuleGroup, path: Ignored['path']): Rules => {
    const name = 'all' in one ? 'all' : 'any';
    const members = 'all' in one ? one.all : one.any;
    const kept = members.flatMap((member, i): Rule[] => {
      const at = [...path, name, i];
      if (!('field' in member)) return [read(member, at)];
      const raw: RawCondition = { field: member.field, op: member.op, values: textOf(member) };
      if (!Object.hasOwn(fields, raw.field) && Object.hasOwn(all, raw.field)) return [NOTHING];
      const reason = brokenReason(raw, fields);
      if (reason) ignored.push({ path: at, reason });
      return reason ? [] : [raw as Condition];
    });
    return name === 'all' ? { all: kept } : { any: kept };
  };
  return { rules: read(group, ['match']), ignored };
}

/** Two conditions that exclude each other. */
const NOTHING: Rules = {
  all: [
    { field: 'type', op: 'exists', values: ['true'] },
    { field: 'type', op: 'exists', values: ['false'] },
  ],
};
