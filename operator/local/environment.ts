// What the server's processes are told, from the resource and what the operator keeps. Pure.
import { resolve } from 'node:path';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { childEnvironment } from './child-environment.ts';
import { sha256 } from './keys.ts';
import type { Resource, Resources } from './resources.ts';

export interface Stores {
  databaseUrl: string;
  redisUrl: string;
  objectsUrl: string;
}

export interface Place {
  dir: string;
  port: number;
  openSetup: boolean;
  keysFile: string;
  operatorKey: string;
  claimCode: string;
  mediaId(name: string): string;
  uidOf(kind: string, name: string): string;
}

export type Server = Resource<MediaServerSpec>;

/** The value that a reference of the checked resources points at. */
export function secretValue({ secrets }: Pick<Resources, 'secrets'>, ref: { name: string; key: string }): string {
  return secrets.get(ref.name)?.[ref.key] ?? '';
}

export function managedBy(resource: Resource<unknown>, place: Pick<Place, 'uidOf'>) {
  const { kind, namespace, name } = resource;
  return { kind, namespace, name, uid: place.uidOf(kind, name) };
}

/** `s3://access:secret@host:port/?region=…&prefix=…&tls=0|1`, or a folder of the data directory. */
export function objectsUrl(server: Server, resources: Resources, dir: string): string {
  const { secretRef, bucketPrefix } = server.spec.objects;
  if (!secretRef) return `file://${encodeURI(resolve(dir, 'objects'))}`;
  const secret = resources.secrets.get(secretRef.name) ?? {};
  const endpoint = new URL(secret.endpoint ?? '');
  const url = new URL(`s3://${endpoint.host}/`);
  url.username = encodeURIComponent(secret.accessKey ?? '');
  url.password = encodeURIComponent(secret.secretKey ?? '');
  if (secret.region) url.searchParams.set('region', secret.region);
  if (bucketPrefix) url.searchParams.set('prefix', bucketPrefix);
  url.searchParams.set('tls', endpoint.protocol === 'https:' ? '1' : '0');
  return url.href;
}

/** Folder on this machine of each media entry; a relative one lies beside the file that names it. */
export function mediaRoots(server: Server, place: Pick<Place, 'mediaId'>) {
  const base = resolve(server.source.file, '..');
  return server.spec.media.map(({ name, hostPath, readOnly }) => ({
    id: place.mediaId(name),
    name,
    path: resolve(base, hostPath?.path ?? ''),
    readOnly,
  }));
}

/** spec.settings, and the settings that other fields of the resource declare. */
export function declaredSettings({ spec }: Server, resources: Resources): Record<string, unknown> {
  const own = Object.entries(spec.settings ?? {}).map(([key, value]) => [key, resolved(value, resources)]);
  const mail = spec.email ? mailSettings(resources.secrets.get(spec.email.secretRef.name) ?? {}) : {};
  return { ...Object.fromEntries(own), ...mail, ...oidcSettings(spec, resources), ...fieldSettings(spec) };
}

function resolved(value: unknown, resources: Resources): unknown {
  const ref = (value as { secretRef?: { name: string; key: string } }).secretRef;
  return ref ? secretValue(resources, ref) : value;
}

function mailSettings(secret: Record<string, string>): Record<string, unknown> {
  const { host, port, security, username, password, from } = secret;
  const given = {
    'email.smtp.host': host,
    'email.smtp.port': port && Number(port),
    'email.smtp.security': security,
    'email.smtp.username': username,
    'email.smtp.password': password,
    'email.from': from,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''));
}

function oidcSettings({ oidc }: MediaServerSpec, resources: Resources): Record<string, unknown> {
  if (!oidc) return {};
  return {
    'auth.oidc.issuer': oidc.issuer,
    'auth.oidc.clientId': oidc.clientId,
    'auth.oidc.clientSecret': secretValue(resources, oidc.clientSecretRef),
  };
}

function fieldSettings(spec: MediaServerSpec): Record<string, unknown> {
  const { network, transcode, subtitles, plugins } = spec;
  return {
    'transcode.maxWorkers': transcode.max,
    ...(network.trustedProxies.length > 0 && { 'network.trustedProxies': network.trustedProxies }),
    ...(transcode.accelerator && { 'transcode.hardware': transcode.accelerator.kind }),
    ...(subtitles && { 'subtitles.model': subtitles.model }),
    ...(plugins.trustedKeys.length > 0 && { 'plugins.trustedKeys': plugins.trustedKeys }),
  };
}

/** How the first owner comes to be: from a Secret, or through the link with the claim code. */
function ownership({ spec }: Server, place: Place): Record<string, string> {
  if (spec.ownerSecretRef)
    return { FOYER_OWNER_FILE: resolve(place.dir, 'run', 'owner.json'), FOYER_CLAIM_FROM: 'none' };
  const code = { FOYER_CLAIM_SHA256: sha256(place.claimCode), FOYER_CLAIM_FROM: 'link' };
  return { ...code, FOYER_OPEN_SETUP: place.openSetup ? '1' : '0' };
}

/** The environment that all processes of the server share. */
export function serverEnvironment(server: Server, resources: Resources, to: { place: Place; stores: Stores }) {
  const { place, stores } = to;
  const { spec } = server;
  return childEnvironment({
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: resolve(place.dir, 'cache'),
    FOYER_DATABASE_URL: stores.databaseUrl,
    FOYER_REDIS_URL: stores.redisUrl,
    FOYER_OBJECTS_URL: stores.objectsUrl,
    FOYER_KEYS_FILE: place.keysFile,
    FOYER_MEDIA_ROOTS: JSON.stringify(mediaRoots(server, place)),
    FOYER_HOST: '127.0.0.1',
    FOYER_PORT: String(place.port),
    FOYER_SCRATCH_DIR: resolve(place.dir, 'scratch'),
    FOYER_OPERATOR_KEY_SHA256: sha256(place.operatorKey),
    FOYER_SETTINGS: JSON.stringify(declaredSettings(server, resources)),
    FOYER_MANAGED_BY: JSON.stringify(managedBy(server, place)),
    FOYER_TRUSTED_PROXIES: JSON.stringify(spec.network.trustedProxies),
    FOYER_MAX_SESSIONS: String(spec.transcode.sessionsPerJob),
    ...ownership(server, place),
  });
}
