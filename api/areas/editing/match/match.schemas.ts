import { z } from 'zod';
import { Day, Id, Language, queryBool, queryInt, Timestamp } from '#kernel/schemas.ts';
import { artworkModes, refreshModes } from './matches.store.ts';

const Ids = z.record(z.string(), z.string()).meta({ example: { tmdb: '653' } });
const Provider = z.string().regex(/^[a-zA-Z][a-zA-Z0-9]{1,39}$/);
const AgentId = z.string().min(1).max(80).meta({ example: 'tmdb' });

export const ItemMatch = z
  .object({
    itemId: Id,
    state: z.enum(['matched', 'unmatched', 'local-only']),
    agent: z.string().optional().meta({ example: 'tmdb' }),
    externalIds: Ids,
    matchedAt: Timestamp.optional(),
    matchedBy: z.enum(['person', 'scan', 'refresh']).optional(),
    confidence: z.number().min(0).max(1).optional(),
    jobId: Id.optional().describe('The refresh that waits or runs'),
  })
  .meta({ id: 'ItemMatch' });
export type ItemMatch = z.output<typeof ItemMatch>;

export const Candidate = z
  .object({
    id: Id.describe('For applyItemMatch, for an hour'),
    agent: z.string().meta({ example: 'tmdb' }),
    externalIds: Ids,
    type: z.string().meta({ example: 'movie' }),
    title: z.string().meta({ example: 'Nosferatu' }),
    originalTitle: z.string().optional().meta({ example: 'Nosferatu, eine Symphonie des Grauens' }),
    year: z.int().optional().meta({ example: 1922 }),
    releasedOn: Day.optional(),
    overview: z.string().optional(),
    poster: z.string().optional().describe('Address at this server'),
    childCounts: z
      .object({ seasons: z.int().optional(), episodes: z.int().optional(), tracks: z.int().optional() })
      .optional(),
    score: z.number().min(0).max(1),
    because: z.array(z.enum(['title', 'year', 'external-id', 'runtime', 'child-count', 'fingerprint', 'isbn'])),
    current: z.boolean().describe('The identity that the item has'),
    alreadyItemId: Id.optional().describe('Another item of the library with this identity'),
  })
  .meta({ id: 'MatchCandidate' });
export type Candidate = z.output<typeof Candidate>;

export const MatchQuery = z.object({
  q: z.string().trim().min(1).max(300).optional().describe('Default: the title of the item'),
  year: queryInt(1800, 2200).optional(),
  agent: AgentId.optional(),
  externalId: z.string().trim().min(3).max(500).optional().describe("`provider:id`, or a page's address"),
  language: Language.optional(),
});
export type MatchQuery = z.output<typeof MatchQuery>;

export const Matches = z
  .object({
    match: ItemMatch,
    items: z.array(Candidate).max(50),
    failed: z.array(
      z.object({ agent: z.string().meta({ example: 'tmdb' }), reason: z.string().meta({ example: 'unreachable' }) }),
    ),
  })
  .meta({ id: 'ItemMatches' });
export type Matches = z.output<typeof Matches>;

export const MatchPut = z
  .strictObject({
    candidateId: Id.optional(),
    externalIds: z
      .record(Provider, z.string().min(1).max(200))
      .refine((ids) => Object.keys(ids).length >= 1 && Object.keys(ids).length <= 30, {
        error: '1 to 30 ids',
        params: { code: 'invalid_size' },
      })
      .optional()
      .meta({ example: { tmdb: '653' } }),
    agent: AgentId.optional(),
    replace: z.enum(['unlocked', 'all']).default('unlocked').describe('`all` removes edits and locks first'),
    artwork: z.boolean().default(true),
  })
  .refine(({ candidateId, externalIds }) => (candidateId === undefined) !== (externalIds === undefined), {
    error: 'either candidateId or externalIds',
    params: { code: 'exactly_one' },
  })
  .meta({ example: { externalIds: { tmdb: '653' } } });
export type MatchPut = z.output<typeof MatchPut>;

export const ClearQuery = z.object({
  keepFields: queryBool.optional().describe('Keeps the values of agents. Default false'),
});

export const RefreshPost = z.strictObject({
  mode: z.enum(refreshModes).default('update'),
  artwork: z.enum(artworkModes).default('missing'),
  children: z.boolean().default(true),
  identify: z.boolean().default(false).describe('Finds the item by its name again'),
  probe: z.boolean().default(false).describe('Reads the files again'),
  agents: z.array(AgentId).max(50).optional().describe('Default: those of the library'),
});
export type RefreshPost = z.output<typeof RefreshPost>;
