// Tests settings with unsaved values in place of those in force; saves nothing.
import { z } from 'zod';
import { issuerOutbound } from '#areas/auth/public.ts';
import { tryEncoders } from '#areas/streaming/public.ts';
import { findSpeechModel } from '#areas/subtitles/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { tryAgents } from '#platform/agents/health.ts';
import { agents } from '#platform/agents/index.ts';
import { createOutbound, type OutboundAnswer } from '#platform/outbound.ts';
import { HOME } from '#platform/settings/define.ts';
import type { SettingKey } from '#platform/settings.ts';
import type { checkGroups, SettingCheck } from './settings.schemas.ts';

type Step = Pick<SettingCheck['steps'][number], 'name' | 'state' | 'message'>;
type Value = (key: SettingKey) => unknown;
type Check = (call: Call, value: Value) => Promise<Step>;
type Group = (typeof checkGroups)[number];

const LIMIT_MS = 10_000;

const ok = (name: string, message: string): Step => ({ name, state: 'ok', message });
const failed = (name: string, message: string): Step => ({ name, state: 'failed', message });
const skipped = (name: string, message: string): Step => ({ name, state: 'skipped', message });

/**
 * Reads the discovery document like sign-in does: only an issuer that the resource declares may be in a private
 * network.
 */
const discovery: Check = async ({ deps }, value) => {
  const issuer = value('auth.oidc.issuer');
  if (typeof issuer !== 'string') return skipped('discovery', 'No issuer is set');
  const fetchDocument = issuerOutbound(deps, issuer);
  const answer = await fetchDocument(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (answer.status !== 200) return failed('discovery', `The issuer answered ${answer.status}`);
  const document = JSON.parse(answer.body.toString('utf8')) as { issuer?: string; jwks_uri?: string };
  if (document.issuer?.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
    return failed('discovery', 'The document names another issuer');
  if (!document.jwks_uri) return failed('discovery', 'It names no keys');
  const keys = await fetchDocument(document.jwks_uri);
  if (keys.status !== 200) return failed('discovery', `Its keys are not to be had: ${keys.status}`);
  const { keys: list } = JSON.parse(keys.body.toString('utf8')) as { keys?: unknown[] };
  return list?.length ? ok('discovery', 'The issuer and its keys answer') : failed('discovery', 'It has no keys');
};

/** Whether the response of getServerInfo comes from this server. */
export function isThisServer(serverId: string, { status, body }: Pick<OutboundAnswer, 'status' | 'body'>): boolean {
  if (status !== 200) return false;
  return z.object({ id: z.literal(serverId) }).safeParse(JSON.parse(body.toString('utf8'))).success;
}

/** In most households the address is a private one. */
const publicAddress: Check = async ({ deps }, value) => {
  const base = value('server.publicUrl');
  if (typeof base !== 'string') return skipped('address', 'No public address is set');
  const outbound = createOutbound({ deny: deps.config.clusterNetworks });
  const options = { allow: HOME, timeoutMs: LIMIT_MS, maxBytes: 65_536 };
  const answer = await outbound(new URL('/api/v1/server/info', base).href, options);
  if (answer.status !== 200) return failed('address', `It answered ${answer.status}`);
  return isThisServer(deps.keys.serverId, answer)
    ? ok('address', 'The address leads here')
    : failed('address', 'Something else answers there');
};

const proxies: Check = async ({ client }, value) => {
  const trusted = value('network.trustedProxies') as string[];
  if (trusted.length === 0) return skipped('proxies', 'No proxy is trusted');
  return ok('proxies', `Your address is ${client.address}`);
};

const encoder: Check = async ({ deps }) => {
  const tried = await tryEncoders(deps.redis, LIMIT_MS);
  if (tried.length === 0) return failed('encoder', 'No transcode worker is there');
  const broken = tried.find((one) => !one.ok);
  if (broken) return failed('encoder', `${broken.encoder} does not encode on ${broken.pod}`);
  return ok('encoder', `A second was encoded by ${[...new Set(tried.map((one) => one.encoder))].join(', ')}`);
};

/** The last word of a speech worker; no worker is started for it. */
const model: Check = async ({ deps }, value) => {
  const name = String(value('subtitles.model'));
  const found = await findSpeechModel(deps.db, name);
  if (!found) return skipped('model', `No speech worker has looked for the model ${name} yet`);
  if (found.fault !== '') return failed('model', found.note ?? found.fault);
  return ok('model', `A worker hears with ${name} on the ${found.device === 'gpu' ? 'GPU' : 'CPU'}`);
};

/** A saved key goes to no address that is not saved. */
const catalogues: Check = async ({ deps, signal }, value) => {
  if (value('network.offline') === true) return skipped('catalogues', 'The server is offline by its settings');
  const saved = deps.settings.get('metadata.baseUrls');
  const given = value('metadata.baseUrls') as typeof saved;
  const only = agents.filter(({ id, credentials }) => !credentials || given[id] === saved[id]);
  const settings = { ...deps.settings, get: value as typeof deps.settings.get };
  const results = [...(await tryAgents(deps.catalogues.under(settings), { signal, limitMs: LIMIT_MS, only }))];
  const silent = results.filter(([, result]) => result !== 'ok').map(([id, reason]) => `${id} (${reason})`);
  if (silent.length > 0) return failed('catalogues', `No answer: ${silent.join(', ')}`);
  return ok('catalogues', `They answer: ${results.map(([id]) => id).join(', ')}`);
};

const CHECKS: Record<Group, readonly Check[]> = {
  'auth.oidc': [discovery],
  network: [proxies],
  server: [publicAddress],
  transcode: [encoder],
  subtitles: [model],
  metadata: [catalogues],
};

export async function checkGroup(call: Call, group: Group, value: Value): Promise<SettingCheck> {
  const steps = [];
  for (const check of CHECKS[group]) {
    const began = performance.now();
    const step = await check(call, value).catch((error: Error) => failed(group, error.message));
    steps.push({ ...step, tookMs: Math.round(performance.now() - began) });
  }
  return { group, ok: steps.every(({ state }) => state !== 'failed'), steps };
}
