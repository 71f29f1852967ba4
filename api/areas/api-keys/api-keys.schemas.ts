import { z } from 'zod';
import { Permission, permissions } from '#identity/permissions.ts';
import { pageQuery } from '#kernel/page.ts';
import { Id, ManagedBy, Moment, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';

export const KeyState = z.enum(['active', 'expired', 'revoked']);
export type KeyState = z.output<typeof KeyState>;

const PerMinute = z.int().min(1).max(10_000).describe('Requests a minute, over all replicas');
const Name = z.string().trim().min(1).max(60);
const Scopes = z
  .array(Permission)
  .min(1)
  .max(permissions.length)
  .transform((scopes) => permissions.filter((permission) => scopes.includes(permission)));
const Expiry = Moment.nullable().describe('1 minute to 10 years ahead; null never expires');

export const ApiKey = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Backups' }),
    hint: z.string().describe('`foyer_` and the first 4 characters').meta({ example: 'foyer_9f' }),
    owner: z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) }),
    profileId: Id.optional().describe('Absent is the main profile'),
    scopes: z.array(Permission),
    effectiveScopes: z.array(Permission).describe('Scopes that the account still has'),
    requestsPerMinute: PerMinute.meta({ example: 600 }),
    state: KeyState,
    expiresAt: Timestamp.nullable(),
    createdAt: Timestamp,
    createdFrom: z.object({
      deviceName: z.string().nullable().meta({ example: 'Living room' }),
      address: z.string().nullable().meta({ example: '192.0.2.17' }),
    }),
    lastUsedAt: Timestamp.nullable().describe('To the minute'),
    lastAddress: z.string().nullable().meta({ example: '192.0.2.17' }),
    lastClientName: z.string().nullable(),
    requestsToday: z.int().min(0).describe('Since midnight UTC, to the minute'),
    revokedAt: Timestamp.nullable(),
    managedBy: ManagedBy.optional(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof ApiKey>;

export const NewApiKey = ApiKey.extend({
  secret: z
    .string()
    .optional()
    .describe('Shown here only, and not to a repeat; the server keeps its SHA-256')
    .meta({ example: 'JBSWY3DPEHPK3PXP' }),
}).meta({ id: 'NewApiKey' });

export const ApiKeyDraft = z.strictObject({
  name: Name.meta({ example: 'Backups' }),
  scopes: Scopes,
  expiresAt: Expiry,
  requestsPerMinute: PerMinute.default(600).meta({ example: 600 }),
  profileId: Id.optional().describe('A profile of the account; absent is the main one'),
});
export type ApiKeyDraft = z.output<typeof ApiKeyDraft>;

export const ApiKeyChange = z.strictObject({
  name: Name.optional(),
  scopes: Scopes.optional(),
  expiresAt: Expiry.optional(),
  requestsPerMinute: PerMinute.optional().meta({ example: 600 }),
});
export type ApiKeyChange = z.output<typeof ApiKeyChange>;

export const apiKeySorts: SortTable = {
  createdAt: { column: 'k.created_at', type: 'timestamptz' },
  name: { column: 'lower(k.name)', type: 'text' },
  lastUsedAt: { column: 'k.last_used_at', type: 'timestamptz', nullable: true },
  expiresAt: { column: 'k.expires_at', type: 'timestamptz', nullable: true },
};

export const ApiKeysQuery = z.object({
  ...pageQuery,
  sort: sortQuery(apiKeySorts),
  userId: z
    .union([Id, z.literal('all')])
    .optional()
    .describe('Of another account, or all: needs user:manage'),
  state: KeyState.optional(),
});
