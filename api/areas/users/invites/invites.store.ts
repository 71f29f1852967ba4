import { createHash, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Role } from '#identity/permissions.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { GivenRole } from '../users.schemas.ts';
import type { Invite, InviteLibraries, InviteState, InviteTemplate } from './invites.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'invites.libraries': NonNullable<InviteLibraries>;
    'invites.template': InviteTemplate;
  }
}

export interface InviteRow extends Row<'invites'> {
  inviter_name: string;
  inviter_role: Role;
  state: InviteState;
  accepted: { userId: string; displayName: string; at: string }[] | null;
}

const STATE = `case when i.revoked_at is not null then 'revoked' when i.uses >= i.max_uses then 'used'
  when i.expires_at <= now() then 'expired' else 'open' end`;
const ACCEPTED = `(select json_agg(json_build_object('userId', a.id, 'displayName', a.display_name, 'at', u.at) order by u.at)
  from invite_uses u join accounts a on a.id = u.account_id and a.deleted_at is null where u.invite_id = i.id)`;

/** Invites; ended ones are included for 90 days. */
export function selectInvites(db: Db, state?: InviteState): Knex.QueryBuilder {
  const query = db('invites as i')
    .join('accounts as inviter', 'inviter.id', 'i.created_by')
    .whereRaw(`least(i.revoked_at, i.expires_at) > now() - interval '90 days'`)
    .select(
      'i.*',
      'inviter.display_name as inviter_name',
      'inviter.role as inviter_role',
      db.raw(`${STATE} as state, ${ACCEPTED} as accepted`),
    );
  if (state) query.whereRaw(`${STATE} = ?`, [state]);
  return query;
}

export async function findInvite(db: Db, id: string): Promise<InviteRow | undefined> {
  const rows: InviteRow[] = await selectInvites(db).where('i.id', id);
  return rows[0];
}

/** Throws 404. */
export async function getInvite(db: Db, id: string): Promise<InviteRow> {
  const row = await findInvite(db, id);
  if (!row) throw notFound();
  return row;
}

const hashOf = (code: string): Buffer => createHash('sha256').update(code).digest();

/** The open invite of a code, locked until the transaction ends, so that only one person gets the last use. */
export async function lockOpenInvite(db: Db, code: string): Promise<InviteRow | undefined> {
  const found = await db('invites')
    .where({ hash: hashOf(code) })
    .forUpdate()
    .first('id');
  const row = found && (await findInvite(db, found.id));
  return row?.state === 'open' ? row : undefined;
}

/** Counts under a lock, so that concurrent requests cannot exceed the limit together. */
export async function countOpen(db: Db): Promise<number> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 13))', ['invites']);
  const [row] = await db('invites as i').whereRaw(`${STATE} = 'open'`).count<{ count: number }[]>('* as count');
  return row?.count ?? 0;
}

export interface NewInvite {
  role: GivenRole;
  displayName: string | undefined;
  email: string | undefined;
  message: string | undefined;
  libraries: InviteLibraries;
  template: InviteTemplate;
  maxUses: number;
  createdBy: string;
  expiresAt: Date;
}

/** The code has 128 random bits, is returned once and stored as SHA-256. */
export async function insertInvite(db: Db, invite: NewInvite): Promise<{ id: string; code: string }> {
  const id = newId();
  const code = randomBytes(16).toString('base64url');
  await db('invites').insert({
    id,
    hash: hashOf(code),
    role: invite.role,
    display_name: invite.displayName,
    email: invite.email,
    message: invite.message,
    libraries: invite.libraries && JSON.stringify(invite.libraries),
    template: JSON.stringify(invite.template),
    max_uses: invite.maxUses,
    created_by: invite.createdBy,
    expires_at: invite.expiresAt,
  });
  return { id, code };
}

/** Records that the link was mailed, so that accepting it proves the address. */
export async function markMailed(db: Db, id: string): Promise<void> {
  await db('invites').where({ id }).update({ mailed: true });
}

export async function takeUse(db: Db, inviteId: string, accountId: string): Promise<void> {
  await db('invites').where({ id: inviteId }).increment('uses', 1);
  await db('invite_uses').insert({ invite_id: inviteId, account_id: accountId });
}

/** False when the invite had ended before. */
export async function endInvite(db: Db, id: string): Promise<boolean> {
  const open = db('invites as i').where('i.id', id).whereRaw(`${STATE} = 'open'`).select('i.id');
  return (await db('invites').whereIn('id', open).update({ revoked_at: db.fn.now() })) > 0;
}

export function toInvite(row: InviteRow): Invite {
  return {
    id: row.id,
    role: row.role,
    ...(row.display_name !== null && { displayName: row.display_name }),
    ...(row.email !== null && { email: row.email }),
    ...(row.libraries && { libraries: row.libraries }),
    ...(Object.keys(row.template).length > 0 && { template: row.template }),
    ...(row.message !== null && { message: row.message }),
    uses: row.uses,
    maxUses: row.max_uses,
    state: row.state,
    mailed: row.mailed,
    createdBy: { userId: row.created_by, displayName: row.inviter_name },
    accepted: (row.accepted ?? []).map(({ at, ...person }) => ({ ...person, at: iso(new Date(at)) })),
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
  };
}
