import { ApiError } from '#kernel/errors.ts';
import type { Permission, Role } from './permissions.ts';

/** Who asks, as the pipeline found out for this request; nothing of it outlives the request. */
export interface Principal {
  kind: 'anyone' | 'session' | 'key';
  accountId: string;
  /** Whose watch state it is; the account's main profile for API keys. */
  profileId: string;
  /** The main profile alone may manage account, keys and profiles. */
  mainProfile: boolean;
  sessionId?: string;
  keyId?: string;
  /** Device record of the `X-Client-Id`. */
  deviceId?: string;
  role: Role;
  /** What this credential may do now: account, narrowed by profile and key scopes. */
  permissions: ReadonlySet<Permission>;
  /** Scopes of an API key. */
  scopes?: ReadonlySet<Permission>;
  /** The operator's own key: it alone may set `managedBy`. */
  operator: boolean;
  /** This session proved the person until then (Auth: confirmed). */
  confirmedUntil?: Date;
  /** Ways in which this account can prove the person again: password, passkey, oidc. */
  confirmBy?: readonly string[];
  sees: Sight;
  limits: AccountLimits;
  restrictions: Readonly<Record<string, 'allow' | 'deny'>>;
  language?: string;
  timeZone?: string;
}

/** What visibility goes by; the one predicate is in visibility.ts. */
export interface Sight {
  /** Sees every library: owner and admins. */
  all: boolean;
  /** `default`: what each library's own access says and the granted ids; `only`: the granted ids. */
  libraries: 'default' | 'only';
  role: Role;
  accountId: string;
  /** Libraries a profile is limited to. */
  profileLibraries?: readonly string[];
  /** Years; an item rated above is hidden. */
  ageLimit?: number;
  hideUnrated: boolean;
  /** What label rules come to; absent while none is about this profile. */
  labels?: LabelSight;
}

/** Numbers of labels (area Labels). */
export interface LabelSight {
  /** What carries one of these is hidden. */
  hidden: readonly number[];
  /** Nothing else is seen than what carries one of these. */
  only?: readonly number[];
}

/** Limits of an account (area Users). */
export interface AccountLimits {
  streams?: number | undefined;
  transcodes?: number | undefined;
  videoTranscode?: boolean | undefined;
  audioTranscode?: boolean | undefined;
  remuxOnly?: boolean | undefined;
  maxBitrateHome?: number | undefined;
  maxBitrateRemote?: number | undefined;
  maxHeight?: number | undefined;
  remote?: boolean | undefined;
}

export const anyone: Principal = {
  kind: 'anyone',
  accountId: '',
  profileId: '',
  mainProfile: false,
  role: 'guest',
  permissions: new Set(),
  operator: false,
  sees: { all: false, libraries: 'only', role: 'guest', accountId: '', hideUnrated: true },
  limits: {},
  restrictions: {},
};

export function may(who: Principal, permission: Permission): boolean {
  return who.permissions.has(permission);
}

/** 403 with the permission; a key that lacks the scope its account has gets `scopes`. */
export function requirePermission(who: Principal, permission: Permission): void {
  if (may(who, permission)) return;
  const details = who.scopes && !who.scopes.has(permission) ? { permission, scopes: [permission] } : { permission };
  throw new ApiError('FORBIDDEN', `This needs the permission ${permission}`, details);
}
