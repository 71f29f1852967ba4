import type { Knex } from 'knex';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';

export type RuleRow = Row<'recording_rules'>;

/** The caller's own rules, and those of others that are for every channel or for visible ones alone. Reads `recording_rules as u`. */
export function visibleRules(db: Db, who: Principal): Knex.QueryBuilder {
  return db('recording_rules as u')
    .where((any) => {
      any.where('u.account_id', who.accountId);
      any.orWhereNotExists((hidden) => {
        void hidden.fromRaw('unnest(u.channel_ids) as named(id)').whereNotExists((channel) => {
          void channel.from('items as i').whereRaw('i.id = named.id').modify(onlyVisibleItems, who, 'i');
        });
      });
    })
    .select('u.*');
}

/** Throws 404. */
export async function getRuleRow({ db, who }: Pick<Call, 'db' | 'who'>, id: string): Promise<RuleRow> {
  const [row]: RuleRow[] = await visibleRules(db, who).where('u.id', id);
  if (!row) throw notFound();
  return row;
}

/** As getRuleRow, for a change: throws 403 unless the caller owns it or manages libraries. */
export async function getOwnRule(call: Pick<Call, 'db' | 'who'>, id: string): Promise<RuleRow> {
  const row = await getRuleRow(call, id);
  if (row.account_id === call.who.accountId || may(call.who, 'library:manage')) return row;
  throw new ApiError('FORBIDDEN', 'The rule belongs to another account', { permission: 'library:manage' });
}

export interface RuleCounts {
  upcoming: number;
  conflicts: number;
  recorded: number;
}

export async function countsOf(db: Db, ids: readonly string[]): Promise<Map<string, RuleCounts>> {
  const rows = await rowsOf<RuleCounts & { id: string }>(
    db,
    `select rule_id as id,
            count(*) filter (where state in ('scheduled', 'conflict', 'recording'))::int as upcoming,
            count(*) filter (where state = 'conflict')::int as conflicts,
            count(*) filter (where state in ('completed', 'partial'))::int as recorded
       from recordings where rule_id = any(?::uuid[]) group by rule_id`,
    [[...ids]],
  );
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}

/** The oldest first: what a rule has planned, a later one does not take. */
export async function enabledRules(db: Db): Promise<RuleRow[]> {
  return db('recording_rules').where({ enabled: true }).orderBy('created_at').orderBy('id').select('*');
}

/** Removes what a rule has planned. Running and finished recordings stay. */
export async function removePlanned(db: Db, ruleId: string): Promise<void> {
  await db('recordings').where({ rule_id: ruleId }).whereIn('state', ['scheduled', 'conflict']).delete();
}
