import { z } from 'zod';
import { Id, Timestamp } from '#kernel/schemas.ts';
import { Keep } from '../auth.schemas.ts';
import { AuthenticationResponse } from '../passkeys/passkeys.schemas.ts';

const Code = z.string().min(6).max(20);
const Challenge = z.string().min(1).max(64);
const given = (body: Record<string, unknown>): number => Object.values(body).filter((one) => one !== undefined).length;

export const SignInMethod = z
  .object({
    id: Id,
    kind: z.enum(['password', 'totp', 'recovery-codes', 'passkey', 'oidc']),
    name: z.string().nullable().meta({ example: 'Films' }),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.nullable(),
    passkey: z.object({ synced: z.boolean(), transports: z.array(z.string()), aaguid: z.string() }).optional(),
    oidc: z.object({ issuer: z.string().meta({ example: 'https://id.example' }), label: z.string() }).optional(),
    recoveryCodesLeft: z.int().optional(),
  })
  .meta({ id: 'SignInMethod' });
export type SignInMethod = z.output<typeof SignInMethod>;

export const SignInMethods = z.object({
  items: z.array(SignInMethod),
  twoFactor: z.object({ on: z.boolean(), required: z.boolean() }),
  available: z.object({ passkeys: z.boolean(), oidc: z.boolean(), totp: z.boolean() }),
});

export const ConfirmIdentity = z
  .strictObject({
    password: z.string().min(1).max(256).optional().meta({ example: 'correct horse battery staple' }),
    code: Code.optional().describe('Code of the authenticator app or a recovery code; needs the challenge'),
    passkey: AuthenticationResponse.optional().describe(
      'For the challenge, or alone with a challenge of getSignInOptions',
    ),
    challenge: Challenge.optional().describe('From the AUTH_2FA_REQUIRED that answered the right password'),
  })
  .refine(({ password, code, passkey }) => given({ password, code, passkey }) === 1, {
    error: 'exactly one of password, code and passkey',
    params: { code: 'exactly_one' },
  });
export const Confirmed = z.object({ confirmedUntil: Timestamp });

export const ChangePassword = z.strictObject({
  newPassword: z.string().min(8).max(256).meta({ example: 'seven lanterns over the harbour' }),
  currentPassword: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Needed unless confirmed or the account has none')
    .meta({ example: 'correct horse battery staple' }),
  endOthers: z.boolean().default(true),
});

export const VerifyTwoFactor = z.strictObject({
  challenge: Challenge.meta({ example: 'Zm95ZXItc2Vjb25kLWZhY3Rvcg' }),
  method: z.enum(['totp', 'recovery-code', 'passkey']),
  passkey: AuthenticationResponse.optional(),
  code: Code.optional().describe('6 digits, or a recovery code: dashes and case do not matter'),
  keep: Keep.default('both'),
  remember: z.boolean().default(true),
});

export const TotpSetup = z
  .object({
    setupId: Id,
    secret: z.string().optional().describe('Base32, 160 bits; shown here only').meta({ example: 'JBSWY3DPEHPK3PXP' }),
    uri: z.string().optional().describe('otpauth:'),
    qrSvg: z.string().optional().describe('The address as a picture to scan: an SVG document'),
    expiresAt: Timestamp,
  })
  .meta({ id: 'TotpSetup' });
export const EnableTotp = z.strictObject({
  setupId: Id,
  code: z
    .string()
    .regex(/^\d{6}$/)
    .meta({ example: '287082' }),
  name: z.string().min(1).max(60).optional().meta({ example: 'Phone' }),
});

const RecoveryCodes = z.array(z.string()).describe('Shown once; each works once');
export const NewRecoveryCodes = z.object({ recoveryCodes: RecoveryCodes.optional() });
export const NewMethod = z.object({ method: SignInMethod, recoveryCodes: RecoveryCodes.optional() });
