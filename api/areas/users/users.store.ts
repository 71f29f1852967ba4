import type { Knex } from 'knex';
import { reachSql, updateAccount } from '#areas/accounts/public.ts';
import { roles } from '#identity/permissions.ts';
import { notFound } from '#kernel/errors.ts';
import type { FieldTable } from '#kernel/filter.ts';
import { filterQuery, parseFilter } from '#kernel/filter.ts';
import { applyRules, flag, moment, type SqlField, scalar, type Where } from '#kernel/filter-sql.ts';
import { imageRefSql } from '#kernel/images.ts';
import type { ImageRef } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

export interface UserRow extends Row<'accounts'> {
  avatar: ImageRef | null;
  state: 'active' | 'disabled' | 'password-due' | 'expired';
  has_password: boolean;
  library_ids: string[];
  inviter_name: string | null;
  profiles: number;
  devices: number;
  active_sessions: number;
  streams_now: number;
  storage_bytes: number;
}

const STATE = `case when a.disabled then 'disabled' when coalesce(a.expires_at <= now(), false) then 'expired'
  when a.must_change_password then 'password-due' else 'active' end`;
const TWO_FACTOR = `a.factors && array['totp', 'passkey']`;

const COUNTS = `(select count(*) from profiles x where x.account_id = a.id) as profiles,
  (select count(*) from devices x where x.account_id = a.id) as devices,
  (select count(*) from sessions x where x.account_id = a.id and x.expires_at > now()) as active_sessions,
  (select count(*) from playback_sessions x where x.account_id = a.id and x.state <> 'stopped') as streams_now,
  (select coalesce(sum(x.size_bytes), 0)::bigint from items x where x.added_by = a.id) as storage_bytes,
  array(select x.library_id from library_access x join libraries l on l.id = x.library_id and l.deleted_at is null
    where x.account_id = a.id order by x.library_id) as library_ids`;

/** Existing accounts, or the one of an id: neither deleted nor the internal account of the operator. */
export function selectUsers(db: Db, id?: string): Knex.QueryBuilder {
  return db('accounts as a')
    .leftJoin('accounts as inviter', 'inviter.id', 'a.invited_by')
    .where('a.is_system', false)
    .whereNull('a.deleted_at')
    .where(id === undefined ? {} : { 'a.id': id })
    .select(
      'a.*',
      'inviter.display_name as inviter_name',
      db.raw(`${imageRefSql('a.avatar_id')} as avatar`),
      db.raw(`a.password_hash is not null as has_password, ${STATE} as state, ${COUNTS}`),
    );
}

/** Throws 404. */
export async function getUserRow(db: Db, id: string): Promise<UserRow> {
  const rows: UserRow[] = await selectUsers(db, id);
  const [row] = rows;
  if (!row) throw notFound();
  return row;
}

/** Locks the row until the transaction ends. Throws 404. */
export async function lockUserRow(db: Db, id: string): Promise<UserRow> {
  await db('accounts').where({ id }).forUpdate().first('id');
  return getUserRow(db, id);
}

/** Changes columns of an account and increments its revision. */
export async function updateUserRow(db: Db, id: string, change: Record<string, unknown>): Promise<void> {
  const raised = { revision: db.raw('revision + 1'), updated_at: db.fn.now() };
  await updateAccount(db, { id }, { ...change, ...raised });
}

/** Matches a part of name or address in any letter case; `%` and `_` are plain characters. */
export function matching(text: string): (query: Knex.QueryBuilder) => void {
  const like = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  return (query) => {
    query.where((either: Knex.QueryBuilder) => {
      for (const column of ['a.username', 'a.display_name', 'a.email'])
        either.orWhereRaw(`foyer_fold(${column}) like foyer_fold(?)`, [like]);
    });
  };
}

interface FilterContext {
  now: Date;
}

const reaches: Where<FilterContext> = (query, { op, values }) => {
  const some = `exists (select 1 from libraries l where l.deleted_at is null and l.id::text = any(?::text[]) and ${reachSql})`;
  query.whereRaw(op === 'ne' || op === 'nin' ? `not ${some}` : some, [values.map((value) => value.toLowerCase())]);
};

const fields: Readonly<Record<string, SqlField<FilterContext>>> = {
  role: { kind: 'enum', values: roles, where: scalar('a.role', 'text') },
  state: {
    kind: 'enum',
    values: ['active', 'disabled', 'password-due', 'expired'],
    where: scalar(`(${STATE})`, 'text'),
  },
  library: { kind: 'tag', operators: ['eq', 'ne', 'in', 'nin'], where: reaches },
  two_factor: { kind: 'boolean', where: flag(`(${TWO_FACTOR})`) },
  created_at: { kind: 'date', where: moment('a.created_at') },
  last_seen_at: { kind: 'date', where: moment('a.last_seen_at') },
};

export const userFilter = filterQuery(
  fields as FieldTable,
  'role, state, library, two_factor, created_at, last_seen_at',
);

/** Throws 400 with every invalid condition. */
export function filtering(text: string | undefined, now: Date): (query: Knex.QueryBuilder) => void {
  const rules = parseFilter(text, fields as FieldTable);
  return (query) => applyRules(query, rules, { fields, context: { now } });
}
