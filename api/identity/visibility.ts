import type { Knex } from 'knex';
import type { Db } from '#platform/db.ts';
import { containersSql } from '#platform/item-types.ts';
import { may, type Principal, type Sight } from './principal.ts';

/**
 * Visibility of an account as query conditions: library access ∧ age ∧ labels ∧ not trashed. The pipeline checks viewing hours
 * once a request. No other file decides visibility.
 */

/** Restricts a query over `libraries`, or over a table with a library id in `column`. */
export function onlyVisibleLibraries(query: Knex.QueryBuilder, who: Principal, column = 'libraries.id'): void {
  const { sees } = who;
  query.whereExists((library) => {
    library.from('libraries as visible').whereRaw('visible.id = ??', [column]).whereNull('visible.deleted_at');
    narrowToAccess(library, sees);
    if (sees.ageLimit !== undefined) library.whereRaw('coalesce(visible.age_limit, 0) <= ?', [sees.ageLimit]);
    if (sees.profileLibraries) library.whereRaw('visible.id = any(?::uuid[])', [[...sees.profileLibraries]]);
  });
}

function narrowToAccess(library: Knex.QueryBuilder, sees: Sight): void {
  if (sees.all) return;
  library.where((any) => {
    any.whereExists((row) => {
      row.from('library_access as granted').whereRaw('granted.library_id = visible.id');
      row.where('granted.account_id', sees.accountId);
    });
    if (sees.libraries === 'only') return;
    any.orWhere('visible.everyone', true).orWhereRaw('? = any(visible.access_roles)', [sees.role]);
  });
}

/** Restricts a query over `items as <alias>`: not trashed, in a visible library, within the age limit with its parents, hidden by no label. */
export function onlyVisibleItems(query: Knex.QueryBuilder, who: Principal, alias = 'items'): void {
  const { sees } = who;
  query.whereNull(`${alias}.trashed_at`);
  onlyVisibleLibraries(query, who, `${alias}.library_id`);
  onlyOfAge(query, sees, alias);
  onlyByLabels(query, sees, alias);
  if (limitsItems(sees)) onlyFilled(query, sees, alias);
}

/**
 * Narrows a query over rows that copy `age` (of the item and its parents) and `labels` of items. It saves reading items
 * that are hidden anyway; only `onlyVisibleItems` decides.
 */
export function onlyVisibleCopies(query: Knex.QueryBuilder, { sees }: Principal, alias: string): void {
  const { limit, unrated } = agesOf(sees);
  if (sees.ageLimit !== undefined || sees.hideUnrated) {
    query.whereRaw(`(${alias}.kind <> 'item' or coalesce(${alias}.age, ?) <= ?)`, [unrated, limit]);
  }
  if (sees.labels && sees.labels.hidden.length > 0)
    query.whereRaw(`not ${alias}.labels && ?::int[]`, [[...sees.labels.hidden]]);
  if (sees.labels?.only)
    query.whereRaw(`(${alias}.kind <> 'item' or ${alias}.labels && ?::int[])`, [[...sees.labels.only]]);
}

/** Whether the account sees a library only in part, so that counts of the whole library would reveal the rest. */
export function limitsItems({
  ageLimit,
  hideUnrated,
  labels,
}: Pick<Sight, 'ageLimit' | 'hideUnrated' | 'labels'>): boolean {
  return ageLimit !== undefined || hideUnrated || labels !== undefined;
}

/** The highest visible age, and the age that stands for a missing rating. */
const agesOf = ({ ageLimit, hideUnrated }: Sight): { limit: number; unrated: number } => ({
  limit: ageLimit ?? 1000,
  unrated: hideUnrated ? 1001 : 0,
});

/** Age rating of an item: the highest of its own and of its parents, so that a hidden parent hides its children. */
export const ageSql = (alias: string): string =>
  `(select max(above.age_years) from items above
    where above.id in (${alias}.id, ${alias}.parent_id, ${alias}.grandparent_id, ${alias}.extra_of))`;

function onlyOfAge(query: Knex.QueryBuilder, sees: Sight, alias: string): void {
  if (sees.ageLimit === undefined && !sees.hideUnrated) return;
  const { limit, unrated } = agesOf(sees);
  query.whereRaw(`coalesce(${ageSql(alias)}, ?) <= ?`, [unrated, limit]);
}

