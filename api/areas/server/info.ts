import { setTimeout as sleep } from 'node:timers/promises';
import { brandingOf } from '#areas/branding/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { languages } from '#platform/languages.ts';
import { fullVersion, shortVersion } from './version.ts';

/** The answer waits for no store: a value that takes longer than this is left out. */
const MOST_MS = 60;
/** After a slow credential check, callers count as anonymous for this long. */
const PAUSE_MS = 1000;
let pausedUntil = 0;

const soon = async <T>(value: Promise<T>): Promise<T | undefined> =>
  Promise.race([value, sleep(MOST_MS, undefined, { ref: false })]);

/** Whether the request carries a valid credential. */
async function isKnown({ identify, deps }: Call): Promise<boolean> {
  if (deps.vitals.state('database') !== 'ok' || Date.now() < pausedUntil) return false;
  const found = await soon(identify().then((who) => who ?? 'anonymous'));
  if (found === undefined) pausedUntil = Date.now() + PAUSE_MS;
  return found !== undefined && found !== 'anonymous';
}

/** The server's info without the time, which the ETag leaves out. */
export async function infoOf(call: Call) {
  const { deps } = call;
  const { settings, vitals } = deps;
  const [known, branding, complete] = await Promise.all([
    isKnown(call),
    soon(brandingOf(deps)),
    soon(vitals.setupComplete().catch(() => undefined)),
  ]);
  return {
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
}
