import { z } from 'zod';
import { AccessParts, Username } from '#areas/accounts/public.ts';
import { CreationOptions, Keep, RegistrationResponse } from '#areas/auth/public.ts';
import { Role } from '#identity/permissions.ts';
import { pageQuery } from '#kernel/page.ts';
import { Id, Moment, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';
import { GivenRole, RequestedPermissions } from '../users.schemas.ts';

export const InviteState = z.enum(['open', 'used', 'expired', 'revoked']);
export type InviteState = z.output<typeof InviteState>;

const { libraries, ageLimit, limits, restrictions } = AccessParts.shape;
export const InviteTemplate = z
  .strictObject({
    ageLimit,
    permissions: RequestedPermissions.optional(),
    limits,
    restrictions,
  })
  .meta({ id: 'InviteTemplate' });
export type InviteTemplate = z.output<typeof InviteTemplate>;
export type InviteLibraries = z.output<typeof libraries>;

const Person = z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) });

export const Invite = z
  .object({
    id: Id,
    role: Role,
    displayName: z.string().optional().meta({ example: 'Ada' }),
    email: z.string().optional().meta({ example: 'ada@media.example' }),
    libraries: libraries,
    template: InviteTemplate.optional(),
    message: z.string().optional().meta({ example: 'Welcome to our films' }),
    uses: z.int().min(0),
    maxUses: z.int(),
    state: InviteState,
    url: z.string().optional().describe('Shown at creation only').meta({ example: 'https://hooks.example/foyer' }),
    mailed: z.boolean(),
    createdBy: Person,
    accepted: z.array(Person.extend({ at: Timestamp })),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  })
  .meta({ id: 'Invite' });
export type Invite = z.output<typeof Invite>;

export const InviteDraft = z.strictObject({
  role: GivenRole.default('member'),
  displayName: z.string().trim().min(1).max(60).optional().meta({ example: 'Ada' }),
  email: z
    .string()
    .trim()
    .max(254)
    .pipe(z.email())
    .optional()
    .describe('For this person: it works once')
    .meta({ example: 'ada@media.example' }),
  maxUses: z.int().min(1).max(50).default(1),
  expiresAt: Moment.optional().describe('7 days when absent, at most 90'),
  libraries,
  template: InviteTemplate.optional(),
  message: z.string().max(500).optional().meta({ example: 'Welcome to our films' }),
});
export type InviteDraft = z.output<typeof InviteDraft>;

export const inviteSorts: SortTable = {
  createdAt: { column: 'i.created_at', type: 'timestamptz' },
  expiresAt: { column: 'i.expires_at', type: 'timestamptz' },
};

export const InvitesQuery = z.object({
  ...pageQuery,
  sort: sortQuery(inviteSorts),
  state: InviteState.optional(),
});

const Code = z.string().min(1).max(100).describe("From the link's fragment");

export const CheckInvite = z.strictObject({ code: Code.meta({ example: 'x7Qm2VYtR9kPz4Ws' }) });
export const CheckedInvite = z
  .object({
    serverName: z.string().meta({ example: 'Home' }),
    invitedBy: z.string().meta({ example: 'Grace' }),
    role: Role,
    displayName: z.string().optional().meta({ example: 'Ada' }),
    message: z.string().optional().meta({ example: 'Welcome to our films' }),
    expiresAt: Timestamp,
    oidc: z.boolean(),
    passwordRules: z.object({ minLength: z.int(), maxLength: z.int() }),
    passkeyOptions: CreationOptions.optional().describe('Absent where browsers make no passkeys'),
  })
  .meta({ id: 'CheckedInvite' });

export const AcceptInvite = z
  .strictObject({
    code: Code.meta({ example: 'x7Qm2VYtR9kPz4Ws' }),
    username: Username.meta({ example: 'ada' }),
    displayName: z.string().trim().min(1).max(60).optional().meta({ example: 'Ada' }),
    password: z.string().max(256).optional().meta({ example: 'correct horse battery staple' }),
    passkey: RegistrationResponse.optional(),
    keep: Keep.default('both'),
    remember: z.boolean().default(true),
  })
  .refine(({ password, passkey }) => (password === undefined) !== (passkey === undefined), {
    error: 'a password or a passkey, one of them',
    params: { code: 'one_of' },
    path: ['password'],
  });
export type AcceptInvite = z.output<typeof AcceptInvite>;
