// A refusal of each code of the contract: recorded from the server where one request brings it about, else made as the contract says.
import type { z } from 'zod';
import { type ErrorCode, errorCodes } from '#kernel/errors.ts';
import { ABSENT } from '#support/answers.ts';
import type { Api } from '#support/api.ts';
import { OWNER } from './server.ts';

export interface Refusal {
  /** Of the list: the code, with what narrows it. */
  name: string;
  status: number;
  headers: Record<string, string>;
  /** As the server sent it. */
  body: string;
  code: string;
  message: string;
  requestId: string;
}

const json = (method: string, body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** Requests that the server refuses, by the code that it answers. */
async function requests(api: Api): Promise<Partial<Record<ErrorCode, [path: string, init?: RequestInit]>>> {
  const [admin, member] = [await api.given.admin(), await api.given.member()];
  const { authorization = '' } = admin.headers;
  return {
    VALIDATION_FAILED: ['/api/v1/items?limit=none', { headers: { authorization } }],
    UNAUTHENTICATED: ['/api/v1/auth/login', json('POST', { username: OWNER.username, password: 'not this one' })],
    AUTH_TOKEN_INVALID: ['/api/v1/auth/me', { headers: { authorization: 'Bearer a.b.c' } }],
    FORBIDDEN: ['/api/v1/settings', { headers: member.headers }],
    NOT_FOUND: [`/api/v1/items/${ABSENT}`, { headers: { authorization } }],
    METHOD_NOT_ALLOWED: ['/api/v1/items', { method: 'DELETE', headers: { authorization } }],
    CONFLICT: ['/api/v1/users', json('POST', { username: OWNER.username, role: 'member' }, { authorization })],
    SETUP_ALREADY_COMPLETE: ['/api/v1/setup/claim', json('POST', { code: 'a'.repeat(26) })],
    PAYLOAD_TOO_LARGE: ['/api/v1/auth/login', json('POST', { username: 'a'.repeat(4_000_000) })],
  };
}

async function recorded(api: Api, code: ErrorCode, [path, init]: [string, RequestInit?]): Promise<Refusal> {
  const answer = await fetch(api.url + path, init);
  const body = await answer.text();
  const { error } = JSON.parse(body) as { error: { code: string; message: string; requestId: string } };
  if (error.code !== code) throw new Error(`${path} is answered with ${error.code}, expected ${code}`);
  return { ...error, name: code, status: answer.status, headers: {}, body };
}

/** Values of the details that a schema leaves open. */
const OPEN: Readonly<Record<string, unknown>> = {
  resumesAt: new Date(Date.now() + 7_200_000).toISOString(),
  retryAfterSec: 42,
  reason: 'codec-refused',
  reasons: ['video-codec-not-supported'],
  feature: 'sonic',
  cap: 2,
  active: 2,
  scope: 'account',
  sizeBytes: 1000,
  maxBytes: 4_000_000,
  waitingFor: 'database',
};

let made = 0;
/** A refusal as the contract describes it; its details fit the schema of the code. */
export function refusal(code: ErrorCode, given: Record<string, unknown> = {}): Refusal {
  made += 1;
  const { status, details: schema } = errorCodes[code];
  const open = Object.keys((schema as z.ZodObject).shape).filter((key) => key in OPEN);
  const details = schema.parse({ ...Object.fromEntries(open.map((key) => [key, OPEN[key]])), ...given });
  const error = { code, message: `The text of the server for ${code}`, details, requestId: `made-${code}-${made}` };
  const wait = (details as { retryAfterSec?: number }).retryAfterSec;
  const headers: Record<string, string> = wait === undefined ? {} : { 'retry-after': String(wait) };
  return {
    ...error,
    name: [code, ...Object.values(given)].join(' '),
    status,
    headers,
    body: JSON.stringify({ error }),
  };
}

/** What narrows a code, as far as people meet it in the app. */
const NARROWED: readonly (readonly [ErrorCode, Record<string, unknown>])[] = [
  ...[
    'account-disabled',
    'password-off',
    'device-blocked',
    'device-limit',
    'no-account',
    'confirm',
    'profile',
    'owner',
    'remote',
  ].map((by) => ['FORBIDDEN', { by }] as const),
  ['FORBIDDEN', { by: 'pin', triesLeft: 3 }],
  ...[
    'username-taken',
    'email-taken',
    'mail-not-configured',
    'quick-connect-off',
    'already-decided',
    'revision',
    'managed-by-resource',
    'session-stopped',
  ].map((reason) => ['CONFLICT', { reason }] as const),
  ...['schema', 'objects', 'restore', 'capacity', 'storage', 'draining'].map(
    (waitingFor) => ['SERVICE_STARTING', { waitingFor }] as const,
  ),
  ['PERMISSION_TIME_RESTRICTED', { resumesAt: null }],
];

/** One of each code at least. */
export async function refusals(api: Api): Promise<Refusal[]> {
  const real = await requests(api);
  const codes = Object.keys(errorCodes) as ErrorCode[];
  return [
    ...(await Promise.all(codes.map(async (code) => (real[code] ? recorded(api, code, real[code]) : refusal(code))))),
    ...NARROWED.map(([code, details]) => refusal(code, details)),
  ];
}
