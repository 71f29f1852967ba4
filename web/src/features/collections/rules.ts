// Smart rules as the editor changes them.
import type { FieldInfo, RuleCondition, SmartRules } from 'foyer-client';
import { query, queryClient } from '#core/cache/query.ts';

type Group = SmartRules['match'];
type Member = RuleCondition | Group;

/** A group with its members under one name. */
export interface Open {
  kind: 'all' | 'any';
  members: readonly Member[];
}

export const isGroup = (member: Member): member is Group => !('field' in member);
export const open = (group: Group): Open =>
  'all' in group ? { kind: 'all', members: group.all } : { kind: 'any', members: group.any };
export const close = ({ kind, members }: Open): Group =>
  kind === 'all' ? { all: [...members] } : { any: [...members] };

/** The first condition of new rules: the server takes no empty group. */
export const FIRST: RuleCondition = { field: 'year', op: 'gte', value: '2000' };
export const NEW_RULES: SmartRules = { match: { all: [FIRST] }, types: [], libraryIds: [], sort: 'title' };

/** Groups in groups at most. */
export const DEEPEST = 3;

/** The value as text; several are joined by commas. */
export const textOf = ({ value }: RuleCondition): string =>
  Array.isArray(value) ? value.join(', ') : String(value ?? '');

/** A condition with another field, operator or value, and a value of its kind. */
export function changed(
  condition: RuleCondition,
  info: FieldInfo | undefined,
  more: Partial<RuleCondition>,
): RuleCondition {
  const { field, op, value = '' } = { ...condition, ...more };
  if (op === 'exists') return { field, op };
  if (info?.kind === 'boolean') return { field, op: op === 'ne' ? 'ne' : 'eq', value: String(value) !== 'false' };
  const text = Array.isArray(value) ? value.join(',') : String(value);
  const several = ['in', 'nin', 'between'].includes(op);
  return {
    field,
    op,
    value: several
      ? text
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean)
      : text,
  };
}

/** The fields that rules may use, of every library. */
export const allFields = (libraryIds: readonly string[]) => ({
  queryKey: ['rule fields', { libraryIds }] as const,
  staleTime: 3_600_000,
  queryFn: async (): Promise<FieldInfo[]> => {
    const lists = await Promise.all(
      libraryIds.map((id) => queryClient.fetchQuery(query('listLibraryFields', { params: { id } }))),
    );
    const fields = new Map(lists.flatMap(({ items }) => items).map((field) => [field.name, field]));
    return [...fields.values()].sort((a, b) => a.label.localeCompare(b.label));
  },
});
