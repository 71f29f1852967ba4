import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import { ImageRef, Timestamp } from '#kernel/schemas.ts';

const Text = z.string().min(1).max(8192);
const named = { id: z.string().min(1).max(1400), rawId: z.string().min(1).max(1400), type: z.literal('public-key') };
const Extensions = z.record(z.string().max(100), z.unknown());

/** As `toJSON()` of the browser's PublicKeyCredential gives it. */
export const AuthenticationResponse = z
  .object({
    ...named,
    response: z
      .object({
        clientDataJSON: Text,
        authenticatorData: Text,
        signature: Text,
        userHandle: z.string().max(1400).optional(),
      })
      .loose(),
    clientExtensionResults: Extensions.default({}),
    authenticatorAttachment: z.string().max(40).optional(),
  })
  .transform((value) => value as AuthenticationResponseJSON);

export const RegistrationResponse = z
  .object({
    ...named,
    response: z
      .object({
        clientDataJSON: Text,
        attestationObject: z.string().min(1).max(65_536),
        transports: z.array(z.string().max(20)).max(10).optional(),
      })
      .loose(),
    clientExtensionResults: Extensions.default({}),
    authenticatorAttachment: z.string().max(40).optional(),
  })
  .transform((value) => value as RegistrationResponseJSON);

export const AddPasskey = z.strictObject({
  credential: RegistrationResponse,
  name: z.string().trim().min(1).max(60).optional(),
});

/** What `navigator.credentials` takes, as its standard says. */
export const CreationOptions = z.looseObject({ challenge: z.string() }).meta({ id: 'PasskeyCreationOptions' });
export const RequestOptions = z.looseObject({ challenge: z.string() }).meta({ id: 'PasskeyRequestOptions' });

export const SignInOptions = z
  .object({
    password: z.boolean(),
    passkeys: z.boolean(),
    passkey: RequestOptions.optional().describe(
      'Also for conditional sign-in; its challenge works once, for 5 minutes',
    ),
    oidc: z.object({ name: z.string(), iconUrl: z.string().optional(), automatic: z.boolean() }).optional(),
    quickConnect: z.boolean(),
    passwordReset: z.enum(['mail', 'admin']),
    invites: z.boolean(),
    tiles: z.array(z.object({ username: z.string(), displayName: z.string(), avatar: ImageRef.optional() })),
    passwordRules: z.object({ minLength: z.int(), maxLength: z.int() }),
    message: z.string().optional().describe('Of Branding: plain text, shown escaped'),
    serverTime: Timestamp,
  })
  .meta({ id: 'SignInOptions' });
