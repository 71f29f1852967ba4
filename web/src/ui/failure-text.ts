// The sentence and the next step of a failure: by code and reason, else by code.

import { isPassing, type Problem } from '#core/api/errors.ts';
import { language } from '#core/messages/text.ts';
import * as m from '#messages/errors.ts';
import type { ErrorCode } from '../../../api/client/index.ts';

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

const MEGABYTE = 1_000_000;
const megabytes = (bytes: number): string =>
  new Intl.NumberFormat(language(), { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 }).format(
    bytes / MEGABYTE,
  );

const seconds = ({ retryAfterSec = 60 }: Problem): number => retryAfterSec;
const signedOut: Say = () => ({ title: m.signedOut(), next: m.signedOutNext() });

const BY_REASON: Readonly<Record<string, Say>> = {
  'FORBIDDEN account-disabled': () => ({ title: m.accountDisabled(), next: m.adminCanChange() }),
  'FORBIDDEN password-off': () => ({ title: m.passwordOff(), next: m.passwordOffNext() }),
  'FORBIDDEN device-blocked': () => ({ title: m.deviceBlocked(), next: m.adminCanChange() }),
  'FORBIDDEN device-limit': () => ({ title: m.deviceLimit(), next: m.deviceLimitNext() }),
  'FORBIDDEN no-account': () => ({ title: m.noAccount(), next: m.adminCanChange() }),
  'FORBIDDEN pin': ({ details }) => ({
    title: m.wrongPin(),
    next: m.triesLeft({ count: Number(details['triesLeft'] ?? 0) }),
  }),
  'FORBIDDEN confirm': () => ({ title: m.confirmFirst(), next: m.confirmFirstNext() }),
  'FORBIDDEN profile': () => ({ title: m.mainProfileOnly(), next: m.mainProfileNext() }),
  'FORBIDDEN owner': () => ({ title: m.ownerOnly(), next: m.adminCanChange() }),
  'FORBIDDEN remote': () => ({ title: m.notFromHere(), next: m.adminCanChange() }),
  'FORBIDDEN password-change': () => ({ title: m.passwordFirst(), next: m.passwordFirstNext() }),
  'FORBIDDEN two-factor-setup': () => ({ title: m.secondFactorFirst(), next: m.passwordFirstNext() }),
  'CONFLICT username-taken': () => ({ title: m.usernameTaken(), next: m.usernameTakenNext() }),
  'CONFLICT email-taken': () => ({ title: m.emailTaken(), next: m.usernameTakenNext() }),
  'CONFLICT address-taken': () => ({ title: m.emailTaken(), next: m.usernameTakenNext() }),
  'CONFLICT identity-taken': () => ({ title: m.identityTaken(), next: m.passwordOffNext() }),
  'CONFLICT mail-not-configured': () => ({ title: m.noMail(), next: m.noMailNext() }),
  'CONFLICT no-public-url': () => ({ title: m.noMail(), next: m.noMailNext() }),
  'CONFLICT quick-connect-off': () => ({ title: m.quickConnectOff(), next: m.adminCanChange() }),
  'CONFLICT oidc-off': () => ({ title: m.providerUnavailable(), next: m.providerUnavailableNext() }),
  'CONFLICT already-decided': () => ({ title: m.alreadyDecided(), next: m.alreadyDecidedNext() }),
  'CONFLICT tuners-busy': () => ({ title: m.tunersBusy(), next: m.tunersBusyNext() }),
  'CONFLICT disk-full': () => ({ title: m.diskFull(), next: m.diskFullNext() }),
  'CONFLICT no-folder': () => ({ title: m.noFolder(), next: m.adminCanChange() }),
  'CONFLICT recording-limit': () => ({ title: m.recordingLimit(), next: m.recordingLimitNext() }),
  'CONFLICT rule-limit': () => ({ title: m.ruleLimit(), next: m.ruleLimitNext() }),
  'CONFLICT recording-finished': () => ({ title: m.recordingFinished(), next: m.recordingFinishedNext() }),
  'MEDIA_NOT_PLAYABLE drm': () => ({ title: m.encrypted(), next: m.encryptedNext() }),
  'CONFLICT already-on': () => ({ title: m.alreadyOn(), next: m.alreadyOnNext() }),
  'CONFLICT insecure-origin': () => ({ title: m.insecureOrigin(), next: m.insecureOriginNext() }),
  'CONFLICT in-progress': () => ({ title: m.inProgress(), next: m.inProgressNext() }),
  'CONFLICT session-stopped': () => ({ title: m.sessionStopped(), next: m.sessionStoppedNext() }),
  'CONFLICT already-matched': () => ({ title: m.alreadyMatched(), next: m.alreadyMatchedNext() }),
  'PROVIDER_UNAVAILABLE no-agent': () => ({ title: m.noCatalogue(), next: m.noCatalogueNext() }),
  'CONFLICT count-differs': ({ details: { matched } }) => ({
    title: m.countDiffers({ count: Number(matched ?? 0) }),
    next: m.countDiffersNext(),
  }),
  'CONFLICT revision': () => ({ title: m.revision(), next: m.revisionNext() }),
  'CONFLICT managed-by-resource': () => ({ title: m.managed(), next: m.managedNext() }),
};

type Code = ErrorCode | 'offline' | 'not-foyer' | 'unexpected';

