import { type Db, gathered } from '#platform/db.ts';
import { effectivePermissions, type Permission, profilePermissions, type Role } from './permissions.ts';
import type { AccountLimits, Principal, Sight } from './principal.ts';
import { effectiveRestrictions, type Restrictions } from './restrictions.ts';
import { common, type ViewingWindow } from './viewing-hours.ts';

/** An account with one of its profiles, as loaded for a credential. */
export interface AccountRow {
  account_id: string;
  role: Role;
  own_permissions: Partial<Record<Permission, boolean>>;
  library_mode: 'default' | 'only';
  age_limit: number | null;
  hide_unrated: boolean;
  viewing_hours: ViewingWindow[];
  /** Time zone of the viewing hours; null is that of the server. */
  hours_zone: string | null;
  time_zone: string | null;
  /** Language of the profile, else of the account. */
  language: string | null;
  limits: AccountLimits;
  restrictions: Partial<Restrictions>;
  must_change_password: boolean;
  gone: boolean;
  profile_id: string;
  main: boolean;
  profile_limits: {
    ageLimit?: number;
    hideUnrated?: boolean;
    libraryIds?: string[];
    viewingHours?: ViewingWindow[];
  } | null;
  profile_zone: string | null;
  hidden_labels: number[];
  /** Null without such a rule; an empty list permits no items. */
  only_labels: number[] | null;
  now_s: number;
  has_password: boolean;
  /** Kinds of its sign-in methods other than the password. */
  factors: string[];
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
