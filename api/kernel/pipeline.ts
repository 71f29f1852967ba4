import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { refuseClosed } from '#identity/plus.ts';
import { databaseUnavailable } from '#platform/db.ts';
import { saysFull } from '#platform/disk.ts';
import { Fenced, restoring } from '#platform/fence.ts';
import { ObjectsUnavailable } from '#platform/objects.ts';
import { admit, admitAnyone, refuseKeyInQuery } from './admission.ts';
import { noteUpload } from './body.ts';
import { callFor } from './call.ts';
import { sendText, withoutCodings } from './content-coding.ts';
import { type Bytes, type Call, type Deps, type Endpoint, JsonText, OtherText } from './endpoint.ts';
import { ApiError, invalid, invalidAll, noSpace } from './errors.ts';
import { handOver } from './handed-over.ts';
import { hasTwoHosts, headOf, noteAnswer } from './head.ts';
import { claimKey, idempotencyKey, isRepeat, once } from './idempotency.ts';
import { limitHere } from './rate-limit.ts';
import { addressGroup, clientOf, parsePart, queryIssues, queryOf, readJson } from './request.ts';
import { StreamedBody, streamedBodyOf } from './streamed-body.ts';
import { endWithCredential } from './transfers.ts';
import { isForm, readForm, readUpload, readUrlEncoded } from './uploads.ts';

const MEGABYTE = 1 << 20;
/** Requests with a body a minute that this process accepts from one address without a credential. */
const A_MINUTE = 600;

/** Readiness of the process. */
export interface Readiness {
  /** The dependency that is still missing; undefined once requests can be served. */
  waitingFor(): 'config' | 'keys' | 'schema' | 'database' | 'restore' | 'draining' | undefined;
}

export interface Kernel {
  deps: Deps;
  readiness: Readiness;
}

/** The first middleware: request id, error envelope, metrics. */
export function envelope({ deps }: Kernel): Middleware {
  return async (ctx, next) => {
    const began = performance.now();
    ctx.state.began = began;
    const { requestId, headers } = headOf(ctx.req, deps);
    ctx.state.requestId = requestId;
    for (let at = 0; at < headers.length; at += 2) ctx.res.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
    try {
      if (hasTwoHosts(ctx.req)) throw invalid(['headers', 'host'], 'duplicate', 'given more than once');
      withoutCodings(ctx.req.headers);
      await next();
    } catch (error) {
      refuse(ctx, error, deps);
    }
    const { operation, area } = ctx.state as { operation?: string; area?: string };
    const { method, status } = ctx;
    noteAnswer(deps, { requestId, method, status, began, ...(operation && { operation }), ...(area && { area }) });
  };
}

function refuse(ctx: Context, error: unknown, deps: Deps): void {
  const requestId = String(ctx.state.requestId);
  const failure = toApiError(error);
  if (failure.code === 'INTERNAL')
    deps.log.error({ requestId, err: error, operation: ctx.state.operation }, 'request failed');
  if (error instanceof ObjectsUnavailable) deps.log.warn({ requestId, err: error }, 'the object store is unavailable');
  const retryAfter =
    (failure.details as { retryAfterSec?: number }).retryAfterSec ?? (failure.status === 503 ? 2 : undefined);
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  if (failure.code === 'METHOD_NOT_ALLOWED')
    ctx.set('Allow', (failure.details as { allow: string[] }).allow.join(', '));
  if (!ctx.req.complete) ctx.set('Connection', 'close'); // the rest of the body is not read
  ctx.remove('ETag');
  ctx.set('Cache-Control', 'no-store');
  ctx.status = failure.status;
  ctx.body = { error: { code: failure.code, message: failure.message, details: failure.details, requestId } };
}

const awaitingRestore = (progress: number): ApiError =>
  new ApiError('SERVICE_STARTING', 'A backup is being restored', { waitingFor: 'restore', progress });

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof ObjectsUnavailable) {
    return new ApiError('SERVICE_STARTING', 'The object store is unavailable', { waitingFor: 'objects' });
  }
  if (saysFull(error)) return noSpace();
  if (error instanceof Fenced) return awaitingRestore(error.progress);
  if (databaseUnavailable(error)) {
    return new ApiError('SERVICE_STARTING', 'The database is unavailable', { waitingFor: 'database' });
  }
  return new ApiError('INTERNAL', 'Something went wrong; the log has the details under the request id', {});
}

