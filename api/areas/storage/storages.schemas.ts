import { z } from 'zod';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { Bytes, commaList, Id, ManagedBy, Milliseconds, queryBool, RelativePath, Timestamp } from '#kernel/schemas.ts';
import { kindIds } from './kinds/ids.ts';

export const StorageState = z
  .enum(['connecting', 'available', 'degraded', 'suspect', 'unavailable', 'disabled'])
  .meta({ id: 'StorageState' });
export type StorageState = z.output<typeof StorageState>;

export const reasons = [
  'timeout',
  'not-mounted',
  'permission-denied',
  'authentication-failed',
  'host-unreachable',
  'certificate-invalid',
  'host-key-changed',
  'bucket-missing',
  'root-missing',
  'root-empty',
  'marker-missing',
  'marker-differs',
  'sample-differs',
  'read-only-now',
  'slow',
  'full',
  'plugin-down',
  'authorization-expired',
  'some-pods-only',
] as const;
export const StorageReason = z.enum(reasons).meta({ id: 'StorageReason' });
export type StorageReason = z.output<typeof StorageReason>;

const Kind = z.enum(kindIds).meta({ id: 'StorageKindId' });

export const StorageCapabilities = z
  .object({
    write: z.boolean(),
    watch: z.enum(['events', 'poll', 'none']),
    rangeRead: z.boolean(),
    move: z.boolean(),
    space: z.boolean().describe('Reports its free space'),
    etag: z.boolean(),
    maxReaders: z.int(),
  })
  .meta({ id: 'StorageCapabilities' });
export type StorageCapabilities = z.output<typeof StorageCapabilities>;

export const StorageCapacity = z
  .object({ totalBytes: Bytes, freeBytes: Bytes, at: Timestamp })
  .meta({ id: 'StorageCapacity' });
export type StorageCapacity = z.output<typeof StorageCapacity>;

export const StorageUsage = z
  .object({
    items: z.int(),
    files: z.int(),
    sizeBytes: Bytes,
    byLibrary: z.array(z.object({ libraryId: Id, files: z.int(), sizeBytes: Bytes })),
    trashBytes: Bytes,
    missingFiles: z.int(),
    at: Timestamp,
  })
  .meta({ id: 'StorageUsage' });
export type StorageUsage = z.output<typeof StorageUsage>;

const SettingValues = z.record(z.string(), z.unknown());

export const Storage = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'films' }),
    kind: z.string().meta({ example: 'mount' }),
    state: StorageState,
    reason: StorageReason.optional(),
    stateSince: Timestamp,
    enabled: z.boolean(),
    readOnly: z.boolean(),
    settings: SettingValues.describe("By kind; of others' drives only the host"),
    secrets: z.record(z.string(), z.boolean()).describe('Whether each is set; never a value'),
    capabilities: StorageCapabilities,
    capacity: StorageCapacity.optional(),
    latencyMs: Milliseconds.optional(),
    lastCheckAt: Timestamp.optional(),
    lastAvailableAt: Timestamp.optional(),
    identity: z.object({
      method: z.enum(['marker', 'filesystem', 'sample']),
      epoch: z.int(),
      markedAt: Timestamp.optional(),
    }),
    ownerId: Id.optional().describe('The account that connected it'),
    authorization: z
      .object({
        state: z.enum(['waiting', 'granted', 'expired', 'refused']),
        url: z.string().optional(),
        userCode: z.string().optional(),
        expiresAt: Timestamp.optional(),
      })
      .optional(),
    libraries: z.array(z.object({ id: Id, name: z.string().meta({ example: 'Films' }), folders: z.int() })),
    usage: StorageUsage.optional().describe('With include usage'),
    managedBy: ManagedBy.optional(),
    managedFields: z.array(z.string()).optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Storage' });
export type Storage = z.output<typeof Storage>;

export const StorageList = z.object({ items: z.array(Storage) });

