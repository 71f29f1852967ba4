import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { areas } from '#areas/index.ts';
import { describe } from '#areas/server/public.ts';
import { prepareServer } from '#areas/setup/public.ts';
import type { Deps, Endpoint } from '#kernel/endpoint.ts';
import type { ErrorCode } from '#kernel/errors.ts';
import { errorsOf } from '#kernel/openapi.ts';
import { type Config, readConfig } from '#platform/config.ts';
import { disconnectDatabase } from '#platform/db.ts';
import { newSecret } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { createApp } from '../../api/app.ts';
import { FoyerError, NotFoyer } from '../../api/client/failure.ts';
import { Transport } from '../../api/client/transport.ts';
import { connectDeps } from '../../api/deps.ts';
import { createApiServer } from '../../api/http-server.ts';
import { type Given, given, type Person } from './given.ts';
import { writeKeys } from './keys.ts';
import type { LooseDb } from './loose.ts';
import { atEnd, newDatabase, redisUrl, temporaryFolder } from './stores.ts';

export interface Answered<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

type List = (typeof areas)[number]['endpoints'][number];
export type OperationId = List['operationId'];
type Of<N extends OperationId> = Extract<List, { operationId: N }>;
type Sent<N extends OperationId> =
  Of<N> extends Endpoint<string, infer _P, infer _Q, infer _B, infer R> ? z.output<R> : never;

/** The parts of a call; members are not typed so that tests can send invalid ones. */
export interface RequestInput {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * Methods named by operationId. A success is parsed strictly against its schema: an undescribed member fails the test.
 */
export type TestClient = { [N in OperationId]: (input?: RequestInput) => Promise<Answered<Sent<N>>> };

export interface Api {
  url: string;
  deps: Omit<Deps, 'db'> & { db: LooseDb };
  config: Config;
  operatorKey: string;
  mediaRoot: string;
  given: Given;
  as(person: Person): TestClient;
  anyone: TestClient;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

const byId = new Map(areas.flatMap((area) => area.endpoints as readonly Endpoint[]).map((e) => [e.operationId, e]));

/** Every object strict, so that an unknown member is found. */
function strict(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodObject && !(schema.def.catchall instanceof z.ZodUnknown)) {
    const shape = Object.fromEntries(
      Object.entries(schema.shape).map(([key, value]) => [key, strict(value as z.ZodType)]),
    );
    return z.strictObject(shape as z.ZodRawShape);
  }
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element) as z.ZodType);
  if (schema instanceof z.ZodNullable) return z.nullable(strict(schema.unwrap()) as z.ZodType);
  if (schema instanceof z.ZodOptional) return z.optional(strict(schema.unwrap()) as z.ZodType);
  return schema;
}

interface Call {
  endpoint: Endpoint;
  input: RequestInput;
  headers: Record<string, string>;
}

/** Through the published client's transport, so that each test is one of it too; a refusal is an answer like others here. */
async function respond(url: string, { endpoint, input, headers }: Call): Promise<Response> {
  let answered: Response | undefined;
  const transport = new Transport({
    server: url,
    fetch: async (address, init) => {
      const response = await fetch(address, init);
      answered = response.ok ? response : response.clone();
      return response;
    },
  });
  const options = { ...input, headers: { ...headers, ...input.headers } };
  await transport.send(endpoint.operationId as OperationId, options).catch((error: unknown) => {
    if (!(error instanceof FoyerError || error instanceof NotFoyer)) throw error;
  });
  if (!answered) throw new Error(`${endpoint.operationId} was not sent`);
  return answered;
}

/** A refusal that the description of the operation does not name fails the test. */
function requireDeclared(endpoint: Endpoint, body: unknown): void {
  const parsed = Buffer.isBuffer(body) ? JSON.parse(body.toString()) : body;
  const { code } = (parsed as { error: { code: ErrorCode } }).error;
  if (!errorsOf(endpoint).includes(code)) throw new Error(`${endpoint.operationId} does not declare ${code}`);
}

async function send(url: string, call: Call): Promise<Answered> {
  const { answer } = call.endpoint;
  const response = await respond(url, call);
  const text = response.headers.get('content-type')?.includes('json') && answer.kind !== 'bytes';
  const body: unknown = text
    ? await response.json()
    : answer.kind === 'bytes'
      ? Buffer.from(await response.arrayBuffer())
      : null;
  if (response.ok && text && response.status !== 304) z.parse(strict(answer.schema), body);
  if (response.status >= 400) requireDeclared(call.endpoint, body);
  return { status: response.status, headers: response.headers, body };
}

export function clientFor(url: string, headers: Record<string, string>): TestClient {
  const methods = [...byId].map(([id, endpoint]) => [
    id,
    (input: RequestInput = {}) => send(url, { endpoint, input, headers }),
  ]);
  return Object.fromEntries(methods) as TestClient;
}

/** The app in this process on a database, Redis database and object folder of its own. */
export async function startApi(environment: Record<string, string> = {}): Promise<Api> {
  const folder = temporaryFolder('api');
  const keysFile = join(folder, 'keys.json');
  await writeKeys(keysFile);
  const operatorKey = newSecret('foyer_');
  const mediaRoot = join(folder, 'media');
  mkdirSync(mediaRoot);
  writeFileSync(join(mediaRoot, '.there'), ''); // an empty root is a mount that is unavailable
  const config = readConfig({
    FOYER_DATABASE_URL: await newDatabase(),
    FOYER_REDIS_URL: await redisUrl(),
    FOYER_OBJECTS_URL: `file://${folder}/objects`,
    FOYER_KEYS_FILE: keysFile,
    FOYER_MEDIA_ROOTS: JSON.stringify([
      { id: '01900000-0000-7000-8000-000000000001', name: 'films', path: mediaRoot, readOnly: false },
    ]),
    FOYER_SCRATCH_DIR: join(folder, 'scratch'),
    FOYER_LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
    FOYER_OPERATOR_KEY_SHA256: createHash('sha256').update(operatorKey).digest('hex'),
    ...environment,
  });
  const leaving = new AbortController();
  const deps = (await connectDeps(config, createLog(config.logLevel, 'test'), leaving.signal)) as Deps & {
    db: LooseDb;
  };
  await deps.redis.flushdb();
  await prepareServer(deps.db, config, deps.keys);
  await deps.vitals.look();
  describe(async () => areas);
  const app = createApp({ deps, readiness: { waitingFor: () => undefined } });
  const handle = app.callback();
  const server = createApiServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
    leaving.abort();
    deps.vitals.stop();
    deps.keyUses.stop();
    deps.settings.stop();
    deps.redis.disconnect();
    await disconnectDatabase(deps.db);
  });
  return {
    url,
    deps,
    config,
    operatorKey,
    mediaRoot,
    given: given(deps),
    as: (person) => clientFor(url, person.headers),
    anyone: clientFor(url, {}),
    fetch: (path, init) => fetch(url + path, init),
  };
}
