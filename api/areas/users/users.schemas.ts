import { z } from 'zod';
import { AccessDraft, AccessParts, AccountAccess, TimeZone, Username } from '#areas/accounts/public.ts';
import { Profile } from '#areas/auth/public.ts';
import { Permission, permissions, Role } from '#identity/permissions.ts';
import { pageQuery } from '#kernel/page.ts';
import { Account, Bytes, commaList, Id, Language, ManagedBy, Moment, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';

/** Roles that an account can be given: Setup creates the owner, and Server account transfers the ownership. */
export const GivenRole = z.enum(['admin', 'member', 'child', 'guest']);
export type GivenRole = z.output<typeof GivenRole>;

export const UserState = z.enum(['active', 'disabled', 'password-due', 'expired']);

const Cell = z.object({
  allowed: z.boolean(),
  source: z.enum(['role', 'granted', 'withheld']),
  changeable: z.boolean().describe('By the caller'),
});

export const PermissionRow = z
  .object({
    userId: Id,
    displayName: z.string().meta({ example: 'Ada' }),
    role: Role,
    permissions: z.object(
      Object.fromEntries(permissions.map((name) => [name, Cell])) as Record<Permission, typeof Cell>,
    ),
  })
  .meta({ id: 'PermissionRow' });
export type PermissionRow = z.output<typeof PermissionRow>;

const count = z.int().min(0);

export const User = Account.extend({
  state: UserState,
  expiresAt: Timestamp.optional().describe('Then it is as if disabled'),
  hasPassword: z.boolean(),
  twoFactor: z.boolean(),
  oidc: z.boolean(),
  profiles: count,
  devices: count,
  activeSessions: count,
  streamsNow: count,
  storageBytes: Bytes.describe('Of uploads'),
  invitedBy: z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) }).optional(),
  managedBy: ManagedBy.optional(),
  note: z.string().optional().describe('For admins'),
  listed: z.boolean().describe('Among the tiles of the sign-in page'),
  discoverable: z.boolean().describe('Others may share with it'),
  updatedAt: Timestamp,
  revision: z.int(),
}).meta({ id: 'User' });
export type User = z.output<typeof User>;

export const ListedUser = User.extend({ access: AccountAccess.optional(), permissions: PermissionRow.optional() }).meta(
  {
    id: 'ListedUser',
  },
);
export type ListedUser = z.output<typeof ListedUser>;

export const UserDetail = User.omit({ email: true })
  .extend({
    access: AccountAccess,
    permissions: PermissionRow,
    email: z.object({ address: z.string().meta({ example: 'ada@media.example' }), verified: z.boolean() }).optional(),
    language: Language.optional().meta({ example: 'en' }),
    timeZone: z.string().optional().meta({ example: 'Europe/London' }),
    profileList: z.array(Profile),
    lastSignIn: z
      .object({
        at: Timestamp,
        method: z.string(),
        address: z.string().optional().meta({ example: '192.0.2.17' }),
        device: z.string().optional(),
      })
      .optional(),
  })
  .meta({ id: 'UserDetail' });
export type UserDetail = z.output<typeof UserDetail>;

export const NewUser = UserDetail.extend({
  resetUrl: z.string().optional().describe('When no password was given; shown here only'),
}).meta({ id: 'NewUser' });

const DisplayName = z.string().trim().min(1).max(60);
const Email = z.string().trim().max(254).pipe(z.email()).describe('Not verified by being given here');
const Note = z.string().max(500);

export const RequestedPermissions = z
  .partialRecord(Permission, z.boolean())
  .describe('Permissions granted or withheld relative to the role');
export type RequestedPermissions = z.output<typeof RequestedPermissions>;

