import { z } from 'zod';
import { invalidReasons, plusFeatures } from '#identity/licence.ts';
import { Id, ManagedBy, Timestamp } from '#kernel/schemas.ts';

const Feature = z.enum(plusFeatures);
const State = z.enum(['open', 'none', 'active', 'grace', 'lapsed', 'invalid']);

export const PlusLicence = z
  .object({
    id: z.string(),
    licensee: z.string(),
    features: z.array(z.enum([...plusFeatures, 'all'])),
    issuedAt: Timestamp,
    startsAt: Timestamp.optional(),
    expiresAt: Timestamp.optional().describe('Absent is for ever'),
    serverId: z.string().optional().describe('Bound to this server'),
    keyId: z.string(),
    installedAt: Timestamp,
    installedBy: z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) }).optional(),
  })
  .meta({ id: 'PlusLicence' });

export const PlusStatus = z
  .object({
    mode: z.enum(['open', 'licensed']).describe('open: no verifier is configured, and nothing is closed'),
    state: State,
    features: z.record(Feature, z.boolean()).describe('Which are open'),
    endsAt: Timestamp.optional(),
    graceEndsAt: Timestamp.optional(),
    licence: PlusLicence.optional().describe('With settings:manage'),
    invalidReason: z.enum(invalidReasons).optional(),
    checkedAt: Timestamp,
    managedBy: ManagedBy.optional(),
  })
  .meta({ id: 'PlusStatus' });

export const PlusFeatures = z.object({
  items: z.array(
    z
      .object({
        id: Feature,
        title: z.string().meta({ example: 'Recording' }),
        description: z.string().meta({ example: 'Recording of live television' }),
        operations: z
          .array(z.string())
          .describe('operationIds')
          .meta({ example: ['createRecording'] }),
        open: z.boolean(),
        keptOnLapse: z
          .string()
          .describe('What stays available without a licence')
          .meta({ example: 'Recordings that were made' }),
        usage: z
          .object({ label: z.string(), count: z.int().meta({ example: 12 }) })
          .optional()
          .describe('With settings:manage'),
      })
      .meta({ id: 'PlusFeature' }),
  ),
});

const MOST_BYTES = 8192;

export const SetPlusLicence = z.strictObject({
  licence: z
    .string()
    .max(65_536)
    .transform((text) => text.replace(/\s+/g, ''))
    .pipe(z.string().min(1).max(MOST_BYTES))
    .describe('A JWT of at most 8 KiB; white space and line breaks are ignored')
    .meta({ example: 'eyJhbGciOiJFZERTQSJ9.eyJwbHVzIjoxfQ.c2lnbmF0dXJl' }),
  dryRun: z.boolean().default(false).describe('Only says what the state would be'),
});
