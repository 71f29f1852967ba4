import { updateAccount } from '#areas/accounts/public.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';

export type OwnerRow = Pick<Row<'accounts'>, 'id' | 'username' | 'display_name' | 'managed_by'>;

/** The owner; undefined before setup. */
export async function findOwner(db: Db): Promise<OwnerRow | undefined> {
  return db('accounts').where({ role: 'owner' }).first('id', 'username', 'display_name', 'managed_by');
}

/** The present owner, under a lock that serializes the steps of a transfer. */
export async function ownerInTurn(db: Db): Promise<OwnerRow | undefined> {
  await db('server_state').forUpdate().first('one');
  return findOwner(db);
}

export interface AdminRow extends Pick<Row<'accounts'>, 'id' | 'display_name' | 'factors'> {
  has_password: boolean;
}

/** An enabled admin account, locked. */
export async function findAdmin(db: Db, id: string): Promise<AdminRow | undefined> {
  return db('accounts')
    .where({ id, role: 'admin', disabled: false, is_system: false })
    .whereRaw('deleted_at is null and coalesce(expires_at > now(), true)')
    .forUpdate()
    .first('id', 'display_name', 'factors', db.raw('password_hash is not null as has_password'));
}

export interface OfferRow extends Row<'ownership_offers'> {
  from_name: string;
  to_name: string;
}

const offers = (db: Db) =>
  db('ownership_offers as o')
    .join('accounts as f', 'f.id', 'o.from_id')
    .join('accounts as t', 't.id', 'o.to_id')
    .select('o.*', 'f.display_name as from_name', 't.display_name as to_name');

/** Expires offers that are overdue or from a former owner. */
export async function expireOffers(db: Db): Promise<void> {
  await db('ownership_offers as o')
    .where({ state: 'offered' })
    .whereRaw(
      `(expires_at <= now() or not exists (select 1 from accounts a where a.id = o.from_id and a.role = 'owner'))`,
    )
    .update({ state: 'expired' });
}

/** The open offer, if it has not expired. */
export async function findOpenOffer(db: Db): Promise<OfferRow | undefined> {
  const [row] = await offers(db).where({ 'o.state': 'offered', 'f.role': 'owner' }).whereRaw('o.expires_at > now()');
  return row;
}

/** The latest offer, open or not; locked. */
export async function lastOffer(db: Db): Promise<OfferRow | undefined> {
  const [row] = await offers(db).orderBy('o.id', 'desc').limit(1).forUpdate('o');
  return row;
}

/** An offer to this account; locked. */
export async function findOffer(db: Db, by: { id: string; toId: string }): Promise<OfferRow | undefined> {
  const [row] = await offers(db).where({ 'o.id': by.id, 'o.to_id': by.toId }).forUpdate('o');
  return row;
}

export interface OfferDraft {
  fromId: string;
  toId: string;
  keepRole: 'admin' | 'member';
  message: string | undefined;
}

const DAYS = 7;

/** Violates the index `ownership_offers_one` while another offer is open. */
export async function insertOffer(db: Db, draft: OfferDraft): Promise<string> {
  const id = newId();
  await db('ownership_offers').insert({
    id,
    from_id: draft.fromId,
    to_id: draft.toId,
    keep_role: draft.keepRole,
    message: draft.message || null,
    expires_at: db.raw('now() + make_interval(days => ?)', [DAYS]),
  });
  return id;
}

export async function endOffer(db: Db, id: string, state: OfferRow['state']): Promise<void> {
  await db('ownership_offers').where({ id }).update({ state });
}

/** Swaps both roles in the transaction of the caller, so that exactly one owner is visible at any time. */
export async function swapRoles(db: Db, { from_id: from, to_id: to, keep_role: keep }: OfferRow): Promise<void> {
  const change = {
    own_permissions: '{}', // granted and withheld permissions are relative to the role
    access_version: db.raw('access_version + 1'),
    revision: db.raw('revision + 1'),
    updated_at: db.fn.now(),
  };
  await updateAccount(db, { id: from }, { ...change, role: keep }); // first, because the index permits one owner
  await updateAccount(db, { id: to }, { ...change, role: 'owner' });
}

export type HistoryRow = Pick<
  Row<'ownership_history'>,
  'from_id' | 'from_name' | 'to_id' | 'to_name' | 'at' | 'method'
>;

const MOST = 20;

/** History of ownership, newest first: the first owner, transfers, and recoveries. */
export async function listHistory(db: Db): Promise<HistoryRow[]> {
  const found = await db.raw<{ rows: HistoryRow[] }>(
    `select from_id, from_name, to_id, to_name, at, method from ownership_history
     union all
     select null, null, a.id, a.display_name, l.at, 'recovery' from audit_log l join accounts a on a.id = l.account_id
       where l.action = 'owner-recovery'
     union all
     select null, null, a.id, a.display_name, s.setup_completed_at, case when a.managed_by is null then 'wizard' else 'resource' end
       from accounts a, server_state s
       where a.role = 'owner' and s.setup_completed_at is not null
         and not exists (select 1 from ownership_history where method in ('wizard', 'resource'))
     order by at desc limit ?`,
    [MOST],
  );
  return found.rows;
}

/** Records a transfer, and before the first one the origin of the first owner. */
export async function recordTransfer(db: Db, offer: OfferRow): Promise<void> {
  const history = await listHistory(db);
  const first = history.find(({ method }) => method === 'wizard' || method === 'resource');
  const kept = await db('ownership_history').whereIn('method', ['wizard', 'resource']).first('id');
  if (first && !kept) await db('ownership_history').insert({ id: newId(), ...first });
  await db('ownership_history').insert({
    id: newId(),
    from_id: offer.from_id,
    from_name: offer.from_name,
    to_id: offer.to_id,
    to_name: offer.to_name,
    method: 'transfer',
  });
}

/** Accounts that are notified of ownership changes. */
export async function adminIds(db: Db): Promise<string[]> {
  return db('accounts')
    .where({ disabled: false, is_system: false })
    .whereNull('deleted_at')
    .whereIn('role', ['owner', 'admin'])
    .pluck('id');
}
