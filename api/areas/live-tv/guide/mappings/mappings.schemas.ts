import { z } from 'zod';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { Id, queryBool } from '#kernel/schemas.ts';
import { MIN_SCORE } from './match-guide.ts';

const GuideId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\0]+$/)
  .meta({ example: 'one.example' });
const MatchedBy = z.enum(['id', 'name', 'number']);
const Score = z.number().min(0).max(1);

export const GuideSourceChannel = z
  .object({
    id: z.string().describe('In the guide').meta({ example: 'one.example' }),
    names: z.array(z.string()).meta({ example: ['One'] }),
    number: z.string().meta({ example: '2.1' }).optional(),
    iconUrl: z.boolean().optional().describe('It has a picture'),
    programs: z.int(),
    mappedTo: z.array(Id).describe('Channels'),
    suggestion: z.object({ channelId: Id, score: Score, by: MatchedBy }).optional(),
  })
  .meta({ id: 'GuideSourceChannel' });
export type GuideSourceChannel = z.output<typeof GuideSourceChannel>;

export const channelSorts: SortTable = {
  id: { column: 'g.guide_id', type: 'text' },
  number: {
    column: `coalesce(nullif(regexp_replace(g.number, '[^0-9.]', '', 'g'), '')::numeric, 1000000)`,
    type: 'numeric',
  },
  programs: { column: 'g.programs', type: 'int', descends: true },
};

export const GuideChannelsQuery = z.object({
  ...pageQuery,
  q: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^[^\0]+$/)
    .optional()
    .describe('Part of a name or of the id'),
  mapped: queryBool.optional(),
  channelId: Id.optional().describe('The most similar names first'),
  sort: sortQuery(channelSorts),
});
export type GuideChannelsQuery = z.output<typeof GuideChannelsQuery>;

export const MappingsBody = z
  .strictObject({
    mappings: z
      .array(
        z.strictObject({
          channelId: Id,
          guideSourceId: Id,
          guideChannelId: GuideId.nullable().describe('null takes the guide from the channel'),
        }),
      )
      .min(1)
      .max(1000),
  })
  .refine(({ mappings }) => new Set(mappings.map(({ channelId }) => channelId)).size === mappings.length, {
    error: 'a channel twice',
    path: ['mappings'],
    params: { code: 'duplicate' },
  });

export const MappingsAnswer = z.object({
  changed: z.int(),
  problems: z.array(z.object({ channelId: Id, reason: z.enum(['no-channel', 'no-guide-channel']) })),
});

export const MatchBody = z
  .strictObject({
    guideSourceIds: z.array(Id).min(1).max(50).optional(),
    channelIds: z.array(Id).min(1).max(10_000).optional(),
    replace: z.boolean().default(false).describe('Also mappings that were not made by hand'),
    minScore: z.number().min(0.5).max(1).default(MIN_SCORE),
    dryRun: z.boolean().default(true),
  })
  .meta({ example: { dryRun: true } });

export const MatchAnswer = z.object({
  matches: z.array(
    z.object({
      channelId: Id,
      guideSourceId: Id,
      guideChannelId: z.string().meta({ example: 'one.example' }),
      score: Score,
      by: MatchedBy,
    }),
  ),
  unmatched: z.array(Id),
  applied: z.int().describe('Channels that changed; 0 with dryRun'),
});
