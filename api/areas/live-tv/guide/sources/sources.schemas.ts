import { z } from 'zod';
import { CronText } from '#kernel/cron.ts';
import { Id, ManagedBy, Timestamp } from '#kernel/schemas.ts';
import { stored } from '#kernel/stored-uploads.ts';

/** Largest uploaded guide, as it is sent. */
export const GUIDE_BYTES = 64 << 20;
export const guideMedia = ['application/xml', 'text/xml', 'application/gzip', 'application/x-xz'] as const;

export const GuideSource = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Programmes' }),
    kind: z.enum(['xmltv', 'tuner']),
    tunerId: Id.optional(),
    url: z.string().optional().describe('Credentials are masked').meta({ example: 'https://guide.example/tv.xml.gz' }),
    uploaded: z.boolean(),
    managedBy: ManagedBy.optional(),
    managedFields: z
      .array(z.string())
      .meta({ example: ['url'] })
      .optional(),
    enabled: z.boolean(),
    priority: z.int(),
    refreshHours: z.int(),
    refreshCron: z.string().meta({ example: '0 5 * * *' }).optional().describe('In place of refreshHours'),
    days: z.int(),
    shiftMinutes: z.int(),
    state: z.enum(['never', 'refreshing', 'ready', 'failed']),
    lastRefreshAt: Timestamp.optional(),
    nextRefreshAt: Timestamp.optional(),
    channels: z.int(),
    programs: z.int(),
    coverageUntil: Timestamp.optional(),
    skippedEntries: z.int().describe('Entries of the last guide that could not be read, or stood twice'),
    error: z
      .object({
        code: z.string().meta({ example: 'unreachable' }),
        message: z.string().meta({ example: 'the address does not answer' }),
      })
      .optional()
      .describe('Of the last refresh'),
  })
  .meta({ id: 'GuideSource' });
export type GuideSource = z.output<typeof GuideSource>;

export const GuideSourceList = z.object({ items: z.array(GuideSource) });

const Name = z
  .string()
  .max(60)
  .regex(/^[^\s\p{Cc}][^\p{Cc}]*$/u)
  .meta({ example: 'Programmes' });
const Address = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[^\s/?#]\S*$/i)
  .refine((text) => URL.canParse(text), { error: 'not such an address', params: { code: 'invalid_url' } })
  .meta({ example: 'https://guide.example/tv.xml.gz' });
/** Headers that the request itself sets stay out. */
const HeaderName = z
  .string()
  .max(100)
  .regex(/^(?![Hh][Oo][Ss][Tt]$)(?![Cc][Oo][Nn])(?![Tt][Rr][Aa][Nn][Ss])[A-Za-z][A-Za-z0-9-]*$/);
const HeaderValue = z
  .string()
  .max(4096)
  .regex(/^[\t\x20-\x7e]*$/);
const Headers = z.record(HeaderName, HeaderValue).refine((all) => Object.keys(all).length <= 20, {
  error: 'at most 20 headers',
  params: { code: 'too_big' },
});

const fields = {
  enabled: z.boolean(),
  priority: z.int().min(0).max(100).describe('The higher one wins a tie of matches'),
  refreshHours: z.int().min(1).max(168),
  days: z.int().min(1).max(21).describe('Programmes that start later are left out'),
  shiftMinutes: z.int().min(-720).max(720).describe('Moves all programmes'),
};

export const GuideSourceDraft = z
  .strictObject({
    name: Name,
    kind: z.enum(['xmltv', 'tuner']),
    url: Address.optional().describe('Of a guide in XMLTV'),
    tunerId: Id.optional().describe('For the guide that the device or its playlist names'),
    file: stored.optional().describe('A guide in XMLTV, plain or packed by gzip or xz, instead of url'),
    headers: Headers.optional(),
    enabled: fields.enabled.default(true),
    priority: fields.priority.default(50),
    refreshHours: fields.refreshHours.default(12),
    refreshCron: CronText.optional(),
    days: fields.days.default(14),
    shiftMinutes: fields.shiftMinutes.default(0),
    managedBy: ManagedBy.optional().describe("The operator's key only"),
  })
  .meta({ example: { name: 'Programmes', kind: 'xmltv', url: 'https://guide.example/tv.xml.gz' } });
export type GuideSourceDraft = z.output<typeof GuideSourceDraft>;

export const GuideSourceChange = z
  .strictObject({
    name: Name.optional(),
    url: Address.optional().describe('The masked address that was read is no change'),
    file: stored.optional().describe('Replaces an uploaded guide'),
    headers: Headers.optional(),
    ...z.object(fields).partial().shape,
    refreshCron: CronText.nullable().optional(),
    managedBy: ManagedBy.nullable().optional().describe("The operator's key only; null sets it free"),
  })
  .meta({ example: { enabled: false } });
export type GuideSourceChange = z.output<typeof GuideSourceChange>;
