import { z } from 'zod';
import { Id, Timestamp } from '#kernel/schemas.ts';
import { SubtitleAllowance } from '../allowance/allowance.schemas.ts';
import { matches } from '../providers/provider.ts';

const Choice = z.enum(['include', 'exclude', 'only']).default('include');
const Tag = /^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}$/i;

/** Up to `most` BCP 47 tags, parted by commas. */
const languageList = (most: number) =>
  z
    .string()
    .max(200)
    .optional()
    .transform((text) => text?.split(',').map((tag) => tag.trim()))
    .refine((tags) => tags === undefined || (tags.length <= most && tags.every((tag) => Tag.test(tag))), {
      error: `1 to ${most} language tags, separated by commas`,
      params: { code: 'bad_language' },
    })
    .describe(`1 to ${most} BCP 47 tags, separated by commas; default: the subtitle languages of the profile`);

const common = {
  hearingImpaired: Choice,
  forced: Choice.describe('`exclude` for everyone but administrators'),
  query: z.string().trim().min(1).max(200).optional().describe('Another title; for administrators'),
};

export const FindQuery = z.object({ languages: languageList(5), ...common });
export const SearchQuery = z.object({ languages: languageList(10), ...common });
export type FindQuery = z.output<typeof FindQuery>;

export const SubtitleCandidate = z
  .object({
    id: z.string().meta({ example: '01900000-0000-7000-8000-000000000009.0' }),
    provider: z.string().meta({ example: 'opensubtitles' }),
    providerName: z.string().meta({ example: 'OpenSubtitles' }),
    release: z.string().meta({ example: 'Nosferatu.1922.1080p' }),
    language: z.string().describe('BCP 47').meta({ example: 'de' }),
    format: z.string().optional().meta({ example: 'srt' }),
    hearingImpaired: z.boolean(),
    forced: z.boolean(),
    translatedByMachine: z.boolean(),
    matchedBy: z.enum(matches).describe('How it was recognised as one of this film, `hash` the surest'),
    score: z.int().min(0).max(100),
    frameRate: z.number().optional().meta({ example: 23.976 }),
    downloads: z.int().optional().meta({ example: 1200 }),
    rating: z.number().min(0).max(10).optional(),
    uploader: z.string().optional().meta({ example: 'Ada' }),
    uploadedAt: Timestamp.optional(),
    alreadyHere: Id.optional().describe('The stream of the item that it became'),
  })
  .meta({ id: 'SubtitleCandidate' });
export type SubtitleCandidate = z.output<typeof SubtitleCandidate>;

export const ProviderOutcome = z.object({
  id: z.string().meta({ example: 'opensubtitles' }),
  name: z.string().meta({ example: 'OpenSubtitles' }),
  ok: z.boolean(),
  found: z.int(),
  tookMs: z.int(),
  reason: z.enum(['timeout', 'refused', 'quota', 'error']).optional(),
});
export type ProviderOutcome = z.output<typeof ProviderOutcome>;

export const SubtitleFindings = z
  .object({
    items: z.array(SubtitleCandidate).max(100).describe('Best first'),
    providers: z.array(ProviderOutcome),
    languages: z.array(z.string().meta({ example: 'de' })).describe('Of the question'),
    expiresAt: Timestamp.describe('Until then the findings can be fetched'),
    allowance: SubtitleAllowance.optional(),
    searchesLeft: z.int().optional().describe('In this hour'),
  })
  .meta({ id: 'SubtitleFindings' });
export type SubtitleFindings = z.output<typeof SubtitleFindings>;
