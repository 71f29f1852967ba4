import { z } from 'zod';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { Id, IdParams } from '#kernel/schemas.ts';
import { changeUser } from './change-user.ts';
import { makeUser } from './create-user.ts';
import { removeUser } from './delete-user.ts';
import {
  DeleteUserQuery,
  ListedUser,
  NewUser,
  UserChange,
  UserDetail,
  UserDraft,
  UsersQuery,
  userSorts,
} from './users.schemas.ts';
import { filtering, getUserRow, lockUserRow, matching, selectUsers, type UserRow, userFilter } from './users.store.ts';
import { toListedUser, toUserDetail } from './users.view.ts';

export const listUsers = defineEndpoint({
  operationId: 'listUsers',
  method: 'get',
  path: '/users',
  summary: 'List accounts',
  description:
    'Sorted by display name unless `sort` is given. `q` matches the name and the address; `include` adds access and permissions. The internal account of the operator is not listed.',
  access: { permission: 'user:manage' },
  query: UsersQuery.extend({ filter: userFilter }),
  answer: page(ListedUser),

  async handle({ query }, { db, who, now, deps }) {
    const { cursor, limit, sort, filter, include = [], q } = query;
    const users = selectUsers(db).modify(filtering(filter, now));
    if (q !== undefined) users.modify(matching(q));
    return pageOf<UserRow, ListedUser>(db, users, {
      keys: deps.keys,
      terms: parseSort(sort, userSorts, 'displayName'),
      cursor,
      limit,
      scope: JSON.stringify(['listUsers', filter, q]),
      idColumn: 'a.id',
      toItem: (row) => toListedUser(row, who, include),
    });
  },
});

export const createUser = defineEndpoint({
  operationId: 'createUser',
  method: 'post',
  path: '/users',
  summary: 'Create an account',
  description:
    'The role must be below the rank of the caller; creating an admin needs the owner. Without a password the answer has a link to set one, shown once, which `sendInvite` mails. It is 409 `username-taken` or `email-taken`. An address given here is not verified.',
  access: { permission: 'user:manage' },
  body: UserDraft,
  answer: json(201, NewUser),
  unrepeated: ['resetUrl'],
  errors: ['CONFLICT'],
  emits: ['user.created', 'library.access.granted'],

  async handle({ body }, call) {
    return makeUser(call, body);
  },
});

export const getUser = defineEndpoint({
  operationId: 'getUser',
  method: 'get',
  path: '/users/:id',
  summary: 'Get an account',
  description:
    'Includes access, permissions, profiles and the last sign-in, and never the history, progress or notes of the person. The ETag is the revision.',
  access: { permission: 'user:manage' },
  params: IdParams,
  answer: json(200, UserDetail),

  async handle({ params }, call) {
    const row = await getUserRow(call.db, params.id);
    call.reply.header('ETag', `"${row.revision}"`);
    return toUserDetail(call, row);
  },
});

export const updateUser = defineEndpoint({
  operationId: 'updateUser',
  method: 'patch',
  path: '/users/:id',
  summary: 'Change an account',
  description:
    'Takes effect with the next request. The caller needs a higher rank; making or unmaking an admin needs the owner and a confirmed session. A new role resets granted and withheld permissions, and the role child or guest revokes API keys. With `revision`, a change in between is 409 `revision`.',
  access: { permission: 'user:manage' },
  params: IdParams,
  body: UserChange,
  answer: json(200, UserDetail),
  errors: ['CONFLICT'],
  emits: ['library.access.granted'],

  async handle({ params, body }, call) {
    await changeUser(call, await lockUserRow(call.db, params.id), body);
    const row = await getUserRow(call.db, params.id);
    call.reply.header('ETag', `"${row.revision}"`);
    return toUserDetail(call, row);
  },
});

export const deleteUser = defineEndpoint({
  operationId: 'deleteUser',
  method: 'delete',
  path: '/users/:id',
  summary: 'Delete an account',
  description:
    'Needs a confirmed session, a higher rank and the username in `confirm` (409 `confirm-mismatch`). Sign-in, keys and shares end in this request; a job removes the rest of its data. `transferTo` passes on its shared playlists and collections. Media files are never touched.',
  access: { permission: 'user:manage' },
  params: IdParams,
  query: DeleteUserQuery,
  answer: json(202, z.object({ jobId: Id })),
  errors: ['CONFLICT'],

  async handle({ params, query }, call) {
    return { jobId: await removeUser(call, await lockUserRow(call.db, params.id), query) };
  },
});