export const StorageKind = z
  .object({
    id: z.string().meta({ example: 's3' }),
    name: z.string().meta({ example: 'S3 bucket' }),
    pluginId: z.string().optional(),
    personal: z.boolean().describe('A member may connect one'),
    authorization: z.enum(['none', 'oauth2', 'login-flow']),
    settingsSchema: z.record(z.string(), z.unknown()).describe('JSON Schema 2020-12; x-order is the order of a form'),
    secretKeys: z.array(z.string().meta({ example: 'password' })),
    capabilities: StorageCapabilities,
    available: z.boolean(),
    unavailableReason: z.string().optional(),
  })
  .meta({ id: 'StorageKind' });
export type StorageKind = z.output<typeof StorageKind>;

export const StorageKindList = z.object({ items: z.array(StorageKind) });

export const checkSteps = ['resolve', 'connect', 'authenticate', 'identity', 'list', 'read', 'write', 'space'] as const;
export type CheckStep = (typeof checkSteps)[number];

export const StorageCheck = z
  .object({
    storageId: Id.optional(),
    ok: z.boolean(),
    state: StorageState,
    reason: StorageReason.optional(),
    message: z.string().optional(),
    steps: z.array(
      z.object({
        name: z.enum(checkSteps),
        ok: z.boolean(),
        ms: Milliseconds,
        reason: StorageReason.optional(),
        detail: z.string().optional(),
      }),
    ),
    pods: z
      .array(
        z.object({
          pod: z.string().meta({ example: 'home-api-0' }),
          role: z.enum(['api', 'worker', 'transcode']),
          ok: z.boolean(),
          ms: Milliseconds,
          reason: StorageReason.optional(),
          at: Timestamp,
        }),
      )
      .optional()
      .describe('Of mounts'),
    capabilities: StorageCapabilities.optional(),
    capacity: StorageCapacity.optional(),
    entries: z.int().optional().describe('Seen at the root, at most 1,000'),
    at: Timestamp,
  })
  .meta({ id: 'StorageCheck' });
export type StorageCheck = z.output<typeof StorageCheck>;

export const Entry = z
  .object({
    name: z.string().meta({ example: 'Films' }),
    path: z.string().describe('Relative to the storage or the media root').meta({ example: 'video/Films' }),
    kind: z.enum(['directory', 'file', 'other']),
    sizeBytes: Bytes.optional(),
    modifiedAt: Timestamp.optional(),
    readable: z.boolean(),
    hasChildren: z.boolean().optional(),
    usedBy: z.array(z.object({ libraryId: Id, name: z.string().meta({ example: 'Films' }) })).optional(),
    symlink: z.boolean().optional(),
  })
  .meta({ id: 'Entry' });
export type Entry = z.output<typeof Entry>;

export const HostRoot = z
  .object({
    name: z.string().meta({ example: 'films' }),
    readOnly: z.boolean(),
    fileSystem: z.string().optional(),
    totalBytes: Bytes.optional(),
    freeBytes: Bytes.optional(),
    state: z.enum(['available', 'unavailable']),
    storageIds: z.array(Id),
    source: z.enum(['resource', 'environment']),
  })
  .meta({ id: 'HostRoot' });
export type HostRoot = z.output<typeof HostRoot>;

const Name = z
  .string()
  .meta({ example: 'films' })
  .max(200) // before blanks around it are removed
  .refine((name) => !/\p{Cc}/u.test(name), { error: 'no control characters', params: { code: 'control_character' } })
  .transform((name) => name.normalize('NFC').trim())
  .pipe(z.string().min(1).max(80));

/** Settings are validated by the schema of their kind. */
const SettingsIn = z.record(z.string().max(60), z.unknown()).meta({ example: { root: 'films', path: 'comedies' } });
const Secret = z.string().min(1).max(20_000);
const SecretsIn = z.record(z.string().max(60), Secret);

const includeUsage = commaList(z.enum(['usage']), 1).optional();

export const StoragesQuery = z.object({
  state: StorageState.optional(),
  kind: z.string().max(100).optional(),
  libraryId: Id.optional(),
  mine: queryBool.optional().describe('Only those that the caller connected'),
  include: includeUsage,
});
export const StorageQuery = z.object({ include: includeUsage });

