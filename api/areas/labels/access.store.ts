import { markLostLabels, settleLostLabels } from '#areas/accounts/public.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { LabelAccess, LabelAccessPut, LabelPrincipal, PrincipalIn } from './labels.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'label_principals.role': LabelPrincipal['role'];
  }
}

export type Part = 'allow' | 'deny' | 'only';
export const parts: readonly Part[] = ['allow', 'deny', 'only'];

interface PrincipalRow extends Pick<Row<'label_principals'>, 'label' | 'part' | 'account_id' | 'profile_id' | 'role'> {
  name: string | null;
}

/** Access lists of these labels, by label number. */
export async function findAccess(
  db: Db,
  labels: readonly { number: number; restricted: boolean }[],
): Promise<Map<number, LabelAccess>> {
  const rows: PrincipalRow[] = await db('label_principals as r')
    .leftJoin('accounts as a', 'a.id', 'r.account_id')
    .leftJoin('profiles as p', 'p.id', 'r.profile_id')
    .whereRaw('r.label = any(?::int[])', [labels.map(({ number }) => number)])
    .orderBy(['r.label', 'r.part', 'r.position'])
    .select('r.label', 'r.part', 'r.account_id', 'r.profile_id', 'r.role')
    .select(db.raw('coalesce(a.display_name, p.name) as name'));
  return new Map(
    labels.map(({ number, restricted }) => {
      const of = (part: Part) => rows.filter((row) => row.label === number && row.part === part).map(toPrincipal);
      return [number, { restricted, allow: of('allow'), deny: of('deny'), only: of('only') }];
    }),
  );
}

function toPrincipal({ account_id, profile_id, role, name }: PrincipalRow): LabelPrincipal {
  return {
    ...(account_id ? { userId: account_id } : {}),
    ...(profile_id ? { profileId: profile_id } : {}),
    ...(role ? { role } : {}),
    displayName: name ?? role ?? '',
  };
}

/** Identity of a principal within a list. */
export const nameOf = ({ userId, profileId, role }: PrincipalIn): string => userId ?? profileId ?? role ?? '';

/** Replaces all three lists of a label, and recomputes what profiles may see. */
export async function replaceAccess(db: Db, number: number, access: LabelAccessPut): Promise<void> {
  await db('label_principals').where({ label: number }).delete();
  const rows = parts.flatMap((part) => {
    const once = new Map(access[part].map((one) => [nameOf(one), one]));
    return [...once.values()].map(({ userId, profileId, role }, position) => ({
      ...{ label: number, part, position },
      ...{ account_id: userId ?? null, profile_id: profileId ?? null, role: role ?? null },
    }));
  });
  if (rows.length > 0) await db('label_principals').insert(rows);
  await db('labels').where({ number }).update({ restricted: access.restricted, updated_at: new Date() });
  await sightChanged(db);
}

/** Recomputes the label sets that are stored on each profile. */
export async function sightChanged(db: Db): Promise<void> {
  await db.raw('select foyer_label_sight(null)');
}

/** Clears `labels_lost` on the named principals, because their access was set. */
export async function settleLost(db: Db, named: readonly PrincipalIn[]): Promise<void> {
  const of = (key: keyof PrincipalIn): string[] => named.flatMap((one) => one[key] ?? []);
  await settleLostLabels(db, { accountIds: of('userId'), profileIds: of('profileId'), roles: of('role') });
}

/** Called before a label is deleted: profiles whose last only-label it is see no items until their access is set. */
export async function markLost(db: Db, number: number): Promise<void> {
  await markLostLabels(db, number);
}

/** Moves the access lists of a label into another. The result is restricted when one of the two was. */
export async function moveAccess(db: Db, from: number, into: number): Promise<void> {
  await db.raw(
    `insert into label_principals (label, part, account_id, profile_id, role, position)
     select ?, part, account_id, profile_id, role, position + 1000 from label_principals where label = ? on conflict do nothing`,
    [into, from],
  );
  await db.raw(
    'update labels set updated_at = now(), restricted = restricted or (select f.restricted from labels f where f.number = ?) where number = ?',
    [from, into],
  );
}

export async function countPrincipals(db: Db, number: number): Promise<number> {
  const [row] = await db('label_principals').where({ label: number }).count<{ count: number }[]>('* as count');
  return Number(row?.count ?? 0);
}

export interface AccountNamed {
  /** The id that the principal names: of an account or of a profile. */
  id: string;
  account_id: string;
  role: string;
  /** An account or its main profile, and no other profile. */
  whole: boolean;
}

/** Accounts and profiles of these ids, without the system account and deleted ones. */
export async function findNamed(db: Db, ids: readonly string[]): Promise<Map<string, AccountNamed>> {
  const found = await db.raw<{ rows: AccountNamed[] }>(
    `select a.id, a.id as account_id, a.role, true as whole from accounts a
       where a.id = any(:ids::uuid[]) and not a.is_system and a.deleted_at is null
     union all
     select p.id, a.id, a.role, p.main from profiles p join accounts a on a.id = p.account_id
       where p.id = any(:ids::uuid[]) and not a.is_system and a.deleted_at is null`,
    { ids: [...ids] },
  );
  return new Map(found.rows.map((row) => [row.id, row]));
}
