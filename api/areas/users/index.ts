import { defineArea } from '#kernel/endpoint.ts';
import { listUserDevices, removeUserDevice, updateUserDevice } from './devices/devices.endpoints.ts';
import { acceptInvite, checkInvite, createInvite, listInvites, revokeInvite } from './invites/invites.endpoints.ts';
import { resetUserSignIn } from './reset.endpoints.ts';
import { getPermissionMatrix, setUserAccess, setUserPermissions } from './rights.endpoints.ts';
import { createUser, deleteUser, getUser, listUsers, updateUser } from './users.endpoints.ts';

export const usersArea = defineArea('users', 'Users', [
  listUsers,
  createUser,
  getUser,
  updateUser,
  deleteUser,
  setUserAccess,
  getPermissionMatrix,
  setUserPermissions,
  resetUserSignIn,
  listUserDevices,
  updateUserDevice,
  removeUserDevice,
  listInvites,
  createInvite,
  revokeInvite,
  checkInvite,
  acceptInvite,
]);
