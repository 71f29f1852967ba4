import { z } from 'zod';
import { filterQuery } from '#kernel/filter.ts';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { Id, Milliseconds, queryBool, Timestamp } from '#kernel/schemas.ts';
import { Recording, recordingOptions } from '../recordings/recordings.schemas.ts';
import { ruleFields } from './rule-fields.ts';

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const Day = z.enum(DAYS);
const Clock = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .meta({ example: '20:00' });
const Name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]+$/u)
  .meta({ example: 'The Evening News' });

export const RecordingRule = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'The Evening News' }),
    enabled: z.boolean(),
    match: z.string().meta({ example: 'title:eq:The Evening News' }).describe('Conditions on programmes'),
    channelIds: z.array(Id).describe('Empty is every channel'),
    newOnly: z.boolean().describe('Without repeats'),
    skipOwned: z.boolean().describe('Without episodes that were recorded or are in a library'),
    days: z.array(Day).describe('On which a programme begins; empty is every day'),
    from: z.string().meta({ example: '20:00' }).optional().describe('Earliest start, in the time zone of the server'),
    to: z.string().meta({ example: '23:00' }).optional().describe('Latest start'),
    startPadMs: Milliseconds,
    endPadMs: Milliseconds,
    priority: z.int(),
    keepLast: z.int().optional(),
    keepDays: z.int().optional(),
    maxUpcoming: z.int(),
    libraryId: Id,
    folderId: Id.optional(),
    ownerUserId: Id.optional().describe('Absent once the account is gone'),
    mine: z.boolean(),
    upcoming: z.int(),
    conflicts: z.int(),
    recorded: z.int(),
    createdAt: Timestamp,
  })
  .meta({ id: 'RecordingRule' });
export type RecordingRule = z.output<typeof RecordingRule>;

const { libraryId, folderId, startPadMs, endPadMs, priority, keepDays } = recordingOptions;

const match = filterQuery(ruleFields, 'Conditions on programmes, one of them on title, series or category').unwrap();

const options = {
  name: Name.optional(),
  match: match.optional(),
  channelIds: z
    .array(Id)
    .max(100)
    .transform((ids) => [...new Set(ids)])
    .optional(),
  newOnly: z.boolean().optional(),
  skipOwned: z.boolean().optional(),
  days: z.array(Day).max(7).optional().describe('Hours over midnight belong to the day on which they begin'),
  from: Clock.nullable().optional(),
  to: Clock.nullable().optional().describe('Before `from`, it is on the next day'),
  startPadMs: startPadMs.optional(),
  endPadMs: endPadMs.optional(),
  priority: priority.optional(),
  keepLast: z.int().min(1).max(100).nullable().optional(),
  keepDays: keepDays.nullable().optional(),
  maxUpcoming: z.int().min(1).max(200).optional(),
  libraryId: libraryId.optional(),
  folderId: folderId.optional(),
  enabled: z.boolean().optional(),
};

export const RuleDraft = z
  .strictObject({
    ...options,
    programId: Id.optional().describe('Makes the match from its series, or from its title'),
    dryRun: z.boolean().default(false).describe('Saves nothing'),
  })
  .refine((draft) => (draft.programId === undefined) !== (draft.match === undefined), {
    error: 'exactly one of programId and match',
    params: { code: 'one_of' },
    path: ['match'],
  })
  .meta({ example: { programId: '0199c3f0-0000-7000-8000-000000000001' } });
export type RuleDraft = z.output<typeof RuleDraft>;

export const RuleChange = z
  .strictObject({
    ...options,
    folderId: folderId.nullable().optional().describe('Null is the folder that recordings usually go to'),
    ownerUserId: Id.optional().describe('With library:manage'),
    dryRun: z.boolean().default(false).describe('Saves nothing'),
  })
  .meta({ example: { enabled: false } });
export type RuleChange = z.output<typeof RuleChange>;

const SkipReason = z
  .enum(['owned', 'repeat', 'limit', 'duplicate'])
  .describe(
    '`owned`: it was recorded or is in a library. `repeat`: it is not new. `duplicate`: it is planned, or another airing of it. `limit`: there are maxUpcoming, or 500 of the account',
  );

export const RuleSkipped = z.object({ programId: Id, reason: SkipReason });
export type RuleSkipped = z.output<typeof RuleSkipped>;

export const RuleDetail = z.object({
  rule: RecordingRule,
  upcoming: z
    .array(Recording)
    .describe(
      'With `dryRun`, the recordings of others that would lose their slot follow; ids of new ones name nothing',
    ),
});
export type RuleDetail = z.output<typeof RuleDetail>;
export const RuleMade = RuleDetail.extend({ skipped: z.array(RuleSkipped) });
export type RuleMade = z.output<typeof RuleMade>;

export const ruleSorts: SortTable = {
  priority: { column: 'u.priority', type: 'int', descends: true },
  name: { column: 'foyer_fold(u.name)', type: 'text' },
  createdAt: { column: 'u.created_at', type: 'timestamptz' },
};

export const RulesQuery = z.object({
  ...pageQuery,
  mine: queryBool.optional().describe("The account's own alone"),
  sort: sortQuery(ruleSorts),
});
export type RulesQuery = z.output<typeof RulesQuery>;
