import { setTimeout as sleep } from 'node:timers/promises';
import { brandingOf } from '#areas/branding/public.ts';
import { bytes, type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { answerUnlessSame, knowsEtag } from '#kernel/etag.ts';
import { limitHere } from '#kernel/rate-limit.ts';
import { languages } from '#platform/languages.ts';
import { description } from './description.ts';
import { docsPage } from './docs-page.ts';
import { healthOf, notReadyFor, waitDetails } from './health.ts';
import { Probe, ServerHealth, ServerInfo } from './server.schemas.ts';
import { fullVersion, shortVersion } from './version.ts';

const because = 'clients, probes and uptime monitors ask before anybody signed in; it says nothing of accounts';
const PER_MINUTE = 300;

function limit({ client }: Call): void {
  if (client.address !== '127.0.0.1' && client.address !== '::1') limitHere(`server:${client.address}`, PER_MINUTE);
}

/** These answers hang on no store: what it does not say within this is left out. */
const MOST_MS = 60;
const WARY_MS = 1000;
let waryUntil = 0;

const soon = async <T>(asked: Promise<T>): Promise<T | undefined> =>
  Promise.race([asked, sleep(MOST_MS, undefined, { ref: false })]);

/** Whether a valid credential came along. A store that was slow is not asked again for a second. */
async function isKnown({ identify, deps }: Call): Promise<boolean> {
  if (deps.vitals.state('database') !== 'ok' || Date.now() < waryUntil) return false;
  const found = await soon(identify().then((who) => who ?? 'nobody'));
  if (found === undefined) waryUntil = Date.now() + WARY_MS;
  return found !== undefined && found !== 'nobody';
}

export const getServerInfo = defineEndpoint({
  operationId: 'getServerInfo',
  method: 'get',
  path: '/server/info',
  summary: 'What server this is',
  access: { anyone: true, because },
  beforeReady: true,
  answer: json(200, ServerInfo),
  errors: ['RATE_LIMITED'],
  async handle(_input, call) {
    limit(call);
    const { deps, reply } = call;
    const { settings, vitals } = deps;
    const [known, branding, complete] = await Promise.all([
      isKnown(call),
      soon(brandingOf(deps)),
      soon(vitals.setupComplete().catch(() => undefined)),
    ]);
    reply.header('Access-Control-Allow-Origin', '*'); // pickers of servers; no credentials go with it
    const info = {
      id: deps.keys.serverId,
      name: settings.get('server.name'),
      product: 'Foyer' as const,
      apiVersion: 'v1' as const,
      version: known ? fullVersion : shortVersion,
      ...(complete === undefined ? {} : { setupComplete: complete }),
      managed: deps.config.managedBy !== undefined,
      publicUrl: settings.get('server.publicUrl'),
      languages: [...languages],
      language: settings.get('server.language'),
      timeZone: settings.get('server.timeZone'),
      links: { docs: '/api/v1/docs', openapi: '/api/v1/openapi.json', app: '/' },
      branding: { revision: branding?.revision ?? 0 },
      notice: settings.get('server.notice'),
    };
    return { ...answerUnlessSame(call, info, 'no-cache'), time: call.now.toISOString() };
  },
});

export const getServerHealth = defineEndpoint({
  operationId: 'getServerHealth',
  method: 'get',
  path: '/server/health',
  summary: 'How the server and its stores are',
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
    throw new ApiError('SERVICE_STARTING', 'The database is away', { waitingFor: 'database', ...health });
  },
});

export const getServerLiveness = defineEndpoint({
  operationId: 'getServerLiveness',
  method: 'get',
  path: '/server/live',
  summary: 'Whether this process works',
  access: { anyone: true, because },
  beforeReady: true,
  answer: json(200, Probe),
  async handle(_input, { deps }) {
    if (!deps.vitals.stoodStill()) return { status: 'ok' as const };
    throw new ApiError('SERVICE_STARTING', 'The process stood still', { waitingFor: 'capacity', status: 'down' });
  },
});

export const getServerReadiness = defineEndpoint({
  operationId: 'getServerReadiness',
  method: 'get',
  path: '/server/ready',
  summary: 'Whether this process takes requests',
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
  summary: 'The OpenAPI 3.1 description of this API',
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
  summary: 'The readable description of this API',
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
