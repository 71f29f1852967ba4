import { z } from 'zod';
import { Permission } from '#identity/permissions.ts';

export const Issue = z
  .object({
    path: z.array(z.union([z.string(), z.int()])).describe('Where, beginning with body, query, params or headers'),
    code: z.string().describe('snake_case'),
    message: z.string(),
  })
  .meta({ id: 'Issue' });
export type Issue = z.output<typeof Issue>;

const none = z.object({});
const reason = z.object({ reason: z.string().describe('kebab-case') }).loose();
const anything = z.object({}).loose();

/** All error codes, each with its status and the schema of its `details`, to which later versions only add. */
export const errorCodes = {
  VALIDATION_FAILED: { status: 400, details: z.object({ issues: z.array(Issue) }) },
  UNAUTHENTICATED: { status: 401, details: z.object({ triesLeft: z.int().optional() }) },
  AUTH_TOKEN_EXPIRED: { status: 401, details: none },
  AUTH_TOKEN_INVALID: { status: 401, details: z.object({ reason: z.string().optional() }) },
  AUTH_2FA_REQUIRED: { status: 401, details: anything },
  PLUS_REQUIRED: { status: 402, details: z.object({ feature: z.string() }) },
  FORBIDDEN: {
    status: 403,
    details: z.object({
      permission: Permission.optional(),
      scopes: z.array(Permission).optional(),
      by: z.string().optional().describe('kebab-case'),
      libraryIds: z.array(z.uuid()).optional().describe('Libraries that the caller cannot give'),
      restriction: z.string().optional(),
      setting: z.string().optional(),
      header: z.string().optional(),
      methods: z.array(z.string()).optional(),
      triesLeft: z.int().optional().describe('Of a PIN'),
    }),
  },
  PERMISSION_TIME_RESTRICTED: { status: 403, details: z.object({ resumesAt: z.iso.datetime().nullable() }) },
  NOT_FOUND: { status: 404, details: none },
  METHOD_NOT_ALLOWED: { status: 405, details: z.object({ allow: z.array(z.string()) }) },
  CONFLICT: { status: 409, details: reason },
  SETUP_ALREADY_COMPLETE: { status: 409, details: z.object({ reason: z.literal('setup-complete') }) },
  PAYLOAD_TOO_LARGE: { status: 413, details: z.object({ maxBytes: z.int() }) },
  MEDIA_NOT_PLAYABLE: { status: 415, details: reason },
  MEDIA_UNSUPPORTED_CODEC: { status: 415, details: anything },
  MEDIA_TRANSCODE_DISABLED: { status: 415, details: z.object({ reasons: z.array(z.string()) }) },
  RANGE_NOT_SATISFIABLE: { status: 416, details: z.object({ sizeBytes: z.int() }) },
  STORAGE_UNAVAILABLE: {
    status: 423,
    details: z.object({ storageId: z.uuid().optional(), reason: z.string().optional() }),
  },
  RATE_LIMITED: { status: 429, details: z.object({ retryAfterSec: z.int() }) },
  STREAM_LIMIT_REACHED: {
    status: 429,
    details: z.object({ cap: z.int(), active: z.int(), scope: z.enum(['account', 'server', 'transcodes']) }),
  },
  INTERNAL: { status: 500, details: none },
  TRANSCODE_FAILED: { status: 500, details: z.object({ reason: z.string(), segment: z.int().optional() }) },
  PROVIDER_UNAVAILABLE: { status: 502, details: anything },
  PLUGIN_ERROR: { status: 502, details: anything },
  SERVICE_STARTING: {
    status: 503,
    details: z
      .object({
        waitingFor: z.enum([
          'config',
          'keys',
          'schema',
          'database',
          'objects',
          'parser',
          'restore',
          'draining',
          'capacity',
          'storage', // no space is left for the writes of the request
        ]),
      })
      .loose(),
  },
  TRANSCODE_LIMIT_REACHED: { status: 503, details: z.object({ retryAfterSec: z.int() }).loose() },
} as const satisfies Record<string, { status: number; details: z.ZodType }>;

export type ErrorCode = keyof typeof errorCodes;
export type Details<C extends ErrorCode> = z.input<(typeof errorCodes)[C]['details']>;

/** The only error of the API: areas throw codes and never name a status. */
export class ApiError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C;
  readonly details: Details<C>;
  constructor(code: C, message: string, details: Details<C>) {
    super(message);
    this.code = code;
    this.details = details;
  }
  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** The same 404 for objects that do not exist and for those that the caller may not see. */
export function notFound(): ApiError<'NOT_FOUND'> {
  return new ApiError('NOT_FOUND', 'There is no such thing', {});
}

export function conflict(reason: string, message: string, details: Record<string, unknown> = {}): ApiError<'CONFLICT'> {
  return new ApiError('CONFLICT', message, { reason, ...details });
}

/** 400 with one issue; `path` starts with body, query or params. */
export function invalid(path: (string | number)[], code: string, message: string): ApiError<'VALIDATION_FAILED'> {
  return invalidAll([{ path, code, message }]);
}

const MOST_ISSUES = 100;
/** Longest name in a path in characters, because a sender may choose names as long as the body. */
const MOST_NAME = 200;

/** 400 with the first hundred issues. */
export function invalidAll(issues: readonly Issue[]): ApiError<'VALIDATION_FAILED'> {
  const reported = issues.slice(0, MOST_ISSUES).map((issue) => ({
    ...issue,
    path: issue.path.map((step) => (typeof step === 'string' ? step.slice(0, MOST_NAME) : step)),
  }));
  return new ApiError('VALIDATION_FAILED', 'The request is not valid', { issues: reported });
}

/** 503 while no space is left for the writes of the request; reads continue. */
export function noSpace(): ApiError<'SERVICE_STARTING'> {
  return new ApiError('SERVICE_STARTING', 'No space is left on the disk of the server', { waitingFor: 'storage' });
}