/** Every code of the server, so that a new one is not forgotten, and those of the app. */
const BY_CODE: Readonly<Record<Code, Say>> = {
  offline: () => ({ title: m.offline(), next: m.offlineNext() }),
  'not-foyer': () => ({ title: m.notFoyer(), next: m.notFoyerNext() }),
  unexpected: ({ message }) => ({ title: m.unexpected(), next: message }),
  VALIDATION_FAILED: ({ issues: [issue] }) => ({ title: m.notValid(), next: issue?.message ?? m.notValidNext() }),
  UNAUTHENTICATED: () => ({ title: m.unauthenticated(), next: m.unauthenticatedNext() }),
  AUTH_TOKEN_EXPIRED: signedOut,
  AUTH_TOKEN_INVALID: signedOut,
  AUTH_2FA_REQUIRED: () => ({ title: m.secondFactorNeeded(), next: m.secondFactorNeededNext() }),
  PLUS_REQUIRED: () => ({ title: m.plus(), next: m.adminCanChange() }),
  FORBIDDEN: () => ({ title: m.forbidden(), next: m.adminCanChange() }),
  PERMISSION_TIME_RESTRICTED: ({ details: { resumesAt } }) => ({
    title: m.outsideHours(),
    next: typeof resumesAt === 'string' ? m.resumesAt({ time: timeText(resumesAt) }) : m.outsideHoursNext(),
  }),
  NOT_FOUND: () => ({ title: m.notFound(), next: m.notFoundNext() }),
  METHOD_NOT_ALLOWED: () => ({ title: m.notMethod(), next: m.notMethodNext() }),
  CONFLICT: ({ message }) => ({ title: message, next: m.conflictNext() }),
  SETUP_ALREADY_COMPLETE: () => ({ title: m.setupComplete(), next: m.setupCompleteNext() }),
  PAYLOAD_TOO_LARGE: ({ details: { maxBytes } }) => ({
    title: m.tooLarge(),
    next: m.tooLargeNext({ size: megabytes(Number(maxBytes ?? 0)) }),
  }),
  MEDIA_NOT_PLAYABLE: () => ({ title: m.notPlayable(), next: m.notPlayableNext() }),
  MEDIA_UNSUPPORTED_CODEC: () => ({ title: m.unsupported(), next: m.unsupportedNext() }),
  MEDIA_TRANSCODE_DISABLED: () => ({ title: m.noConversion(), next: m.adminCanChange() }),
  RANGE_NOT_SATISFIABLE: () => ({ title: m.fileChanged(), next: m.fileChangedNext() }),
  STORAGE_UNAVAILABLE: () => ({ title: m.storageUnavailable(), next: m.storageUnavailableNext() }),
  RATE_LIMITED: (problem) => ({ title: m.tooManyTries(), next: m.waitSeconds({ count: seconds(problem) }) }),
  STREAM_LIMIT_REACHED: () => ({ title: m.tooManyStreams(), next: m.tooManyStreamsNext() }),
  INTERNAL: () => ({ title: m.internal(), next: m.internalNext() }),
  TRANSCODE_FAILED: () => ({ title: m.damaged(), next: m.damagedNext() }),
  PROVIDER_UNAVAILABLE: () => ({ title: m.providerUnavailable(), next: m.providerUnavailableNext() }),
  PLUGIN_ERROR: () => ({ title: m.plugin(), next: m.pluginNext() }),
  SERVICE_STARTING: ({ details }) => ({ title: m.starting(), next: waiting(details['waitingFor']) }),
  TRANSCODE_LIMIT_REACHED: (problem) => ({
    title: m.convertersBusy(),
    next: m.waitSeconds({ count: seconds(problem) }),
  }),
};

const own: Say = ({ message }) => ({ title: message });

function waiting(what: unknown): string {
  const texts: Readonly<Record<string, () => string>> = {
    database: m.waitingForDatabase,
    schema: m.waitingForSchema,
    objects: m.waitingForObjects,
    restore: m.waitingForRestore,
    capacity: m.waitingForCapacity,
    storage: m.waitingForStorage,
  };
  return (texts[String(what)] ?? m.takesAMoment)();
}

/** A code of a newer server has the server's own text. */
export function failureText(problem: Problem): FailureText {
  const say = BY_REASON[`${problem.code} ${problem.reason}`] ?? (BY_CODE as Record<string, Say>)[problem.code] ?? own;
  return say(problem);
}

export interface Clock {
  seconds: number;
  /** The request is sent again at its end; else the person may. */
  isOwn: boolean;
}

const STARTING_SEC = 5;
const STORAGE_SEC = 10;
const PASSING_SEC = 15;

/** How long to wait before another try; `canRetry` says that one can be made without the person. */
export function clockOf(problem: Problem, canRetry: boolean): Clock | undefined {
  const { code, retryAfterSec } = problem;
  if (code === 'RATE_LIMITED' || code === 'TRANSCODE_LIMIT_REACHED') return { seconds: seconds(problem), isOwn: false };
  if (!canRetry) return undefined;
  if (code === 'SERVICE_STARTING') return { seconds: retryAfterSec ?? STARTING_SEC, isOwn: true };
  if (code === 'STORAGE_UNAVAILABLE') return { seconds: retryAfterSec ?? STORAGE_SEC, isOwn: true };
  return isPassing(problem) ? { seconds: PASSING_SEC, isOwn: true } : undefined;
}

/** The line of a clock that has so many seconds left. */
export function clockText({ isOwn }: Clock, left: number): string {
  if (isOwn) return m.triesAgain({ count: left });
  return left > 0 ? m.waitSeconds({ count: left }) : m.tryNow();
}
