import { z } from 'zod';
import { includeQuery } from '#areas/items/public.ts';
import { LiveChannel, LiveSource, LiveTest } from '#areas/viewing/public.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { Bytes, Id, Language, queryBool, Timestamp } from '#kernel/schemas.ts';
import { channelFilter } from './channel-filter.ts';
import { NUMBER } from './numbers.ts';

export { LiveChannel, LiveSource, LiveTest };

const Kind = z.enum(['tv', 'radio']);
export const lockable = ['number', 'name', 'group', 'kind', 'enabled', 'ageRating', 'language', 'guide'] as const;

export const channelSorts = {
  number: { column: 'c.number_order', type: 'int' },
  name: { column: 'i.sort_title', type: 'text' },
  favorite: { column: '(f.profile_id is null)', type: 'boolean' },
  addedAt: { column: 'c.added_at', type: 'timestamptz', descends: true },
} as const;

const include = includeQuery(['now', 'next', 'sources']);

export const ChannelsQuery = z.object({
  ...pageQuery,
  q: z.string().min(1).max(100).optional().meta({ example: 'one' }),
  disabled: queryBool.optional().describe('Disabled channels too; needs library:manage'),
  sort: sortQuery(channelSorts),
  filter: channelFilter,
  include,
});
export type ChannelsQuery = z.output<typeof ChannelsQuery>;
export const ChannelQuery = z.object({ include });

const Name = z
  .string()
  .max(100)
  .regex(/^[!-~\u00a1-\uffff][ -~\u00a0-\uffff]*$/)
  .meta({ example: 'One HD' });
const Group = z
  .string()
  .max(200)
  .regex(/^[!-~\u00a1-\uffff][ -~\u00a0-\uffff]*$/)
  .meta({ example: 'News' });
const AgeRating = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[!-~\u00a1-\uffff][ -~\u00a0-\uffff]*$/)
  .meta({ example: '16' });

export const ChannelChange = z.strictObject({
  number: z.string().max(8).regex(NUMBER).optional().meta({ example: '2.1' }),
  name: Name.optional(),
  group: Group.nullable().optional(),
  kind: Kind.optional(),
  enabled: z.boolean().optional(),
  ageRating: AgeRating.nullable().optional(),
  language: Language.nullable().optional(),
  guide: z
    .strictObject({ guideSourceId: Id, guideChannelId: z.string().min(1).max(500).meta({ example: 'one.example' }) })
    .nullable()
    .optional(),
  sources: z
    .array(z.strictObject({ id: Id, enabled: z.boolean().optional() }))
    .max(100)
    .optional()
    .describe('The whole list in order; one of another channel moves here, one left out becomes a channel of its own'),
  unlock: z.array(z.enum(lockable)).max(20).optional(),
});
export type ChannelChange = z.output<typeof ChannelChange>;

const SetFields = z
  .strictObject({
    enabled: z.boolean().optional(),
    group: Group.nullable().optional(),
    ageRating: AgeRating.nullable().optional(),
    language: Language.nullable().optional(),
    kind: Kind.optional(),
  })
  .meta({ id: 'LiveChannelSet' });

const Renumber = z
  .strictObject({
    from: z.int().min(0).max(9999),
    step: z.int().min(1).max(1000).default(1),
    order: z.enum(['number', 'name', 'as-given']),
  })
  .meta({ id: 'LiveRenumber' });
export type Renumber = z.output<typeof Renumber>;

const actions = {
  set: SetFields.optional(),
  renumber: Renumber.optional(),
  merge: z.enum(['same-name', 'same-guide']).optional(),
};
export const ChannelsChange = z
  .strictObject({
    ids: z.array(Id).min(1).max(1000).optional(),
    filter: z.string().max(2000).meta({ example: 'group:eq:News' }).optional(),
    ...actions,
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
    error: 'exactly one of ids and filter',
    params: { code: 'one_of' },
  })
  .meta({ example: { filter: 'group:eq:News', set: { enabled: true } } });
export type ChannelsChange = z.output<typeof ChannelsChange>;

export const ChannelsChanged = z.object({
  matched: z.int(),
  changed: z.int(),
  merged: z.int(),
  conflicts: z
    .array(z.object({ id: Id, number: z.string().meta({ example: '2.1' }) }))
    .describe('Numbers that others have, at most 1,000'),
});

export const TestBody = z.strictObject({
  sourceId: Id.optional().describe('One source; absent tests all'),
  seconds: z.int().min(2).max(20).default(5),
});
export const TestResults = z.object({ results: z.array(LiveTest) });

export const GroupsQuery = z.object({ libraryId: Id.optional() });
export const LiveGroup = z
  .object({ name: z.string().meta({ example: 'News' }), channels: z.int(), enabled: z.int(), radio: z.int() })
  .meta({ id: 'LiveGroup' });
export const GroupList = z.object({ items: z.array(LiveGroup) });

export const LiveStatus = z
  .object({
    available: z.boolean(),
    libraryIds: z.array(Id),
    channels: z.object({ enabled: z.int(), total: z.int(), radio: z.int() }),
    tuners: z
      .object({ total: z.int(), ready: z.int(), slots: z.int(), slotsInUse: z.int() })
      .optional()
      .describe('With library:manage or download:own'),
    guide: z.object({
      coverageFrom: Timestamp.optional(),
      coverageUntil: Timestamp.optional(),
      channelsWithGuide: z.int(),
      refreshing: z.boolean(),
    }),
    dvr: z.object({
      open: z.boolean(),
      recordingNow: z.int(),
      scheduled: z.int(),
      conflicts: z.int(),
      usedBytes: Bytes.optional(),
      quotaBytes: Bytes.optional(),
      freeBytes: Bytes.optional(),
    }),
    bufferMinutes: z.int(),
    can: z.object({ watch: z.boolean(), record: z.boolean(), manage: z.boolean() }),
    serverTime: Timestamp,
    timeZone: z.string().meta({ example: 'Europe/Berlin' }),
  })
  .meta({ id: 'LiveStatus' });
