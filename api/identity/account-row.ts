import { type Db, gathered } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { effectivePermissions, profilePermissions } from './permissions.ts';
import type { Principal, Sight } from './principal.ts';
import { effectiveRestrictions } from './restrictions.ts';
import { common, type ViewingWindow } from './viewing-hours.ts';

export interface ProfileLimits {
  ageLimit?: number | null;
  hideUnrated?: boolean;
  libraryIds?: string[];
  viewingHours?: ViewingWindow[];
}

/**
 * An account with one of its profiles, as loaded for a credential. `hours_zone` is null for that of the server,
 * `only_labels` without such a rule; an empty list permits no items. `factors` are its sign-in methods other than the
 * password.
 */
export interface AccountRow
  extends Pick<Row<'accounts'>, 'role' | 'own_permissions' | 'library_mode' | 'age_limit' | 'hide_unrated' | 'factors'>,
    Pick<Row<'accounts'>, 'viewing_hours' | 'hours_zone' | 'time_zone' | 'limits' | 'restrictions'>,
    Pick<Row<'accounts'>, 'must_change_password'>,
    Pick<Row<'profiles'>, 'main' | 'hidden_labels' | 'only_labels'> {
  account_id: string;
  /** Language of the profile, else of the account. */
  language: string | null;
  gone: boolean;
  profile_id: string;
  profile_limits: ProfileLimits | null;
  profile_zone: string | null;
  now_s: number;
  has_password: boolean;
}

/** SQL of an AccountRow over `accounts a` and `profiles p`. */
export const ACCOUNT_JSON = `'account_id', a.id, 'role', a.role, 'own_permissions', a.own_permissions, 'library_mode', a.library_mode,
  'age_limit', a.age_limit, 'hide_unrated', a.hide_unrated, 'viewing_hours', a.viewing_hours, 'hours_zone', a.hours_zone, 'time_zone', a.time_zone,
  'language', coalesce(p.language, a.language), 'limits', a.limits, 'restrictions', a.restrictions, 'must_change_password', a.must_change_password,
  'gone', a.disabled or coalesce(a.expires_at < now(), false), 'profile_id', p.id, 'main', p.main,
  'profile_limits', p.limits, 'profile_zone', p.time_zone,
  'hidden_labels', p.hidden_labels, 'only_labels', p.only_labels, 'now_s', extract(epoch from now())::float8,
  'has_password', a.password_hash is not null, 'factors', a.factors`;

const byAccount = gathered<AccountRow>({
  name: 'principal-by-account',
  text: `select a.id::text as key, json_build_object(${ACCOUNT_JSON}) as row
    from accounts a join profiles p on p.account_id = a.id and p.main where a.id = any($1::uuid[])`,
});

/** Principal of an account with its main profile; undefined for an unknown account. */
export async function principalOf(db: Db, accountId: string): Promise<Principal | undefined> {
  const row = await byAccount(db, accountId);
  return row && principalOfRow(row);
}

/** Principal of any profile, for work that continues after the request. */
export async function principalOfProfile(db: Db, profileId: string): Promise<Principal | undefined> {
  const { rows } = await db.raw<{ rows: { account: AccountRow }[] }>(
    `select json_build_object(${ACCOUNT_JSON}) as account from accounts a join profiles p on p.account_id = a.id where p.id = ?`,
    [profileId],
  );
  const [row] = rows;
  return row && principalOfRow(row.account);
}

/** Principal of the account with this profile. */
export function principalOfRow(row: AccountRow): Principal {
  const all = effectivePermissions(row.role, row.own_permissions);
  const zone = row.profile_zone ?? row.time_zone;
  return {
    kind: 'session',
    accountId: row.account_id,
    profileId: row.profile_id,
    mainProfile: row.main,
    role: row.role,
    permissions: row.main ? all : new Set([...all].filter((p) => profilePermissions.includes(p))),
    operator: false,
    sees: sight(row),
    limits: row.limits,
    restrictions: effectiveRestrictions(row.role, row.restrictions),
    ...(row.language ? { language: row.language } : {}),
    ...(zone ? { timeZone: zone } : {}),
  };
}

type Hours = Pick<AccountRow, 'role' | 'viewing_hours' | 'profile_limits'>;

/**
 * Viewing hours in the `hours_zone` of the account; none is always. Admins and the owner have none, but their other
 * profiles may. Hours of a profile apply in addition to those of its account.
 */
export function hoursOf(row: Hours): readonly ViewingWindow[] {
  const ranked = row.role === 'owner' || row.role === 'admin';
  return common(ranked ? [] : row.viewing_hours, row.profile_limits?.viewingHours ?? []);
}

/** Visibility of the profile: the lower age limit of both, and its libraries within those of the account. */
function sight(row: AccountRow): Sight {
  const ages = [row.age_limit, row.profile_limits?.ageLimit].filter((age) => age !== null && age !== undefined);
  const libraries = row.profile_limits?.libraryIds;
  return {
    // An account that manages libraries sees all, unless its access is limited to some.
    all: (row.role === 'owner' || row.role === 'admin') && row.library_mode === 'default',
    libraries: row.library_mode,
    role: row.role,
    accountId: row.account_id,
    hideUnrated: row.hide_unrated || (row.profile_limits?.hideUnrated ?? false),
    ...(ages.length > 0 ? { ageLimit: Math.min(...ages) } : {}),
    ...(libraries ? { profileLibraries: libraries } : {}),
    ...labelsOf(row),
  };
}

function labelsOf({ hidden_labels: hidden, only_labels: only }: AccountRow): Pick<Sight, 'labels'> {
  if (hidden.length === 0 && only === null) return {};
  return { labels: { hidden, ...(only && { only }) } };
}
