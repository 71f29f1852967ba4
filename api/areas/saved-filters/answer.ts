import { fieldsFor, heldTypesOf, knowCustomFields, type LibraryRow } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { printConditions, type RawCondition, rawConditions } from '#kernel/filter.ts';
import { brokenReason } from '#kernel/filter-kept.ts';
import { idsIn } from '#kernel/filter-sql.ts';
import { iso } from '#kernel/schemas.ts';
import type { FilterRow } from './filters.store.ts';
import { type Known, knownTo } from './known.view.ts';
import type { BrokenCondition, SavedFilter } from './saved-filters.schemas.ts';

/** Replaces an id or a label that a reader of a shared filter may not see. */
const HIDDEN = 'hidden';
/** Fields whose ids name people and items. */
const NAMING = ['person', 'face', 'artist', 'album_artist', 'author', 'narrator', 'parent', 'ancestor'];

type Caller = Pick<Call, 'db' | 'who'>;

/** Filters as the caller may read them. */
export async function toFilters(call: Caller, library: LibraryRow, rows: readonly FilterRow[]): Promise<SavedFilter[]> {
  const { db, who } = call;
  await knowCustomFields(call, { texts: rows.map(({ filter }) => filter) });
  const fields = fieldsFor(who, heldTypesOf(library));
  const read = rows.map((row) => ({ row, conditions: rawConditions(row.filter) }));
  const known = await knownTo(db, who, referencedBy(read.flatMap(({ conditions }) => conditions)));
  return read.map(({ row, conditions }) => {
    const mine = row.profile_id === who.profileId;
    const broken = conditions.flatMap((raw, condition): BrokenCondition[] => {
      const gone = mine && isGone(raw, known) ? ('unknown-value' as const) : undefined;
      const reason = brokenReason(raw, fields) ?? gone;
      return reason ? [{ condition, reason }] : [];
    });
    return toFilter(row, {
      mine,
      broken,
      filter: mine ? row.filter : printConditions(conditions.map((raw) => shown(raw, known))),
    });
  });
}

function referencedBy(conditions: readonly RawCondition[]) {
  const naming = conditions.filter(({ field }) => isNaming(field));
  return {
    labels: conditions.some(({ field }) => field === 'label'),
    ids: [...new Set(naming.flatMap(({ values }) => idsIn(values)))],
  };
}

const isNaming = (field: string): boolean => NAMING.includes(field) || field.startsWith('custom.');

/** Whether none of the labels of a condition is there for its owner. */
function isGone({ field, op, values }: RawCondition, known: Known): boolean {
  if (field !== 'label' || ['contains', 'starts', 'exists'].includes(op)) return false;
  return values.every((value) => !known.labels.has(value.toLowerCase()));
}

/** The condition without names and ids that the reader may not see. */
function shown(raw: RawCondition, known: Known): RawCondition {
  const { field, values } = raw;
  if (field === 'label')
    return { ...raw, values: values.map((value) => (isSecretLabel(value, known) ? HIDDEN : value)) };
  if (!isNaming(field)) return raw;
  const ids = new Set(idsIn(values));
  return {
    ...raw,
    values: values.map((value) => (ids.has(value) && !known.ids.has(value.toLowerCase()) ? HIDDEN : value)),
  };
}

const isSecretLabel = (value: string, { labels, secrets }: Known): boolean =>
  secrets.has(value.toLowerCase()) || (idsIn([value]).length > 0 && !labels.has(value.toLowerCase()));

interface Read {
  mine: boolean;
  broken: BrokenCondition[];
  filter: string;
}

function toFilter(row: FilterRow, { mine, broken, filter }: Read): SavedFilter {
  return {
    ...{ id: row.id, libraryId: row.library_id, name: row.name, filter, sort: row.sort },
    ...(row.view !== null && { view: row.view as NonNullable<SavedFilter['view']> }),
    ...(row.group_by !== null && { groupBy: row.group_by as NonNullable<SavedFilter['groupBy']> }),
    ...(row.icon !== null && { icon: row.icon }),
    ...{ position: row.position, pinned: row.pinned, shared: row.shared, mine, broken },
    ...(row.shared && { owner: { userId: row.account_id, displayName: row.owner_name } }),
    ...{ createdAt: iso(row.created_at), updatedAt: iso(row.updated_at) },
  };
}
