import { z } from 'zod';
import { pageQuery } from '#kernel/page.ts';
import { Id, queryBool, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';

const DeviceState = z.enum(['trusted', 'blocked']);

export const Device = z
  .object({
    id: Id.describe('The one device id of all areas'),
    clientId: z.string().describe('A hint: its first 8 characters').meta({ example: 'tv-living-room-01' }),
    name: z.string().meta({ example: 'Living room' }),
    clientName: z.string().optional().meta({ example: 'Living room' }),
    platform: z.string().optional().meta({ example: 'Android TV' }),
    state: DeviceState,
    online: z.boolean().describe('A request or an open event stream within the last 60 seconds'),
    current: z.boolean(),
    receiver: z.boolean(),
    sessions: z.int().min(0),
    keysUsed: z.int().min(0),
    lastProfile: z.object({ id: Id, name: z.string().meta({ example: 'Living room' }) }).optional(),
    lastAddress: z.string().optional().meta({ example: '192.0.2.17' }),
    isRemote: z.boolean(),
    firstSeenAt: Timestamp,
    lastSeenAt: Timestamp,
  })
  .meta({ id: 'Device' });
export type Device = z.output<typeof Device>;

export const deviceSorts: SortTable = {
  lastSeenAt: { column: 'd.last_seen_at', type: 'timestamptz' },
  name: { column: 'lower(d.name)', type: 'text' },
  firstSeenAt: { column: 'd.first_seen_at', type: 'timestamptz' },
};

export const DevicesQuery = z.object({
  ...pageQuery,
  sort: sortQuery(deviceSorts),
  state: DeviceState.optional(),
  online: queryBool.optional(),
});

export const DeviceParams = z.object({ id: Id, deviceId: Id });

export const DeviceChange = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(60)
    .regex(/^[^\p{C}]+$/u)
    .optional()
    .describe('Takes precedence over X-Client-Name')
    .meta({ example: 'Films' }),
  state: DeviceState.optional(),
});
