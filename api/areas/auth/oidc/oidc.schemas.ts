import { z } from 'zod';
import { Timestamp } from '#kernel/schemas.ts';
import { Keep, SignIn } from '../auth.schemas.ts';
import { SignInMethod } from '../methods/methods.schemas.ts';

/** Whether a browser resolves it to a path of this server: neither `//host` nor `/\host`. */
function isOwnPath(path: string): boolean {
  const base = 'http://foyer.invalid';
  return path.startsWith('/') && URL.canParse(path, base) && new URL(path, base).origin === base;
}

export const StartOidc = z.strictObject({
  intent: z
    .enum(['sign-in', 'link', 'confirm'])
    .default('sign-in')
    .describe('link and confirm need a signed-in person'),
  redirectUri: z
    .string()
    .min(1)
    .max(2048)
    .describe('One of auth.oidc.redirectUris, or the web app: /sign-in/oidc')
    .meta({ example: 'https://media.example/sign-in' }),
  returnTo: z
    .string()
    .min(1)
    .max(500)
    .refine(isOwnPath, { error: 'a path on this server', params: { code: 'not_a_path' } })
    .optional(),
  keep: Keep.default('both'),
  remember: z.boolean().default(true),
});

export const StartedOidc = z
  .object({
    url: z.string().describe('At the provider').meta({ example: 'https://id.example/authorize' }),
    state: z.string().meta({ example: 'b3BlbmlkLXN0YXRl' }),
    binding: z
      .string()
      .describe('256 bits, kept by the client that started and sent to completeOidc only')
      .meta({ example: 'b3BlbmlkLWJpbmRpbmc' }),
    expiresAt: Timestamp,
  })
  .meta({ id: 'StartedOidc' });

export const CompleteOidc = z.strictObject({
  code: z.string().min(1).max(4096).meta({ example: 'SplxlOBeZQQYbYS6WxSbIA' }),
  state: z.string().min(1).max(64).meta({ example: 'b3BlbmlkLXN0YXRl' }),
  binding: z.string().min(1).max(64).meta({ example: 'b3BlbmlkLWJpbmRpbmc' }),
  iss: z.string().min(1).max(2048).optional().describe('As the provider sent it along'),
});

export const CompletedOidc = z
  .object({
    signIn: SignIn.optional(),
    linked: SignInMethod.optional(),
    confirmedUntil: Timestamp.optional(),
    returnTo: z.string().optional(),
  })
  .meta({ id: 'CompletedOidc' });

/** A JWT; with its name it fits the 16 KiB limit of anonymous requests. */
export const OidcLogout = z.object({
  logout_token: z
    .string()
    .min(1)
    .max(12_000)
    .regex(/^[\w.-]+$/)
    .meta({ example: 'eyJhbGciOiJSUzI1NiJ9.eyJzaWQiOiIwOGE1In0.c2lnbmF0dXJl' }),
});

/** The claims about a person that are used here. */
export const Claims = z.looseObject({
  sub: z.string().min(1).max(255),
  sid: z.string().max(255).optional().catch(undefined),
  amr: z.array(z.string()).optional().catch(undefined),
  email: z.email().max(254).optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
  preferred_username: z.string().max(255).optional().catch(undefined),
  name: z.string().max(255).optional().catch(undefined).meta({ example: 'Films' }),
});
export type Claims = z.output<typeof Claims>;
