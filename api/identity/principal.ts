import { ApiError } from '#kernel/errors.ts';
import type { Permission, Role } from './permissions.ts';

/** The caller, as identified for this request. */
export interface Principal {
  kind: 'anyone' | 'session' | 'key';
  accountId: string;
  /** Profile of the watch state; for API keys the one that they are bound to. */
  profileId: string;
  /** Whether it is the main profile, which alone manages account, keys and profiles. */
  mainProfile: boolean;
  sessionId?: string;
  keyId?: string;
  /** Device record of the `X-Client-Id`. */
  deviceId?: string;
  role: Role;
  /** Permissions of the credential: those of the account, narrowed by profile and key scopes. */
  permissions: ReadonlySet<Permission>;
  /** Scopes of an API key. */
  scopes?: ReadonlySet<Permission>;
  /** The credential is the key of the operator, which alone may set `managedBy`. */
  operator: boolean;
  /** The session is confirmed until then. */
  confirmedUntil?: Date;
  /** Methods by which the account can confirm the session: password, passkey, oidc. */
  confirmBy?: readonly string[];
  sees: Sight;
  limits: AccountLimits;
  restrictions: Readonly<Record<string, 'allow' | 'deny'>>;
  language?: string;
  timeZone?: string;
}

/** Input of the visibility predicate in visibility.ts. */
export interface Sight {
  /** Sees every library: owner and admins. */
  all: boolean;
  /** `default`: by the access of each library, plus the granted ids; `only`: just the granted ids. */
  libraries: 'default' | 'only';
  role: Role;
  accountId: string;
  /** Libraries a profile is limited to. */
  profileLibraries?: readonly string[];
  /** Years; an item rated above is hidden. */
  ageLimit?: number;
  hideUnrated: boolean;
  /** Result of the label rules; absent when none applies to this profile. */
  labels?: LabelSight;
}

/** Label rules of a profile, by label numbers. */
export interface LabelSight {
  /** Items with one of these are hidden. */
  hidden: readonly number[];
  /** Only items with one of these are visible. */
  only?: readonly number[];
}

/** Limits of an account. */
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
  /** Of uploaded files, in bytes. */
  uploadQuotaBytes?: number | undefined;
  /** Uses of the subtitle tools a day. */
  subtitleDaily?: number | undefined;
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

/** 403 with the permission; for an API key whose account has the permission, with `scopes`. */
/** True for an owner or admin whose credential may edit items: their subtitle tools have no allowance and no limits. */
export function isEditingAdmin(who: Principal): boolean {
  return (who.role === 'owner' || who.role === 'admin') && may(who, 'item:edit');
}

export function requirePermission(who: Principal, permission: Permission): void {
  if (may(who, permission)) return;
  const details = who.scopes && !who.scopes.has(permission) ? { permission, scopes: [permission] } : { permission };
  throw new ApiError('FORBIDDEN', `This needs the permission ${permission}`, details);
}
