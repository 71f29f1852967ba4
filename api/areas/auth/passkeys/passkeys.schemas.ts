import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import { ImageRef, Timestamp } from '#kernel/schemas.ts';

const Text = z.string().min(1).max(8192);
const named = {
  id: z.string().min(1).max(1400).meta({ example: 'Zm95ZXItcGFzc2tleQ' }),
  rawId: z.string().min(1).max(1400).meta({ example: 'Zm95ZXItcGFzc2tleQ' }),
  type: z.literal('public-key'),
};
const Extensions = z.record(z.string().max(100), z.unknown());

/** The `toJSON()` form of the PublicKeyCredential of a browser. */
export const AuthenticationResponse = z
  .object({
    ...named,
    response: z
      .object({
        clientDataJSON: Text.meta({ example: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0' }),
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
        clientDataJSON: Text.meta({ example: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0' }),
        attestationObject: z.string().min(1).max(65_536).meta({ example: 'o2NmbXRkbm9uZQ' }),
        transports: z.array(z.string().max(20)).max(10).optional(),
      })
      .loose(),
    clientExtensionResults: Extensions.default({}),
    authenticatorAttachment: z.string().max(40).optional(),
  })
  .transform((value) => value as RegistrationResponseJSON);

export const AddPasskey = z.strictObject({
  credential: RegistrationResponse,
  name: z.string().trim().min(1).max(60).optional().meta({ example: 'Phone' }),
});

/** The options of `navigator.credentials`, as in the Web Authentication standard. */
export const CreationOptions = z
  .looseObject({ challenge: z.string().meta({ example: 'Zm95ZXItcGFzc2tleS1jaGFsbGVuZ2U' }) })
  .meta({ id: 'PasskeyCreationOptions' });
export const RequestOptions = z.looseObject({ challenge: z.string() }).meta({ id: 'PasskeyRequestOptions' });

export const SignInOptions = z
  .object({
    password: z.boolean(),
    passkeys: z.boolean(),
    passkey: RequestOptions.optional().describe(
      'Also for conditional sign-in; its challenge works once, for 5 minutes',
    ),
    oidc: z
      .object({ name: z.string().meta({ example: 'Films' }), iconUrl: z.string().optional(), automatic: z.boolean() })
      .optional(),
    quickConnect: z.boolean(),
    passwordReset: z.enum(['mail', 'admin']),
    invites: z.boolean(),
    tiles: z.array(
      z.object({
        username: z.string().meta({ example: 'ada' }),
        displayName: z.string().meta({ example: 'Ada' }),
        avatar: ImageRef.optional(),
      }),
    ),
    passwordRules: z.object({ minLength: z.int(), maxLength: z.int() }),
    message: z.string().optional().describe('Of Branding: plain text, shown escaped').meta({ example: 'All is well' }),
    serverTime: Timestamp,
  })
  .meta({ id: 'SignInOptions' });
