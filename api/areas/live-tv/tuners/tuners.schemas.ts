import { RE2JS } from 're2js';
import { z } from 'zod';
import { Id, ManagedBy, queryBool, Timestamp } from '#kernel/schemas.ts';
import { uploaded } from '#kernel/uploads.ts';

export const TunerKind = z.enum(['hdhomerun', 'm3u']).meta({ id: 'TunerKind' });

export const TunerState = z
  .enum(['starting', 'ready', 'scanning', 'unreachable', 'disabled', 'failed'])
  .meta({ id: 'TunerState' });
export type TunerState = z.output<typeof TunerState>;

/** Largest uploaded playlist. */
export const PLAYLIST_BYTES = 64 << 20;
export const playlistMedia = ['audio/x-mpegurl', 'application/vnd.apple.mpegurl', 'text/plain'] as const;

/** Whether RE2 knows the expression: its matches take time linear in the name. */
function isExpression(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}

const Match = z
  .string()
  .min(1)
  .max(200)
  .refine(isExpression, { error: 'a regular expression of RE2', params: { code: 'bad_expression' } })
  .meta({ example: '(?i)sport' })
  .describe('A regular expression of RE2 over the name');
const Globs = z
  .array(
    z
      .string()
      .max(100)
      .regex(/^[^/\\]{1,100}$/),
  )
  .max(200)
  .describe('Names or numbers, with `*`, `?` and classes such as [1-3]');

/** Which entries of a lineup are meant: those of a group, of the expression, or of a glob. */
export const Choice = z
  .strictObject({
    groups: z
      .array(z.string().max(200).meta({ example: 'News' }))
      .max(2000)
      .default([]),
    match: Match.optional(),
    globs: Globs.optional(),
  })
  .meta({ id: 'TunerChoice' });
export type Choice = z.output<typeof Choice>;

const ShownChoice = z
  .object({
    groups: z.array(z.string()).meta({ example: ['News'] }),
    match: z.string().meta({ example: '^One' }).optional(),
    globs: z
      .array(z.string())
      .meta({ example: ['One*'] })
      .optional(),
  })
  .meta({ id: 'ShownTunerChoice' });

const Slot = z.object({
  index: z.int(),
  state: z.enum(['free', 'tuned', 'foreign']),
  channelId: Id.optional(),
  viewers: z.int(),
  recordings: z.int(),
  signalPercent: z.int().optional(),
  qualityPercent: z.int().optional(),
  bitrate: z.int().optional(),
});
export type Slot = z.output<typeof Slot>;

const LastScan = z.object({
  at: Timestamp,
  found: z.int(),
  added: z.int(),
  missing: z.int(),
  drm: z.int(),
  skipped: z.int(),
  durationMs: z.int(),
});
export type LastScan = z.output<typeof LastScan>;

export const Tuner = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Roof' }),
    kind: TunerKind,
    managedBy: ManagedBy.optional(),
    managedFields: z
      .array(z.string())
      .meta({ example: ['name'] })
      .optional(),
    libraryId: Id,
    url: z.string().meta({ example: 'http://192.168.1.20' }).optional().describe('Credentials are masked'),
    deviceId: z.string().meta({ example: '1234ABCD' }).optional().describe('Of a device that is found by broadcast'),
    uploaded: z.boolean(),
    enabled: z.boolean(),
    priority: z.int(),
    slotCount: z.int(),
    userAgent: z.string().meta({ example: 'Foyer' }).optional(),
    headerNames: z.array(z.string()).meta({ example: ['x-token'] }),
    include: ShownChoice.optional(),
    exclude: ShownChoice.optional(),
    numbering: z.enum(['source', 'sequential']),
    bufferMinutes: z.int().optional(),
    recordingsFolderId: Id.optional(),
    refreshHours: z.int(),
    state: TunerState,
    stateReason: z.string().meta({ example: 'no-answer' }).optional(),
    device: z
      .object({
        id: z.string().meta({ example: '1234ABCD' }),
        model: z.string().meta({ example: 'HDHR5-4K' }),
        firmware: z.string().meta({ example: '20240101' }),
      })
      .optional(),
    channels: z.int(),
    lastScan: LastScan.optional(),
    scan: z.object({ progress: z.number(), found: z.int() }).optional(),
    guideSourceId: Id.optional(),
    slots: z.array(Slot),
    pod: z
      .object({
        name: z.string().meta({ example: 'roof-tuner-0' }),
        node: z.string().meta({ example: 'node-1' }),
        ready: z.boolean(),
        restarts: z.int(),
      })
      .optional(),
  })
  .meta({ id: 'Tuner' });
