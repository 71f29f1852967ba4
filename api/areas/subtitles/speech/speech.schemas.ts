import { z } from 'zod';
import { ItemSummary, SubtitleTrack } from '#areas/items/public.ts';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { commaList, Id, Language, Milliseconds, Timestamp } from '#kernel/schemas.ts';
import { SubtitleAllowance } from '../allowance/allowance.schemas.ts';

export const Task = z.enum(['transcribe', 'translate']);
export type Task = z.output<typeof Task>;

export const GenerationState = z.enum(['waiting', 'running', 'finished', 'failed', 'cancelled']);
export type GenerationState = z.output<typeof GenerationState>;

export const GenerationRequest = z
  .object({
    id: Id,
    itemId: Id,
    item: ItemSummary.optional().describe('include=item'),
    fileId: Id,
    audioStreamId: Id,
    language: z.string().describe('Of the text; `auto` until the speech was heard').meta({ example: 'en' }),
    spokenLanguage: z.string().optional().meta({ example: 'en' }),
    task: Task,
    model: z.string().meta({ example: 'base' }),
    state: GenerationState,
    progress: z.number().min(0).max(1),
    heardMs: Milliseconds.describe('End of the last checkpoint'),
    durationMs: Milliseconds,
    secondsLeft: z.int().optional().describe('On this server, waiting included'),
    waitingBefore: z.int().optional().describe('Requests that are served first'),
    pausedFor: z.enum(['streaming', 'worker']).optional().describe('Why it does not go on now'),
    batchId: Id.optional(),
    mine: z.boolean(),
    requestedBy: z
      .object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) })
      .optional()
      .describe('For administrators'),
    attempts: z.int(),
    error: z
      .object({
        code: z.string().meta({ example: 'TRANSCODE_FAILED' }),
        reason: z.enum(['no-speech', 'unreadable', 'storage', 'model', 'worker-lost']),
      })
      .optional(),
    subtitle: SubtitleTrack.optional().describe('The result, while it exists'),
    createdAt: Timestamp,
    startedAt: Timestamp.optional(),
    finishedAt: Timestamp.optional(),
  })
  .meta({ id: 'GenerationRequest', description: 'A request for subtitles from speech' });
export type GenerationRequest = z.output<typeof GenerationRequest>;

export const GenerateBody = z.strictObject({
  fileId: Id.optional().describe('The default file when absent'),
  audioStreamId: Id.optional().describe('The default soundtrack when absent'),
  language: Language.optional().describe('Of the speech; one of the languages of getSubtitleCapabilities'),
  task: Task.default('transcribe').describe('`translate` writes English'),
  force: z.boolean().default(false).describe('Also where a person made subtitles; administrators only'),
});
export type GenerateBody = z.output<typeof GenerateBody>;

export const requestSorts = {
  createdAt: { column: 'r.created_at', type: 'timestamptz' },
} as const satisfies SortTable;

export const GeneratedQuery = z.object({
  ...pageQuery,
  sort: sortQuery(requestSorts),
  state: commaList(GenerationState, 5).optional(),
  include: commaList(z.enum(['item']), 1).optional(),
});
export type GeneratedQuery = z.output<typeof GeneratedQuery>;

export const BatchBody = z.strictObject({
  itemIds: z.array(Id).min(1).max(500).describe('Films, episodes, videos, seasons and shows'),
  language: Language.optional().describe('Of the speech'),
  task: Task.default('transcribe'),
  force: z.boolean().default(false),
  dryRun: z.boolean().default(false).describe('Counts and estimates only'),
});
export type BatchBody = z.output<typeof BatchBody>;

export const SubtitleBatch = z
  .object({
    id: Id,
    language: z.string().optional().meta({ example: 'en' }),
    task: Task,
    force: z.boolean(),
    total: z.int(),
    waiting: z.int(),
    running: z.int(),
    finished: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    secondsLeft: z.int(),
    createdAt: Timestamp,
  })
  .meta({ id: 'SubtitleBatch' });
export type SubtitleBatch = z.output<typeof SubtitleBatch>;

export const SkipReason = z.enum(['subtitled', 'already-made', 'queued', 'no-soundtrack', 'no-file', 'wrong-type']);
export type SkipReason = z.output<typeof SkipReason>;

export const BatchAnswer = z.object({
  count: z.int().describe('Requests, or with dryRun what would be requested'),
  estimatedSeconds: z.int(),
  batch: SubtitleBatch.optional().describe('Absent with dryRun and when nothing was queued'),
  skipped: z.array(z.object({ itemId: Id, reason: SkipReason })).optional(),
});
export type BatchAnswer = z.output<typeof BatchAnswer>;

const Tool = z
  .object({
    allowed: z.boolean(),
    reason: z
      .enum([
        ...(['switched-off', 'not-permitted', 'no-provider', 'provider-down', 'no-model'] as const),
        ...(['allowance-spent', 'searches-spent'] as const),
      ])
      .optional(),
  })
  .meta({ id: 'SubtitleTool', description: 'Whether the caller may use a tool, and why not' });
export type Tool = z.output<typeof Tool>;

export const SubtitleCapabilities = z
  .object({
    find: Tool,
    fetch: Tool,
    sync: Tool,
    generate: Tool,
    admin: z.boolean().describe('Uses without an allowance'),
    allowance: SubtitleAllowance.optional().describe('Absent for administrators'),
    searches: z.object({ perHour: z.int(), left: z.int(), running: z.boolean() }).optional(),
    model: z
      .object({
        name: z.string().meta({ example: 'base' }),
        device: z.enum(['gpu', 'cpu']),
        state: z.enum(['ready', 'starting', 'asleep', 'unavailable']),
      })
      .optional(),
    secondsPerMinute: z.number().optional().describe('Of work for a minute of sound').meta({ example: 8.4 }),
    languages: z.array(z.string().meta({ example: 'en' })),
    translatesInto: z.array(z.string().meta({ example: 'en' })),
    waiting: z.object({ single: z.int(), batch: z.int() }),
    providers: z.array(
      z.object({
        id: z.string().meta({ example: 'opensubtitles' }),
        name: z.string().meta({ example: 'OpenSubtitles' }),
        kind: z.enum(['opensubtitles', 'plugin', 'folder']),
        ok: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'SubtitleCapabilities' });
export type SubtitleCapabilities = z.output<typeof SubtitleCapabilities>;