/** The fixed order of checks: starting → credential → limits → hours → permission → licence → parse → transaction → handle → answer. */
export function serve(endpoint: Endpoint, area: string, kernel: Kernel): Middleware {
  const { deps, readiness } = kernel;
  return async (ctx) => {
    ctx.state.operation = endpoint.operationId;
    ctx.state.area = area;
    const waitingFor = readiness.waitingFor();
    if (waitingFor && waitingFor !== 'draining' && !endpoint.beforeReady) {
      if (waitingFor === 'restore') throw awaitingRestore(restoring(deps.config.databaseUrl) ?? 0);
      throw new ApiError('SERVICE_STARTING', 'The server is starting', { waitingFor });
    }
    refuseKeyInQuery(ctx, deps);
    const settings = deps.settings;
    const client = clientOf(ctx.req, {
      trustedProxies: settings.get('network.trustedProxies'),
      localRanges: settings.get('network.localRanges'),
    });
    const admission = { ctx, client, deps };
    const who = 'anyone' in endpoint.access ? await admitAnyone(admission) : await admit(endpoint, admission);
    const call = callFor({ ctx, client, who, deps });
    await endpoint.proof?.(call);
    await countAddress(endpoint, call);
    if (endpoint.plus) await refuseClosed(endpoint, deps);
    const input = await parseInput(endpoint, ctx, deps);
    await answer(ctx, endpoint, await run(endpoint, input, call));
    if (ctx.body instanceof Readable) endWithCredential(ctx.res, who, deps.db);
  };
}

/** Counts before the body is read, so that a client over its limit costs only its headers. */
async function countAddress({ access, body, counts }: Endpoint, call: Call): Promise<void> {
  if ('anyone' in access && body) limitHere(`public:${addressGroup(call.client.address)}`, A_MINUTE);
  await counts?.(call);
}

interface RawInput {
  params: unknown;
  query: unknown;
  body: unknown;
}

const NOTHING_ASKED: RawInput = { params: undefined, query: undefined, body: undefined };

async function parseInput(endpoint: Endpoint, ctx: Context, deps: Deps): Promise<RawInput> {
  if (!endpoint.params && !endpoint.query && !endpoint.body && !ctx.querystring) return NOTHING_ASKED;
  const query = queryOf(ctx.querystring);
  const params = parsePart('params', endpoint.params, ctx.params);
  const queried = parsePart('query', endpoint.query, query);
  const body = parsePart('body', endpoint.body, endpoint.body && (await bodyOf(endpoint, ctx, deps)));
  const unknown = queryIssues(query, endpoint.query);
  const issues = [params, queried, body].flatMap((part) => (part.ok ? [] : part.issues));
  if (unknown.length + issues.length > 0) {
    if (body.ok && body.value instanceof StreamedBody) await body.value.drain();
    throw invalidAll([...unknown, ...issues]);
  }
  const value = (part: { ok: boolean; value?: unknown }): unknown => part.value;
  return { params: value(params), query: value(queried), body: value(body) };
}

/** Largest body of operations that require no credential. */
const ANONYMOUS_BYTES = 16 << 10;

const usualBytes = ({ access, proof }: Endpoint): number => ('anyone' in access && !proof ? ANONYMOUS_BYTES : MEGABYTE);

async function bodyOf(endpoint: Endpoint, ctx: Context, { objects }: Deps): Promise<unknown> {
  const most = endpoint.maxBodyBytes ?? usualBytes(endpoint);
  if (endpoint.bodyMedia || endpoint.files) noteUpload(ctx.req);
  if (endpoint.bodyMedia) return endpoint.streamed ? streamedBodyOf(ctx.req, most) : readUpload(ctx.req, most);
  if (endpoint.urlEncoded) return readUrlEncoded(ctx.req, most);
  if (endpoint.files && isForm(ctx.req))
    return readForm(ctx.req, { files: endpoint.files, schema: endpoint.body, maxFieldBytes: most, objects });
  return jsonOf(endpoint, ctx, most);
}