export const UserDraft = z.strictObject({
  username: Username.meta({ example: 'ada' }),
  displayName: DisplayName.optional().meta({ example: 'Ada' }),
  role: GivenRole.default('member'),
  password: z
    .string()
    .max(256)
    .optional()
    .describe('Absent creates a link to set one; a child needs none')
    .meta({ example: 'correct horse battery staple' }),
  mustChangePassword: z.boolean().default(true),
  email: Email.optional(),
  sendInvite: z.boolean().default(false).describe('Mails the link where mail is set up'),
  access: AccessParts.optional(),
  permissions: RequestedPermissions.default({}),
  expiresAt: Moment.optional(),
  language: Language.optional().meta({ example: 'en' }),
  note: Note.optional(),
});
export type UserDraft = z.output<typeof UserDraft>;

export const UserChange = z.strictObject({
  username: Username.optional().meta({ example: 'ada' }),
  displayName: DisplayName.optional().meta({ example: 'Ada' }),
  role: GivenRole.optional(),
  disabled: z.boolean().optional(),
  email: Email.nullable().optional(),
  expiresAt: Moment.nullable().optional(),
  language: Language.nullable().optional().meta({ example: 'en' }),
  timeZone: TimeZone.nullable().optional().meta({ example: 'Europe/London' }),
  note: Note.nullable().optional(),
  listed: z.boolean().optional(),
  discoverable: z.boolean().optional(),
  revision: z.int().optional(),
});
export type UserChange = z.output<typeof UserChange>;

const RANK_COLUMN = `array_position(array['owner', 'admin', 'member', 'child', 'guest'], a.role)`;
export const userSorts: SortTable = {
  displayName: { column: 'lower(a.display_name)', type: 'text' },
  username: { column: 'a.username_folded', type: 'text' },
  role: { column: RANK_COLUMN, type: 'int' },
  createdAt: { column: 'a.created_at', type: 'timestamptz' },
  lastSeenAt: { column: 'a.last_seen_at', type: 'timestamptz', nullable: true },
};

export const UsersQuery = z.object({
  ...pageQuery,
  sort: sortQuery(userSorts),
  include: commaList(z.enum(['access', 'permissions']), 2).optional(),
  q: z.string().trim().min(1).max(60).optional().describe('In name, display name or address'),
});

export const DeleteUserQuery = z.object({
  confirm: z.string().max(64).describe('The username'),
  transferTo: Id.optional().describe(
    'Account that gets shared playlists, collections and personal storages; they are deleted otherwise',
  ),
});

export const AccessPut = AccessDraft.extend({ revision: z.int().optional() });
export const AccessAnswer = AccountAccess.extend({
  managed: z
    .array(z.object({ libraryId: Id, by: ManagedBy }))
    .describe('Named here, but a resource declares who reaches them'),
  visibleItems: count.describe('Number of items that the account sees now; an estimate beyond 10,000'),
}).meta({ id: 'AccessAnswer' });

const Names = z.array(Permission).max(permissions.length);
export const PermissionsPut = z.strictObject({ grant: Names, withhold: Names });

export const MatrixQuery = z.object({ ...pageQuery, userId: Id.optional() });
export const matrixExtra = {
  permissions: z.array(
    z.object({
      name: Permission,
      description: z.string().meta({ example: 'See libraries and play from them' }),
    }),
  ),
  roles: z.object(
    Object.fromEntries(Role.options.map((role) => [role, z.array(Permission)])) as Record<
      Role,
      z.ZodArray<typeof Permission>
    >,
  ),
};

export const SignInReset = z.strictObject({
  link: z.boolean().default(true).describe('Creates a link with which the person sets a new password'),
  hours: z.int().min(1).max(168).default(24),
  sendMail: z.boolean().default(false),
  endSessions: z.boolean().default(true),
  removeTwoFactor: z.boolean().default(false),
  removePasskeys: z.boolean().default(false),
  revokeKeys: z.boolean().default(false),
});
export type SignInReset = z.output<typeof SignInReset>;

export const SignInResetAnswer = z
  .object({
    url: z.string().optional().describe('Shown here only').meta({ example: 'https://hooks.example/foyer' }),
    expiresAt: Timestamp.optional(),
    endedSessions: count,
    revokedKeys: count,
    mailed: z.boolean(),
  })
  .meta({ id: 'SignInReset' });