/** The label list of an item includes those of its parents. A hiding label takes precedence over a showing one. */
function onlyByLabels(query: Knex.QueryBuilder, { labels }: Sight, alias: string): void {
  if (!labels) return;
  if (labels.hidden.length > 0) query.whereRaw(`not ${alias}.labels && ?::int[]`, [[...labels.hidden]]);
  if (labels.only) query.whereRaw(`${alias}.labels <> '{}' and ${alias}.labels && ?::int[]`, [[...labels.only]]);
}

/** Restricts a query over trashed items by labels only, for callers who manage the library. */
export function onlyUnhidden(query: Knex.QueryBuilder, who: Principal, alias: string): void {
  onlyByLabels(query, who.sees, alias);
}

/** Hides containers without visible content, because they would reveal hidden items. */
function onlyFilled(query: Knex.QueryBuilder, sees: Sight, alias: string): void {
  const { limit, unrated } = agesOf(sees);
  query.where((any) => {
    any.whereRaw(`${alias}.type <> all(${containersSql})`).orWhereExists((held) => {
      held.select(held.client.raw('1')).from('items as held');
      held.whereRaw(
        `(held.parent_id = ${alias}.id or held.grandparent_id = ${alias}.id) and held.type <> all(${containersSql}) and held.trashed_at is null
         and coalesce(held.age_years, ${alias}.age_years, ?) <= ?`,
        [unrated, limit],
      );
      onlyByLabels(held, sees, 'held');
    });
  });
}

/** Restricts a query over `labels` to those that the caller may know: restricting ones need `user:manage` or `item:edit`. */
export function onlyKnownLabels(query: Knex.QueryBuilder, who: Principal, alias = 'labels'): void {
  const hidden = who.sees.labels?.hidden ?? [];
  if (hidden.length > 0) query.whereRaw(`${alias}.number <> all(?::int[])`, [[...hidden]]);
  if (may(who, 'user:manage') || may(who, 'item:edit')) return;
  query.where(`${alias}.restricted`, false).whereNotExists((named) => {
    named.from('label_principals as r').whereRaw(`r.label = ${alias}.number and r.part <> 'allow'`);
  });
}

/** Those of these libraries that the principal may see. */
export async function visibleLibraryIds(db: Db, who: Principal, ids: readonly string[]): Promise<string[]> {
  const rows = db('libraries').whereRaw('libraries.id = any(?::uuid[])', [[...ids]]);
  return rows.modify(onlyVisibleLibraries, who).pluck('libraries.id') as Promise<string[]>;
}

/** Those of these items that the principal may see. */
export async function visibleItemIds(db: Db, who: Principal, ids: readonly string[]): Promise<string[]> {
  const rows = db('items').whereRaw('items.id = any(?::uuid[])', [[...ids]]);
  return rows.modify(onlyVisibleItems, who).pluck('items.id') as Promise<string[]>;
}

/**
 * Restricts a query over `visibility_classes as <alias>` to classes whose items `onlyVisibleItems` shows. Counts are kept by
 * class, so that one of all that a caller may see is a sum.
 */
export function onlyVisibleClasses(query: Knex.QueryBuilder, who: Principal, alias = 'visibility_classes'): void {
  const { sees } = who;
  onlyVisibleLibraries(query, who, `${alias}.library_id`);
  if (!limitsItems(sees)) return;
  const { limit, unrated } = agesOf(sees);
  const { hidden = [], only } = sees.labels ?? {};
  const labels = `array(select jsonb_array_elements_text(condition.one -> 1)::int)`;
  const holds = [
    'coalesce((condition.one ->> 0)::int, :unrated) <= :limit',
    ...(hidden.length > 0 ? [`not ${labels} && :hidden::int[]`] : []),
    ...(only ? [`${labels} && :only::int[]`] : []),
  ];
  query.whereRaw(
    `exists (select from jsonb_array_elements(${alias}.paths) as path(conditions) where not exists (
       select from jsonb_array_elements(path.conditions) as condition(one) where not (${holds.join(' and ')})))`,
    { unrated, limit, ...(hidden.length > 0 && { hidden: [...hidden] }), ...(only && { only: [...only] }) },
  );
}

/** SQL `array(…)` over the ids of the classes that `who` sees, for `class_id = any(?)`; of one library, where it is given. */
export function visibleClasses(db: Db, who: Principal, libraryId?: string): Knex.Raw {
  const classes = db.from('visibility_classes as vc').modify(onlyVisibleClasses, who, 'vc').select('vc.id');
  if (libraryId !== undefined) classes.where('vc.library_id', libraryId);
  return db.raw('array(?)', [classes as unknown as string]);
}