export type Tuner = z.output<typeof Tuner>;

export const TunerList = z.object({ items: z.array(Tuner) });

export const TunerFound = z
  .object({
    kind: TunerKind,
    url: z.string().meta({ example: 'http://192.168.1.20' }),
    deviceId: z.string().meta({ example: '1234ABCD' }),
    model: z.string().meta({ example: 'HDHR5-4K' }),
    slotCount: z.int(),
    name: z.string().meta({ example: 'Roof' }),
    knownTunerId: Id.optional(),
  })
  .meta({ id: 'TunerFound' });

export const Discovered = z.object({
  items: z.array(TunerFound),
  broadcast: z.boolean(),
  note: z.string().meta({ example: 'No broadcast' }).optional(),
});

const Name = z
  .string()
  .max(60)
  .regex(/^[!-~\u00a1-\uffff][ -~\u00a0-\uffff]*$/)
  .meta({ example: 'Roof' });
const Address = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[^\s/?#]\S*$/i)
  .meta({ example: 'http://192.168.1.20' });
const DeviceId = z
  .string()
  .regex(/^[0-9A-Fa-f]{8}$/)
  .meta({ example: '10AA5474' });
/** Headers that the request itself sets stay out. */
const HeaderName = z
  .string()
  .max(100)
  .regex(/^(?![Hh][Oo][Ss][Tt]$)(?![Cc][Oo][Nn])(?![Tt][Rr][Aa][Nn][Ss])[A-Za-z][A-Za-z0-9-]*$/);
const Headers = z.record(
  HeaderName,
  z
    .string()
    .max(4096)
    .regex(/^[\t\x20-\x7e]*$/),
);
const UserAgent = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\x20-\x7e]+$/);

const fields = {
  userAgent: UserAgent,
  headers: Headers,
  include: Choice,
  exclude: Choice,
  bufferMinutes: z.int().min(0).max(360),
  recordingsFolderId: Id,
};
const always = {
  slotCount: z.int().min(1).max(100),
  priority: z.int().min(0).max(100),
  refreshHours: z.int().min(1).max(168),
  enabled: z.boolean(),
  numbering: z.enum(['source', 'sequential']),
};

export const TunerDraft = z.strictObject({
  name: Name,
  kind: TunerKind,
  libraryId: Id,
  url: Address.optional(),
  deviceId: DeviceId.optional().describe('Of an HDHomeRun, found by broadcast'),
  playlist: uploaded.optional().describe('An extended M3U playlist, instead of url'),
  ...z.object(fields).partial().shape,
  slotCount: always.slotCount.optional(),
  priority: always.priority.default(50),
  refreshHours: always.refreshHours.default(24),
  enabled: always.enabled.default(true),
  numbering: always.numbering.default('source'),
  managedBy: ManagedBy.optional().describe("The operator's key only"),
});
export type TunerDraft = z.output<typeof TunerDraft>;

const nullable = Object.fromEntries(
  Object.entries(fields).map(([name, schema]) => [name, schema.nullable().optional()]),
) as { [K in keyof typeof fields]: z.ZodOptional<z.ZodNullable<(typeof fields)[K]>> };

export const TunerChange = z.strictObject({
  name: Name.optional(),
  url: Address.optional().describe('The masked address that was read is no change'),
  deviceId: DeviceId.optional(),
  playlist: uploaded.optional().describe('Replaces an uploaded playlist'),
  ...nullable,
  ...z.object(always).partial().shape,
  managedBy: ManagedBy.nullable().optional().describe("The operator's key only; null sets it free"),
  force: z.boolean().default(false),
});
export type TunerChange = z.output<typeof TunerChange>;

export const TunerQuery = z.object({ force: queryBool.optional() });

export const DiscoverBody = z.strictObject({
  addresses: z
    .array(
      z
        .string()
        .max(253)
        .regex(
          /^([A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?|[0-9.]{7,15}\/(2[4-9]|3[0-2]))$/,
        )
        .meta({ example: '192.168.1.20' }),
    )
    .max(64)
    .default([])
    .describe('Hosts, with a port if it is not 80, or CIDRs of at most 256 addresses'),
  timeoutMs: z.int().min(500).max(10_000).default(3000),
});

export const ScanBody = z.strictObject({
  deep: z.boolean().default(false).describe('The device searches its frequencies again'),
  prune: z.boolean().default(false).describe('Drops sources that are missing for 3 scans'),
});
