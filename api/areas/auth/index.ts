import { defineArea } from '#kernel/endpoint.ts';
import { requestPasswordReset, updateMe } from './me/me.endpoints.ts';
import { changePassword, confirmIdentity, listSignInMethods, removeSignInMethod } from './methods/methods.endpoints.ts';
import { completeOidc, receiveOidcLogout, startOidc } from './oidc/oidc.endpoints.ts';
import { addPasskey, getSignInOptions, startPasskeyRegistration } from './passkeys/passkeys.endpoints.ts';
import {
  createProfile,
  deleteProfile,
  selectProfile,
  setProfileAvatar,
  updateProfile,
} from './profiles/profiles.endpoints.ts';
import {
  answerQuickConnect,
  getQuickConnect,
  redeemQuickConnect,
  startQuickConnect,
} from './quick-connect/quick-connect.endpoints.ts';
import { createRecoveryCodes, enableTotp, startTotp, verifyTwoFactor } from './second-factor/two-factor.endpoints.ts';
import {
  completePasswordReset,
  endOtherSessions,
  endSession,
  getMe,
  listSessions,
  login,
  logout,
  refreshSession,
} from './sign-in/auth.endpoints.ts';

export const authArea = defineArea('auth', 'Auth', [
  login,
  refreshSession,
  logout,
  getMe,
  listSessions,
  endSession,
  endOtherSessions,
  requestPasswordReset,
  completePasswordReset,
  updateMe,
  confirmIdentity,
  changePassword,
  listSignInMethods,
  removeSignInMethod,
  verifyTwoFactor,
  startTotp,
  enableTotp,
  createRecoveryCodes,
  createProfile,
  updateProfile,
  deleteProfile,
  selectProfile,
  setProfileAvatar,
  startQuickConnect,
  redeemQuickConnect,
  getQuickConnect,
  answerQuickConnect,
  startPasskeyRegistration,
  addPasskey,
  getSignInOptions,
  startOidc,
  completeOidc,
  receiveOidcLogout,
]);
