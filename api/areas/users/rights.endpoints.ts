import { AccessDraft, updateProfile } from '#areas/accounts/public.ts';
import { type Permission, permissions, type Role, rolePermissions, roles } from '#identity/permissions.ts';
import { audit } from '#kernel/audit.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { invalidAll } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { countVisible, writeAccess } from './access.ts';
import { refuseStale } from './change-user.ts';
import { requireRank } from './rank.ts';
import { checkedPermissions } from './requested-permissions.ts';
import {
  AccessAnswer,
  AccessPut,
  MatrixQuery,
  matrixExtra,
  PermissionRow,
  PermissionsPut,
  userSorts,
} from './users.schemas.ts';
import { getUserRow, lockUserRow, selectUsers, type UserRow, updateUserRow } from './users.store.ts';
import { toAccess, toPermissionRow } from './users.view.ts';

export const setUserAccess = defineEndpoint({
  operationId: 'setUserAccess',
  method: 'put',
  path: '/users/:id/access',
  summary: 'Replace what an account may see and use',
  description:
    'Replaces libraries, age limit, viewing hours, limits and restrictions as a whole, and takes effect with the next request. The caller needs a higher rank and can give no library beyond their own. With `revision`, a change in between is 409 `revision`. The answer counts the items that the account sees now.',
  access: { permission: 'user:manage' },
  params: IdParams,
  body: AccessPut,
  answer: json(200, AccessAnswer),
  errors: ['CONFLICT'],
  emits: ['library.access.granted'],

  async handle({ params, body: { revision, ...whole } }, call) {
    const { db, who } = call;
    const row = await lockUserRow(db, params.id);
    refuseStale(call, row, revision);
    requireRank(who, row.role);
    const { ageLimit = null, timeZone = null } = whole;
    const managed = await writeAccess(call, row, { ...AccessDraft.parse(whole), ageLimit, timeZone });
    await updateUserRow(db, row.id, {});
    await updateProfile(db, { account_id: row.id, labels_lost: true }, { labels_lost: false }); // setting access clears it
    const after = await getUserRow(db, row.id);
    await audit(call, 'user.access', { userId: row.id, before: toAccess(row), after: toAccess(after) });
    call.reply.header('ETag', `"${after.revision}"`);
    return { ...toAccess(after), managed, visibleItems: await countVisible(call, row.id) };
  },
});

const DESCRIPTIONS: Record<Permission, string> = {
  'library:view': 'See libraries and play from them',
  'library:manage': 'Make, change and delete libraries',
  'item:edit': 'Change items, their metadata and pictures',
  'user:manage': 'Manage accounts of a lower rank',
  'settings:manage': 'Change settings of the server',
  'scan:trigger': 'Start scans',
  'session:manage': "See and end others' playback",
  'job:manage': 'See, retry and cancel background work',
  'download:own': 'Download for own use',
  'playlist:own': 'Make own playlists and collections',
  'photo:upload': 'Upload photos',
};

const described = permissions.map((name) => ({ name, description: DESCRIPTIONS[name] }));
const byRole = Object.fromEntries(roles.map((role) => [role, [...rolePermissions[role]]])) as Record<
  Role,
  Permission[]
>;

export const getPermissionMatrix = defineEndpoint({
  operationId: 'getPermissionMatrix',
  method: 'get',
  path: '/permissions',
  summary: 'Get permissions by role and by account',
  description:
    'Returns the permissions of each role and a page of accounts by display name, with the source of each permission (role, granted or withheld) and whether the caller may change it.',
  access: { permission: 'user:manage' },
  query: MatrixQuery,
  answer: page(PermissionRow, matrixExtra),

  async handle({ query: { cursor, limit, userId } }, { db, who, deps }) {
    const users = selectUsers(db, userId);
    const rows = await pageOf<UserRow, PermissionRow>(db, users, {
      keys: deps.keys,
      terms: parseSort(undefined, userSorts, 'displayName'),
      cursor,
      limit,
      scope: JSON.stringify(['getPermissionMatrix', userId]),
      idColumn: 'a.id',
      toItem: (row) => toPermissionRow(row, who),
    });
    return { ...rows, permissions: described, roles: byRole };
  },
});

export const setUserPermissions = defineEndpoint({
  operationId: 'setUserPermissions',
  method: 'put',
  path: '/users/:id/permissions',
  summary: 'Grant or withhold permissions of an account',
  description:
    'Replaces the differences from the role. Granting a permission that the caller lacks is 403; one that the role can never have is 409 `not-for-role`, and withholding `library:view` is 409 `needed`. It takes effect with the next request.',
  access: { permission: 'user:manage' },
  params: IdParams,
  body: PermissionsPut,
  answer: json(200, PermissionRow),
  errors: ['CONFLICT'],

  async handle({ params, body: { grant, withhold } }, call) {
    const { db, who } = call;
    refuseBoth(grant, withhold);
    const row = await lockUserRow(db, params.id);
    refuseStale(call, row, undefined);
    requireRank(who, row.role);
    const requested = Object.fromEntries([
      ...grant.map((name) => [name, true]),
      ...withhold.map((name) => [name, false]),
    ]) as Partial<Record<Permission, boolean>>;
    const own = checkedPermissions(call, row, requested);
    await updateUserRow(db, row.id, { own_permissions: JSON.stringify(own) });
    await audit(call, 'user.permissions', { userId: row.id, before: row.own_permissions, after: own });
    return toPermissionRow({ ...row, own_permissions: own }, who);
  },
});

function refuseBoth(grant: readonly Permission[], withhold: readonly Permission[]): void {
  const issues = withhold.flatMap((name, i) =>
    grant.includes(name) ? [{ path: ['body', 'withhold', i], code: 'in_both', message: `${name} is granted too` }] : [],
  );
  if (issues.length > 0) throw invalidAll(issues);
}