async function jsonOf({ optionalBody }: Endpoint, ctx: Context, most: number): Promise<unknown> {
  const body = await readJson(ctx.req, most);
  return body === undefined && optionalBody ? {} : body; // `null` is a body and is not valid
}

/** A creating request with an `Idempotency-Key`; undefined for others. */
function repeatable(endpoint: Endpoint, input: RawInput, call: Call): Parameters<typeof once>[1] | undefined {
  const { operationId: operation, unrepeated } = endpoint;
  const creates = endpoint.method === 'post' && [201, 202].includes(endpoint.answer.status);
  if (!creates || !call.who.accountId) return undefined;
  const key = idempotencyKey(call);
  return key === undefined ? undefined : { operation, key, content: input, ...(unrepeated && { unrepeated }) };
}

async function run(endpoint: Endpoint, input: RawInput, call: Call): Promise<unknown> {
  const reads = endpoint.method === 'get' || endpoint.transaction === 'manual';
  if (reads) return endpoint.handle(input as never, call);
  const request = repeatable(endpoint, input, call);
  if (endpoint.before === undefined || request === undefined) return write(endpoint, input, { call, request });
  const letGo = await claimKey(call, request);
  try {
    return await write(endpoint, input, { call, request, isRepeated: await isRepeat(call, request) });
  } finally {
    await letGo();
  }
}

interface Writing {
  call: Call;
  request: Parameters<typeof once>[1] | undefined;
  isRepeated?: boolean;
}

/** Runs a write in its transaction, after what the endpoint does before that. */
async function write(
  endpoint: Endpoint,
  input: RawInput,
  { call, request, isRepeated = false }: Writing,
): Promise<unknown> {
  const before = async () => endpoint.before?.(input as never, call);
  let release = isRepeated ? undefined : await before();
  try {
    return await call.transact((inside) => {
      const handle = (): Promise<unknown> => endpoint.handle(input as never, inside);
      // The kept answer may become too old between the two looks at it; the request is then a first one.
      const first = async (): Promise<unknown> => {
        if (isRepeated) release = await before();
        return handle();
      };
      return request ? once(inside, request, first) : handle();
    });
  } finally {
    if (release) call.afterCommit(release); // outside the transaction: now
  }
}

async function answer(ctx: Context, endpoint: Endpoint, value: unknown): Promise<void> {
  const { kind, schema, status } = endpoint.answer;
  ctx.status = Number(ctx.state.status ?? status);
  if (kind === 'bytes') {
    sendBytes(ctx, value as Bytes);
  } else if (kind === 'none' || ctx.status === 304) {
    ctx.body = null;
    if (kind === 'none') ctx.status = Number(ctx.state.status ?? status);
  } else {
    await sendValue(ctx, schema, value);
  }
}

async function sendValue(ctx: Context, schema: z.core.$ZodType, value: unknown): Promise<void> {
  if (!ctx.res.hasHeader('Cache-Control')) ctx.res.setHeader('Cache-Control', 'no-store');
  ctx.res.setHeader('Content-Type', value instanceof OtherText ? value.type : 'application/json; charset=utf-8');
  if (value instanceof OtherText || value instanceof JsonText) return sendText(ctx, value.text);
  // Members that are not in the schema are removed.
  return sendText(ctx, JSON.stringify(z.parse(schema, value)));
}

function sendBytes(ctx: Context, { body, type, length, take, hold }: Bytes): void {
  const { status } = ctx;
  if (take ?? hold) {
    ctx.respond = false;
    ctx.res.statusCode = status;
    if (type) ctx.res.setHeader('Content-Type', type);
    if (hold) handOver(ctx.res, hold);
    else ctx.res.flushHeaders();
    take?.(ctx.res);
    return;
  }
  ctx.body = body;
  ctx.status = status; // koa sets 200 with a body and 204 without
  if (type) ctx.set('Content-Type', type);
  if (length !== undefined) ctx.length = length;
}
