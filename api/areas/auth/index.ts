import { defineArea } from '#kernel/endpoint.ts';
import {
  completePasswordReset,
  endOtherSessions,
  endSession,
  getMe,
  listSessions,
  login,
  logout,
  refreshSession,
} from './auth.endpoints.ts';

export const authArea = defineArea('auth', 'Auth', [
  login,
  refreshSession,
  logout,
  getMe,
  listSessions,
  endSession,
  endOtherSessions,
  completePasswordReset,
]);
