import { bytes, type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { answerUnlessSame, knowsEtag } from '#kernel/etag.ts';
import { limitHere } from '#kernel/rate-limit.ts';
import { description } from './description.ts';
import { docsPage } from './docs-page.ts';
import { healthOf, notReadyFor, waitDetails } from './health.ts';
import { infoOf } from './info.ts';
import { Probe, ServerHealth, ServerInfo } from './server.schemas.ts';

const because = 'clients, probes and uptime monitors call it before anyone signs in; it contains no account data';
const PER_MINUTE = 300;

function limit({ client }: Call): void {
  if (client.address !== '127.0.0.1' && client.address !== '::1') limitHere(`server:${client.address}`, PER_MINUTE);
}

export const getServerInfo = defineEndpoint({
  operationId: 'getServerInfo',
  method: 'get',
  path: '/server/info',
  summary: "Get the server's identity and version",
  description:
    'The first request of a client at an unknown address; it is public and open to every origin. It also works while the server starts or the database is down; `setupComplete` is then absent. Callers with a valid credential get the full version.',
  access: { anyone: true, because },
  beforeReady: true,
  answer: json(200, ServerInfo),
  errors: ['RATE_LIMITED'],
  async handle(_input, call) {
    limit(call);
    call.reply.header('Access-Control-Allow-Origin', '*'); // for server pickers; credentials are never sent along
    return { ...answerUnlessSame(call, await infoOf(call), 'no-cache'), time: call.now.toISOString() };
  },
});

export const getServerHealth = defineEndpoint({
  operationId: 'getServerHealth',
  method: 'get',
  path: '/server/health',
  summary: "Get the health of the server's components",
  description:
    'Returns 200 for `ok` and `degraded`, and 503 `SERVICE_STARTING` while the server is unavailable or starting. Each check reports the last observed state, so the answer never waits for a store. Intended for people and uptime monitors; probes use the liveness and readiness endpoints.',
  access: { anyone: true, because },
  beforeReady: true,
  answer: json(200, ServerHealth),
  errors: ['RATE_LIMITED'],
  async handle(_input, call) {
    limit(call);
    const health = healthOf(call.deps, call.now);
    const starting = notReadyFor(call.deps);
    if (starting === 'schema' || starting === 'restore')
      throw new ApiError('SERVICE_STARTING', 'The server is starting', {
        ...waitDetails(call.deps, starting),
        ...health,
        status: 'unavailable',
      });
    if (health.status !== 'unavailable') return health;
    throw new ApiError('SERVICE_STARTING', 'The database is unavailable', { waitingFor: 'database', ...health });
  },
});

export const getServerLiveness = defineEndpoint({
  operationId: 'getServerLiveness',
  method: 'get',
  path: '/server/live',
  summary: 'Check whether the process is alive',
  description:
    'For liveness and startup probes. Returns 503 when the process was blocked; the state of a store never matters.',
  access: { anyone: true, because },
  beforeReady: true,
  answer: json(200, Probe),
  async handle(_input, { deps }) {
    if (!deps.vitals.stoodStill()) return { status: 'ok' as const };
    throw new ApiError('SERVICE_STARTING', 'The process was blocked', { waitingFor: 'capacity', status: 'down' });
  },
});

export const getServerReadiness = defineEndpoint({
  operationId: 'getServerReadiness',
  method: 'get',
  path: '/server/ready',
  summary: 'Check whether the process accepts requests',
  description:
    'For readiness probes. Returns 503 with `waitingFor` while the schema or the database is not available yet, and while the process drains.',
  access: { anyone: true, because },
  beforeReady: true,
  answer: json(200, Probe),
  async handle(_input, { deps }) {
    const waitingFor = notReadyFor(deps);
    if (!waitingFor) return { status: 'ok' as const };
    const status = waitingFor === 'draining' ? 'draining' : 'starting';
    throw new ApiError('SERVICE_STARTING', 'Not ready', { ...waitDetails(deps, waitingFor), status });
  },
});

export const getOpenApi = defineEndpoint({
  operationId: 'getOpenApi',
  method: 'get',
  path: '/openapi.json',
  summary: 'Get the OpenAPI 3.1 description',
  description: 'The same for every process of a version. Supports ETag revalidation and compression.',
  access: { anyone: true, because },
  beforeReady: true,
  answer: bytes('application/json'),
  async handle(_input, call) {
    limit(call);
    return description(call);
  },
});

export const getDocs = defineEndpoint({
  operationId: 'getDocs',
  method: 'get',
  path: '/docs',
  summary: 'Get the HTML documentation',
  description: 'A single page with an anchor for each operation and area; it loads nothing from other hosts.',
  access: { anyone: true, because },
  beforeReady: true,
  answer: bytes('text/html'),
  async handle(_input, call) {
    limit(call);
    const { html, policy, etag } = await docsPage();
    call.reply.header('Content-Security-Policy', policy);
    call.reply.header('Cache-Control', 'no-cache');
    call.reply.header('ETag', etag);
    if (knowsEtag(call.headers['if-none-match'], etag)) {
      call.reply.status(304);
      return { body: null };
    }
    return { body: html, type: 'text/html; charset=utf-8' };
  },
});
