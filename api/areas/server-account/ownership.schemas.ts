import { z } from 'zod';
import { Id, ManagedBy, Timestamp } from '#kernel/schemas.ts';

const Somebody = z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) });
const Method = z.enum(['wizard', 'resource', 'transfer', 'recovery']);
const KeepRole = z.enum(['admin', 'member']);

export const OwnershipOffer = z
  .object({
    id: Id,
    to: Somebody,
    by: Somebody,
    keepRole: KeepRole.describe('Role of the former owner after the transfer'),
    message: z.string().optional().meta({ example: 'The server is yours from now on' }),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  })
  .meta({ id: 'OwnershipOffer' });

export const ServerClaim = z
  .object({
    serverId: Id,
    owner: Somebody.extend({ username: z.string().meta({ example: 'ada' }) }),
    claimedAt: Timestamp,
    method: Method,
    managedBy: ManagedBy.optional(),
    identity: z.object({
      algorithm: z.literal('EdDSA'),
      fingerprint: z
        .string()
        .describe('SHA-256 of the public key, hex: another one is another server')
        .meta({ example: '9f86d081884c7d65' }),
      since: Timestamp,
    }),
    offer: OwnershipOffer.optional().describe('For the owner and for the account that it is made to'),
    history: z
      .array(z.object({ from: Somebody.optional(), to: Somebody, at: Timestamp, method: Method }))
      .describe('Newest first, 20 at most'),
  })
  .meta({ id: 'ServerClaim' });

export const OfferServerClaim = z.strictObject({
  userId: Id,
  keepRole: KeepRole.default('admin'),
  message: z.string().max(300).optional().meta({ example: 'The server is yours from now on' }),
  currentPassword: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Needed unless the session is confirmed')
    .meta({ example: 'correct horse battery staple' }),
});
export const AcceptServerClaim = z.strictObject({ offerId: Id });
