import { z } from 'zod';
import { TimeZone, Username } from '#areas/accounts/public.ts';
import { Language } from '#kernel/schemas.ts';

export const MeChange = z.strictObject({
  username: Username.optional().meta({ example: 'ada' }),
  displayName: z.string().trim().min(1).max(60).optional().meta({ example: 'Ada' }),
  email: z
    .string()
    .trim()
    .max(254)
    .pipe(z.email())
    .nullable()
    .optional()
    .describe('null clears; a new one waits until its link was opened')
    .meta({ example: 'ada@media.example' }),
  language: Language.nullable().optional().describe('null is the language of the server').meta({ example: 'en' }),
  timeZone: TimeZone.nullable()
    .optional()
    .describe('null is the time zone of the server')
    .meta({ example: 'Europe/London' }),
  discoverable: z.boolean().optional(),
  listed: z.boolean().optional().describe('On the tiles of the sign-in page'),
});
export type MeChange = z.output<typeof MeChange>;

export const RequestReset = z.strictObject({
  login: z.string().trim().min(1).max(254).describe('Username or address').meta({ example: 'ada' }),
});
export const RequestedReset = z.object({
  expiresInSec: z.int().describe('How long the link of a mail works'),
  retryAfterSec: z.int().describe('Seconds until another request sends a mail'),
});
