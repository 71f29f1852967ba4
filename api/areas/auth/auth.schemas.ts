import { z } from 'zod';
import { Permission } from '#identity/permissions.ts';
import { ViewingWindow } from '#identity/viewing-hours.ts';
import { Account, Country, Id, ImageRef, Language, Timestamp } from '#kernel/schemas.ts';
import { AuthenticationResponse } from './passkeys/passkeys.schemas.ts';

export const ProfileLimits = z.object({
  ageLimit: z.int().min(0).max(21).nullable().optional().meta({ example: 12 }),
  hideUnrated: z.boolean().optional(),
  libraryIds: z.array(Id).max(500).optional(),
  viewingHours: z.array(ViewingWindow).max(28).optional(),
});

export const Profile = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Ada' }),
    main: z.boolean(),
    avatar: ImageRef.nullable(),
    color: z.string().meta({ example: '#c8553d' }),
    language: Language.nullable().meta({ example: 'en' }),
    hasPin: z.boolean(),
    timeZone: z
      .string()
      .nullable()
      .describe("null is the account's, then the server's")
      .meta({ example: 'Europe/London' }),
    country: Country.nullable().meta({ example: 'GB' }),
    private: z.boolean().describe('Hides its history, activity and counts from everyone else'),
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
      .object({
        id: Id,
        name: z.string().meta({ example: 'Films' }),
        clientName: z.string().nullable().meta({ example: 'Living room' }),
        platform: z.string().nullable().meta({ example: 'Android TV' }),
      })
      .nullable(),
    method: z.enum(['password', 'passkey', 'oidc', 'quick-connect', 'invite', 'setup']),
    twoFactor: z.boolean(),
    profileId: Id,
    current: z.boolean(),
    address: z.string().nullable().describe('Last used').meta({ example: '192.0.2.17' }),
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
    accessToken: z
      .string()
      .optional()
      .describe('Valid 15 minutes; absent when `keep` is cookie')
      .meta({ example: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl' }),
    expiresInSec: z.int(),
    refreshToken: z
      .string()
      .optional()
      .describe('Works once; absent when `keep` is cookie')
      .meta({ example: 'fr_Zm95ZXItcmVmcmVzaC10b2tlbg' }),
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
    username: z.string().min(1).max(64).optional().meta({ example: 'ada' }),
    password: z.string().min(1).max(256).optional().meta({ example: 'correct horse battery staple' }),
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
export const Refresh = z.strictObject({
  refreshToken: RefreshToken.describe('Absent uses the cookie').meta({ example: 'fr_Zm95ZXItcmVmcmVzaC10b2tlbg' }),
});
export const Logout = z.strictObject({
  refreshToken: RefreshToken.describe('For clients whose access token has expired').meta({
    example: 'fr_Zm95ZXItcmVmcmVzaC10b2tlbg',
  }),
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
    permissions: z.array(Permission).describe('Permissions of this credential now'),
    access: z.object({
      libraries: z.object({ mode: z.enum(['default', 'only']), ids: z.array(Id) }),
      ageLimit: z.int().nullable().meta({ example: 12 }),
      hideUnrated: z.boolean(),
      viewingHours: z.array(ViewingWindow),
      timeZone: z.string().nullable().meta({ example: 'Europe/London' }),
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
        address: z.string().meta({ example: '192.0.2.17' }),
        verified: z.boolean(),
        pending: z.string().optional().describe('Replaces the address once its link was opened'),
      })
      .nullable(),
    mustChangePassword: z.boolean(),
    mustAddTwoFactor: z.boolean(),
    confirmedUntil: Timestamp.nullable(),
    language: Language.nullable().meta({ example: 'en' }),
    timeZone: z.string().nullable().meta({ example: 'Europe/London' }),
    discoverable: z.boolean(),
    app: z
      .object({
        watchedPercent: z.int().describe('Share of the runtime from which an item counts as watched'),
        mapTiles: z.string().optional().describe('Address of street tiles, with {z}, {x} and {y}'),
        subtitleTools: z.boolean().describe('Whether subtitles can be found, timed or made'),
        maxUploadBytes: z.int().describe('Size of the largest file of an upload'),
      })
      .describe('Settings of the server that an app needs'),
  })
  .meta({ id: 'Me' });

export const EndSessionsQuery = z.object({
  keepCurrent: z.enum(['true', 'false']).default('true'),
  apiKeys: z.enum(['true', 'false']).default('false'),
});

export const EndedSessions = z.object({ endedSessions: z.int() });

export const CompleteReset = z.strictObject({
  token: z.string().min(1).max(100).meta({ example: 'pw_Zm95ZXItcmVzZXQ' }),
  newPassword: z
    .string()
    .min(8)
    .max(256)
    .optional()
    .describe('Absent only checks the token')
    .meta({ example: 'seven lanterns over the harbour' }),
});
export const PasswordReset = z
  .object({
    username: z.string().meta({ example: 'ada' }),
    displayName: z.string().meta({ example: 'Ada' }),
    twoFactor: z.boolean(),
    changed: z.boolean(),
    expiresAt: Timestamp,
  })
  .meta({ id: 'PasswordReset' });
