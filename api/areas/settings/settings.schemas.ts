import { z } from 'zod';
import { pageQuery } from '#kernel/page.ts';
import { commaList, Id, Language, ManagedBy, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';

const Value = z.unknown();
const Source = z.enum(['resource', 'saved', 'environment', 'default']);
const Key = z
  .string()
  .max(60)
  .regex(/^[a-z]+(\.[A-Za-z_-]+)+$/);
const Group = z.string().max(40);

export const Setting = z
  .object({
    key: z.string().meta({ example: 'metadata.language' }),
    value: Value.describe('null for a secret'),
    isSet: z.boolean().optional().describe('Of secrets'),
    source: Source,
    default: Value,
    managedBy: ManagedBy.optional(),
    updatedAt: Timestamp.optional(),
    updatedBy: z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) }).optional(),
  })
  .meta({ id: 'Setting' });
export type Setting = z.output<typeof Setting>;

export const SettingSpec = z
  .object({
    key: z.string().meta({ example: 'metadata.language' }),
    group: z.string().meta({ example: 'metadata' }),
    title: z.string().meta({ example: 'Language' }),
    description: z.string().meta({ example: 'Language of titles and descriptions' }),
    type: z.enum(['boolean', 'integer', 'number', 'string', 'enum', 'duration', 'bytes', 'list', 'map', 'reference']),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema 2020-12'),
    default: Value,
    unit: z.string().optional(),
    secret: z.boolean(),
    public: z.boolean().describe('Everyone is notified of changes'),
    ownerOnly: z.boolean(),
    checkable: z.boolean(),
    restarts: z.literal(false),
    affects: z.array(z.string()).meta({ example: ['scanning'] }),
    advanced: z.boolean(),
    environment: z.string().optional().describe('Name of the environment variable that may set it'),
    managed: z.boolean().describe('Declared by a resource'),
  })
  .meta({ id: 'SettingSpec' });
export type SettingSpec = z.output<typeof SettingSpec>;

const Items = z.array(Setting).max(500);

export const SettingsQuery = z.object({
  group: Group.optional(),
  keys: commaList(Key, 100).optional(),
  source: Source.optional(),
});

export const SettingsAnswer = z
  .object({
    revision: z.int(),
    values: z.record(z.string(), Value).describe('Without secrets'),
    items: Items,
  })
  .meta({ id: 'SettingsAnswer' });

const Note = z.string().trim().max(200);

export const SettingsChange = z.strictObject({
  values: z
    .record(z.string().max(60), Value)
    .refine((values) => Object.keys(values).length >= 1 && Object.keys(values).length <= 100, {
      error: '1 to 100 keys',
      params: { code: 'too_small' },
    })
    .meta({ minProperties: 1, maxProperties: 100, example: { 'metadata.language': 'en' } })
    .describe('null deletes the saved value'),
  revision: z.int().min(0).optional(),
  dryRun: z.boolean().default(false),
  note: Note.optional(),
});

export const ChangedSettings = z
  .object({
    revision: z.int(),
    changed: z.array(z.string()).meta({ example: ['metadata.language'] }),
    warnings: z.array(
      z.object({
        key: z.string().meta({ example: 'metadata.language' }),
        message: z.string().meta({ example: 'All is well' }),
      }),
    ),
    items: Items,
  })
  .meta({ id: 'ChangedSettings' });

export const SettingsSchemaQuery = z.object({
  group: Group.optional(),
  language: Language.optional().meta({ example: 'en' }),
});
export const SettingsSchema = z
  .object({
    groups: z
      .array(
        z.object({
          id: z.string().meta({ example: 'metadata' }),
          title: z.string().meta({ example: 'Metadata' }),
          description: z.string().meta({ example: 'Language of titles and descriptions' }),
          order: z.int(),
        }),
      )
      .max(100),
    items: z.array(SettingSpec).max(500),
  })
  .meta({ id: 'SettingsSchema' });

export const KeyParams = z.object({ key: Key.meta({ example: 'metadata.language' }) });
export const OneSetting = z.strictObject({ value: Value, note: Note.optional() });

export const checkGroups = ['auth.oidc', 'network', 'server', 'transcode', 'subtitles', 'metadata'] as const;
export const SettingsToCheck = z.strictObject({
  group: z.enum(checkGroups).meta({ example: 'metadata' }),
  values: z.record(z.string().max(60), Value).optional().describe('Unsaved values that replace those in force'),
});
export const SettingCheck = z
  .object({
    group: z.string().meta({ example: 'metadata' }),
    ok: z.boolean(),
    steps: z.array(
      z.object({
        name: z.string().meta({ example: 'Films' }),
        state: z.enum(['ok', 'warning', 'failed', 'skipped']),
        message: z.string().meta({ example: 'All is well' }),
        tookMs: z.int(),
      }),
    ),
  })
  .meta({ id: 'SettingCheck' });
export type SettingCheck = z.output<typeof SettingCheck>;

export const SettingChange = z
  .object({
    id: Id,
    key: z.string().meta({ example: 'metadata.language' }),
    from: Value.optional().describe('null for secrets'),
    to: Value.optional().describe('null for secrets'),
    source: z.enum(['saved', 'resource', 'reset', 'backup']),
    by: z
      .object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }), keyName: z.string().optional() })
      .optional(),
    at: Timestamp,
    revision: z.int(),
    note: z.string().optional(),
  })
  .meta({ id: 'SettingChange' });
export type SettingChange = z.output<typeof SettingChange>;

export const changeSorts: SortTable = { at: { column: 'c.at', type: 'timestamptz' } };

export const ChangesQuery = z.object({
  ...pageQuery,
  sort: sortQuery(changeSorts),
  key: Key.optional().meta({ example: 'metadata.language' }),
  group: Group.optional(),
});