export const StorageDraft = z.strictObject({
  name: Name,
  kind: Kind,
  settings: SettingsIn,
  secrets: SecretsIn.optional(),
  readOnly: z.boolean().default(true),
  check: z.boolean().default(true).describe('Tests it first, and saves nothing when the test fails'),
  takeOver: z.boolean().default(false).describe('Replaces the marker of another server'),
  managedBy: ManagedBy.optional().describe("The operator's key only"),
});
export type StorageDraft = z.output<typeof StorageDraft>;

export const StorageChange = z.strictObject({
  name: Name.optional(),
  settings: SettingsIn.optional().describe('Merged; null removes a member'),
  secrets: z.record(z.string().max(60), Secret.nullable()).optional().describe('Merged; null removes a secret'),
  readOnly: z.boolean().optional(),
  enabled: z.boolean().optional(),
  check: z.boolean().default(true),
});
export type StorageChange = z.output<typeof StorageChange>;

export const StorageTest = z.strictObject({
  kind: Kind,
  settings: SettingsIn,
  secrets: SecretsIn.optional(),
  storageId: Id.optional().describe('Secrets that are not given are taken from this storage'),
});
export type StorageTest = z.output<typeof StorageTest>;

export const IdentityBody = z.strictObject({
  accept: z.enum(['marker-differs', 'marker-missing', 'sample-differs', 'root-empty']),
  expectItemsMissing: z.boolean().default(false),
});

export const RelocateBody = z.strictObject({
  kind: Kind.optional(),
  settings: SettingsIn,
  secrets: SecretsIn.optional(),
  sample: z.int().min(10).max(2000).default(200),
  dryRun: z.boolean().default(false),
  force: z.boolean().default(false),
});
export type RelocateBody = z.output<typeof RelocateBody>;

export const Relocated = z.object({
  dryRun: z.boolean(),
  checked: z.int(),
  matched: z.int(),
  missing: z.array(z.string().meta({ example: 'A (2001)/A.mkv' })).describe('The first 50'),
  differing: z.array(z.string().meta({ example: 'B (2002)/B.mkv' })).describe('The first 50'),
  storage: Storage,
});
export type Relocated = z.output<typeof Relocated>;

const contains = z.string().min(1).max(100).optional().describe('Part of the name');

export const entrySorts = ['name', 'modifiedAt'] as const;
export const EntriesQuery = z.object({
  ...pageQuery,
  sort: sortQuery(entrySorts),
  path: RelativePath.default(''),
  kind: z.enum(['directory', 'any']).default('directory'),
  q: contains,
});
export type EntriesQuery = z.output<typeof EntriesQuery>;

export const HostQuery = z.object({
  ...pageQuery,
  sort: sortQuery(['name']),
  root: z.string().min(1).max(63).optional().describe('Name of a media root; without it the answer lists the roots'),
  path: RelativePath.default(''),
  q: contains,
});
export type HostQuery = z.output<typeof HostQuery>;

export const DriveDraft = z.strictObject({
  kind: z.string().max(100).meta({ example: 'webdav' }),
  name: Name,
  settings: SettingsIn.optional(),
  secrets: SecretsIn.optional(),
  returnUrl: z.string().max(2000).optional().describe("On this server's own origin"),
});
export type DriveDraft = z.output<typeof DriveDraft>;

export const AuthorizationStart = z.strictObject({ returnUrl: z.string().max(2000).optional() });
export const AuthorizationEnd = z
  .strictObject({
    state: z.string().min(1).max(200),
    code: z.string().min(1).max(4096).optional(),
    error: z.string().min(1).max(500).optional(),
  })
  .refine(({ code, error }) => (code === undefined) !== (error === undefined), {
    error: 'exactly one of code and error',
    params: { code: 'one_of' },
  })
  .meta({ example: { state: 'q83JkX0w', code: 'SplxlOBeZQQYbYS6WxSbIA' } });
