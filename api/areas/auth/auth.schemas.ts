import { z } from 'zod';
import { Permission } from '#identity/permissions.ts';
import { ViewingWindow } from '#identity/viewing-hours.ts';
import { Account, Country, Id, ImageRef, Language, Timestamp } from '#kernel/schemas.ts';
import { AuthenticationResponse } from './passkeys/passkeys.schemas.ts';

export const ProfileLimits = z.object({
  ageLimit: z.int().min(0).max(21).nullable().optional(),
  hideUnrated: z.boolean().optional(),
  libraryIds: z.array(Id).max(500).optional(),
  viewingHours: z.array(ViewingWindow).max(28).optional(),
});

export const Profile = z
  .object({
    id: Id,
    name: z.string(),
    main: z.boolean(),
    avatar: ImageRef.nullable(),
    color: z.string(),
    language: Language.nullable(),
    hasPin: z.boolean(),
    timeZone: z.string().nullable().describe("null is the account's, then the server's"),
    country: Country.nullable(),
    private: z.boolean().describe('Nobody else sees its history, activity or counts'),
    keepHistory: z.boolean(),
    limits: ProfileLimits.optional().describe('For the main profile'),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Profile' });
export type Profile = z.output<typeof Profile>;

export const SessionRecord = z
  .object({
    id: Id,
    device: z
      .object({ id: Id, name: z.string(), clientName: z.string().nullable(), platform: z.string().nullable() })
      .nullable(),
    method: z.enum(['password', 'passkey', 'oidc', 'quick-connect', 'invite', 'setup']),
    twoFactor: z.boolean(),
    profileId: Id,
    current: z.boolean(),
    address: z.string().nullable().describe('Last seen'),
    createdAt: Timestamp,
    lastSeenAt: Timestamp,
    expiresAt: Timestamp,
    confirmedUntil: Timestamp.nullable(),
  })
  .meta({ id: 'Session' });
export type SessionRecord = z.output<typeof SessionRecord>;

export const SignIn = z
  .object({
    session: SessionRecord,
    account: Account,
    profile: Profile,
    tokenType: z.literal('Bearer'),
    accessToken: z.string().optional().describe('Valid 15 minutes; absent when `keep` is cookie'),
    expiresInSec: z.int(),
    refreshToken: z.string().optional().describe('Works once; absent when `keep` is cookie'),
    refreshExpiresAt: Timestamp,
    mustChangePassword: z.boolean(),
    mustAddTwoFactor: z.boolean(),
  })
  .meta({ id: 'SignIn' });
export type SignIn = z.output<typeof SignIn>;

export const Keep = z.enum(['both', 'cookie', 'token']);
export type Keep = z.output<typeof Keep>;

const byName = (body: { username?: unknown; password?: unknown }): boolean =>
  body.username !== undefined && body.password !== undefined;

export const Login = z
  .strictObject({
    username: z.string().min(1).max(64).optional(),
    password: z.string().min(1).max(256).optional(),
    passkey: AuthenticationResponse.optional().describe(
      'In place of name and password; its challenge from getSignInOptions',
    ),
    keep: Keep.default('both').describe('cookie leaves the tokens out of the answer, token sets no cookies'),
    remember: z.boolean().default(true).describe('false: cookies end with the browser'),
    profileId: Id.optional(),
  })
  .refine((body) => byName(body) !== (body.passkey !== undefined), {
    error: 'either username and password or passkey',
    params: { code: 'exactly_one' },
  });

const RefreshToken = z.string().max(100).optional();
export const Refresh = z.strictObject({ refreshToken: RefreshToken.describe('Absent takes the cookie') });
export const Logout = z.strictObject({
  refreshToken: RefreshToken.describe('For clients whose access token has expired'),
});
export const LoggedOut = z.object({ ended: z.boolean(), providerUrl: z.string().optional() });

export const Me = z
  .object({
    account: Account,
    profile: Profile,
    profiles: z.array(Profile),
    credential: z.object({
      kind: z.enum(['session', 'api-key']),
      sessionId: Id.optional(),
      keyId: Id.optional(),
      scopes: z.array(Permission).optional(),
    }),
    permissions: z.array(Permission).describe('What this credential may do now'),
    access: z.object({
      libraries: z.object({ mode: z.enum(['default', 'only']), ids: z.array(Id) }),
      ageLimit: z.int().nullable(),
      hideUnrated: z.boolean(),
      viewingHours: z.array(ViewingWindow),
      timeZone: z.string().nullable(),
      limits: z.record(z.string(), z.unknown()),
      restrictions: z.record(z.string(), z.enum(['allow', 'deny'])),
    }),
    viewing: z.object({
      allowed: z.boolean(),
      until: Timestamp.nullable().optional(),
      resumesAt: Timestamp.nullable().optional(),
    }),
    email: z
      .object({
        address: z.string(),
        verified: z.boolean(),
        pending: z.string().optional().describe('Takes its place once its link was opened'),
      })
      .nullable(),
    mustChangePassword: z.boolean(),
    mustAddTwoFactor: z.boolean(),
    confirmedUntil: Timestamp.nullable(),
    language: Language.nullable(),
    timeZone: z.string().nullable(),
    discoverable: z.boolean(),
  })
  .meta({ id: 'Me' });

export const EndSessionsQuery = z.object({
  keepCurrent: z.enum(['true', 'false']).default('true'),
  apiKeys: z.enum(['true', 'false']).default('false'),
});

export const EndedSessions = z.object({ endedSessions: z.int() });

export const CompleteReset = z.strictObject({
  token: z.string().min(1).max(100),
  newPassword: z.string().min(8).max(256).optional().describe('Absent only checks the token'),
});
export const PasswordReset = z
  .object({
    username: z.string(),
    displayName: z.string(),
    twoFactor: z.boolean(),
    changed: z.boolean(),
    expiresAt: Timestamp,
  })
  .meta({ id: 'PasswordReset' });
