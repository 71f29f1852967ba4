import { z } from 'zod';
import { AccountRestrictions } from '#identity/restrictions.ts';
import { overlaps, ViewingWindow } from '#identity/viewing-hours.ts';
import { Id } from '#kernel/schemas.ts';

export const TimeZone = z
  .string()
  .max(60)
  .refine((zone) => zone === 'UTC' || Intl.supportedValuesOf('timeZone').includes(zone), {
    error: 'an IANA time zone',
    params: { code: 'unknown_time_zone' },
  });

const Bitrate = z.int().min(0).max(1_000_000_000).describe('Bits a second');

export const AccountLimits = z
  .strictObject({
    streams: z.int().min(0).max(100).optional().describe('At once'),
    transcodes: z.int().min(0).max(100).optional().describe('At once'),
    videoTranscode: z.boolean().default(true),
    audioTranscode: z.boolean().default(true),
    remuxOnly: z.boolean().default(false),
    maxBitrateHome: Bitrate.optional(),
    maxBitrateRemote: Bitrate.optional(),
    maxHeight: z.int().min(0).max(10_000).optional(),
    remote: z.boolean().default(true).describe('May play from outside the local ranges'),
    uploadQuotaBytes: z.int().min(0).optional(),
    downloads: z.int().min(0).max(10_000).optional().describe('Overrides downloads.maxPerAccount'),
    subtitleDaily: z.int().min(0).max(1000).optional().describe('Overrides subtitles.dailyAllowance'),
    devices: z.int().min(1).max(200).optional(),
  })
  .meta({ id: 'AccountLimits' });
export type AccountLimits = z.output<typeof AccountLimits>;

const Libraries = z.strictObject({
  mode: z
    .enum(['default', 'only'])
    .describe("default is what each library's own access says plus ids; only is exactly ids"),
  ids: z
    .array(Id)
    .max(500)
    .overwrite((ids) => [...new Set(ids)]),
});

const ViewingHours = z
  .array(ViewingWindow)
  .max(28)
  .refine((windows) => !overlaps(windows), { error: 'windows overlap', params: { code: 'overlap' } });

/** Access of an account as one document: libraries, ages, viewing hours, limits and restrictions. */
export const AccountAccess = z
  .object({
    libraries: Libraries,
    ageLimit: z.int().min(0).max(21).optional().describe('Years; absent is none').meta({ example: 12 }),
    hideUnrated: z.boolean(),
    viewingHours: z.array(ViewingWindow).describe('Empty is always'),
    timeZone: z.string().optional().describe("Absent is the server's").meta({ example: 'Europe/London' }),
    limits: AccountLimits,
    restrictions: AccountRestrictions,
  })
  .meta({ id: 'AccountAccess' });
export type AccountAccess = z.output<typeof AccountAccess>;

const fields = {
  libraries: Libraries,
  ageLimit: z
    .int()
    .min(0)
    .max(21)
    .nullable()
    .optional()
    .describe('Years; null or absent is none')
    .meta({ example: 12 }),
  hideUnrated: z.boolean().default(false),
  viewingHours: ViewingHours.default([]),
  timeZone: TimeZone.nullable().optional().meta({ example: 'Europe/London' }),
  limits: AccountLimits,
  restrictions: AccountRestrictions.partial().strict().describe('Absent restrictions are those of the role'),
};

/** The document as a client sends it to replace all of it. */
export const AccessDraft = z.strictObject({
  ...fields,
  limits: AccountLimits.default(AccountLimits.parse({})),
  restrictions: fields.restrictions.default({}),
});
export type AccessDraft = z.output<typeof AccessDraft>;

/** Parts of the document, for a new account. Absent parts default to those of the role. */
export const AccessParts = z.strictObject({
  libraries: Libraries.optional(),
  ageLimit: fields.ageLimit,
  hideUnrated: z.boolean().optional(),
  viewingHours: ViewingHours.optional(),
  timeZone: fields.timeZone,
  limits: AccountLimits.optional(),
  restrictions: fields.restrictions.optional(),
});
export type AccessParts = z.output<typeof AccessParts>;
