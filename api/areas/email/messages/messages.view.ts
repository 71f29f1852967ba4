import type { Knex } from 'knex';
import type { Role } from '#identity/permissions.ts';
import type { Principal } from '#identity/principal.ts';
import { notFound } from '#kernel/errors.ts';
import type { FieldTable } from '#kernel/filter.ts';
import { filterQuery, parseFilter } from '#kernel/filter.ts';
import { applyRules, moment, type SqlField, scalar } from '#kernel/filter-sql.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { masked } from '../address.ts';
import type { EmailMessage } from '../email.schemas.ts';
import { emailKinds } from '../kinds.ts';
import { type MessageRow, states } from './messages.store.ts';

export interface ListedRow extends MessageRow {
  role: Role | null;
}

export function selectMessages(db: Db): Knex.QueryBuilder {
  return db('email_messages as m').leftJoin('accounts as a', 'a.id', 'm.account_id').select('m.*', 'a.role');
}

/** Throws 404. */
export async function getMessage(db: Db, id: string): Promise<ListedRow> {
  const [row]: ListedRow[] = await selectMessages(db).where('m.id', id);
  if (!row) throw notFound();
  return row;
}

interface FilterContext {
  now: Date;
}

const fields: Readonly<Record<string, SqlField<FilterContext>>> = {
  kind: { kind: 'enum', values: emailKinds, where: scalar('m.kind', 'text') },
  state: { kind: 'enum', values: states, where: scalar('m.state', 'text') },
  user: { kind: 'tag', operators: ['eq', 'ne', 'in', 'nin'], where: scalar('m.account_id::text', 'text') },
  created_at: { kind: 'date', where: moment('m.created_at') },
};

export const messageFilter = filterQuery(fields as FieldTable, 'kind, state, user, created_at');

/** Throws 400 with every invalid condition. */
export function filtering(text: string | undefined, now: Date): (query: Knex.QueryBuilder) => void {
  const rules = parseFilter(text, fields as FieldTable);
  return (query) => applyRules(query, rules, { fields, context: { now } });
}

const RANKS: Record<Role, number> = { owner: 4, admin: 3, member: 2, child: 1, guest: 1 };

/** Whether the caller may see the subject: of own mails, and of mails to accounts of a lower rank. */
const subjectShown = ({ account_id: id, role }: ListedRow, who: Principal): boolean =>
  id === null || id === who.accountId || role === null || RANKS[role] < RANKS[who.role];

export function toMessage(row: ListedRow, who: Principal): EmailMessage {
  const { sent_at: sentAt, next_attempt_at: next, error } = row;
  return {
    id: row.id,
    kind: row.kind,
    to: masked(row.address),
    ...(row.account_id !== null && { userId: row.account_id }),
    language: row.language,
    ...(subjectShown(row, who) && { subject: row.subject }),
    state: row.state,
    attempts: row.attempts,
    messageId: row.message_id,
    ...(error && { error }),
    createdAt: iso(row.created_at),
    ...(sentAt && { sentAt: iso(sentAt) }),
    ...(next && { nextAttemptAt: iso(next) }),
  };
}
