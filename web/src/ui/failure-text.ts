// The sentence and the next step of a failure: by code and reason, else by code, else the server's own text.
import type { Problem } from '#core/api/errors.ts';
import { language } from '#core/messages/text.ts';
import * as m from '#messages/errors.ts';

export interface FailureText {
  title: string;
  next?: string;
}

type Say = (problem: Problem) => FailureText;

/** A moment as people say it, such as `20:14` or `Saturday 08:00`. */
export function timeText(iso: string): string {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(language(), {
    ...(today ? {} : { weekday: 'long' }),
    hour: '2-digit',
    minute: '2-digit',
  }).format(at);
}

const own: Say = ({ message }) => ({ title: message });
const seconds = ({ retryAfterSec = 60 }: Problem): number => retryAfterSec;

const BY_REASON: Readonly<Record<string, Say>> = {
  'FORBIDDEN account-disabled': () => ({ title: m.accountDisabled(), next: m.askAdmin() }),
  'FORBIDDEN password-off': () => ({ title: m.passwordOff(), next: m.passwordOffNext() }),
  'FORBIDDEN device-blocked': () => ({ title: m.deviceBlocked(), next: m.askAdmin() }),
  'FORBIDDEN device-limit': () => ({ title: m.deviceLimit(), next: m.deviceLimitNext() }),
  'FORBIDDEN no-account': () => ({ title: m.noAccount(), next: m.askAdmin() }),
  'FORBIDDEN pin': ({ details }) => ({
    title: m.wrongPin(),
    next: m.triesLeft({ count: Number(details['triesLeft'] ?? 0) }),
  }),
  'FORBIDDEN confirm': () => ({ title: m.confirmFirst() }),
  'FORBIDDEN profile': () => ({ title: m.mainProfileOnly() }),
  'CONFLICT username-taken': () => ({ title: m.usernameTaken(), next: m.usernameTakenNext() }),
  'CONFLICT mail-not-configured': () => ({ title: m.noMail(), next: m.noMailNext() }),
  'CONFLICT quick-connect-off': () => ({ title: m.quickConnectOff(), next: m.askAdmin() }),
  'CONFLICT already-decided': () => ({ title: m.alreadyDecided() }),
  'CONFLICT revision': () => ({ title: m.revision(), next: m.revisionNext() }),
  'CONFLICT managed-by-resource': () => ({ title: m.managed() }),
};

const BY_CODE: Readonly<Record<string, Say>> = {
  offline: () => ({ title: m.offline(), next: m.offlineNext() }),
  'not-foyer': () => ({ title: m.notFoyer(), next: m.notFoyerNext() }),
  unexpected: ({ message }) => ({ title: m.unexpected(), next: message }),
  UNAUTHENTICATED: () => ({ title: m.unauthenticated(), next: m.unauthenticatedNext() }),
  AUTH_TOKEN_EXPIRED: () => ({ title: m.signedOut(), next: m.signedOutNext() }),
  AUTH_TOKEN_INVALID: () => ({ title: m.signedOut(), next: m.signedOutNext() }),
  FORBIDDEN: () => ({ title: m.forbidden(), next: m.askAdmin() }),
  PERMISSION_TIME_RESTRICTED: ({ details }) => ({
    title: m.outsideHours(),
    ...(typeof details['resumesAt'] === 'string' && { next: m.resumesAt({ time: timeText(details['resumesAt']) }) }),
  }),
  NOT_FOUND: () => ({ title: m.notFound(), next: m.notFoundNext() }),
  SETUP_ALREADY_COMPLETE: () => ({ title: m.setupComplete(), next: m.setupCompleteNext() }),
  STORAGE_UNAVAILABLE: () => ({ title: m.storageAway(), next: m.storageAwayNext() }),
  RATE_LIMITED: (problem) => ({ title: m.tooManyTries(), next: m.waitSeconds({ count: seconds(problem) }) }),
  SERVICE_STARTING: ({ details }) => ({ title: m.starting(), next: waiting(String(details['waitingFor'] ?? '')) }),
  PLUS_REQUIRED: () => ({ title: m.plus(), next: m.askAdmin() }),
  PROVIDER_UNAVAILABLE: () => ({ title: m.providerAway(), next: m.providerAwayNext() }),
  INTERNAL: () => ({ title: m.internal(), next: m.internalNext() }),
};

function waiting(what: string): string {
  const texts: Readonly<Record<string, () => string>> = {
    database: m.waitsForDatabase,
    schema: m.waitsForSchema,
    objects: m.waitsForObjects,
    restore: m.waitsForRestore,
    capacity: m.waitsForCapacity,
  };
  return (texts[what] ?? m.waitsAMoment)();
}

export function failureText(problem: Problem): FailureText {
  const say = BY_REASON[`${problem.code} ${problem.reason}`] ?? BY_CODE[problem.code] ?? own;
  const [issue] = problem.issues;
  if (say === own && issue) return { title: problem.message, next: issue.message };
  return say(problem);
}
