// The environment of the server's processes, as pods of a cluster or processes of one machine. Pure.
import type { MediaServerSpec } from './schemas/media-server.ts';

/** Values by name of the Secret and key. */
export type Secrets = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** The value of a validated reference. */
export const secretValue = (secrets: Secrets, ref: { name: string; key: string }): string =>
  secrets.get(ref.name)?.[ref.key] ?? '';

/**
 * `s3://access:secret@host:port/?region=…&prefix=…&tls=0|1`, from a Secret with endpoint, accessKey, secretKey and optionally
 * region.
 */
export function bucketUrl(secret: Readonly<Record<string, string>>, prefix: string | undefined): string {
  const endpoint = new URL(secret.endpoint ?? '');
  const url = new URL(`s3://${endpoint.host}/`);
  url.username = encodeURIComponent(secret.accessKey ?? '');
  url.password = encodeURIComponent(secret.secretKey ?? '');
  if (secret.region) url.searchParams.set('region', secret.region);
  if (prefix) url.searchParams.set('prefix', prefix);
  url.searchParams.set('tls', endpoint.protocol === 'https:' ? '1' : '0');
  return url.href;
}

/** spec.settings, and the settings that other fields of the spec imply. */
export function declaredSettings(spec: MediaServerSpec, secrets: Secrets): Record<string, unknown> {
  const own = Object.entries(spec.settings ?? {}).map(([key, value]) => [key, resolved(value, secrets)]);
  const mail = spec.email ? mailSettings(secrets.get(spec.email.secretRef.name) ?? {}) : {};
  return { ...Object.fromEntries(own), ...mail, ...oidcSettings(spec, secrets), ...fieldSettings(spec) };
}

/** Agent and name, such as `tmdb.apiKey`; other keys of the Secret are not passed on. */
const CATALOGUE_KEY = /^[a-z]{1,40}\.[a-zA-Z]{1,40}$/;

/** FOYER_CATALOGUE_KEYS: the catalogue keys of spec.metadata.keysSecretRef; undefined when it declares none. */
export function declaredCatalogueKeys({ metadata }: Pick<MediaServerSpec, 'metadata'>, secrets: Secrets) {
  const ref = metadata?.keysSecretRef;
  if (!ref) return undefined;
  const given = Object.entries(secrets.get(ref.name) ?? {}).map(([name, value]) => [name, value.trim()] as const);
  return JSON.stringify(Object.fromEntries(given.filter(([name, value]) => CATALOGUE_KEY.test(name) && value !== '')));
}

/** Keys of the settings declared by spec.settings, spec.email and spec.oidc. */
export const declaredKeys = (spec: MediaServerSpec, secrets: Secrets): string[] =>
  Object.keys(declaredSettings(spec, secrets)).filter(
    (key) => Object.hasOwn(spec.settings ?? {}, key) || /^(email|auth\.oidc)\./.test(key),
  );

function resolved(value: unknown, secrets: Secrets): unknown {
  const ref = (value as { secretRef?: { name: string; key: string } }).secretRef;
  return ref ? secretValue(secrets, ref) : value;
}

function mailSettings(secret: Readonly<Record<string, string>>): Record<string, unknown> {
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

function oidcSettings({ oidc }: MediaServerSpec, secrets: Secrets): Record<string, unknown> {
  if (!oidc) return {};
  return {
    'auth.oidc.issuer': oidc.issuer,
    'auth.oidc.clientId': oidc.clientId,
    'auth.oidc.clientSecret': secretValue(secrets, oidc.clientSecretRef),
  };
}

/** The declared public URL: the setting, otherwise the first host of the Ingress or HTTPRoute that is not a wildcard. */
export function publicUrl({ settings, ingress, gateway }: MediaServerSpec): string | undefined {
  const declared = settings?.['server.publicUrl'];
  if (declared !== undefined) return declared;
  const hosts = ingress ? [ingress.host] : (gateway?.hostnames ?? []);
  const host = hosts.find((name) => !name.includes('*') && URL.canParse(`https://${name}`));
  return host && `${ingress && !ingress.tls ? 'http' : 'https'}://${host}`;
}

function fieldSettings(spec: MediaServerSpec): Record<string, unknown> {
  const { network, transcode, subtitles, plugins } = spec;
  const address = publicUrl(spec);
  return {
    ...(address !== undefined && { 'server.publicUrl': address }),
    'transcode.maxWorkers': transcode.max,
    ...(network.trustedProxies.length > 0 && { 'network.trustedProxies': network.trustedProxies }),
    ...(transcode.accelerator && { 'transcode.hardware': transcode.accelerator.kind }),
    ...(subtitles && { 'subtitles.model': subtitles.model }),
    ...(plugins.trustedKeys.length > 0 && { 'plugins.trustedKeys': plugins.trustedKeys }),
  };
}

/** A media entry as the processes receive it. */
export interface MediaRoot {
  id: string;
  name: string;
  path: string;
  readOnly: boolean;
}

/** The resource that declares an object, as the API names it in a 409. */
export interface ManagedBy {
  kind: string;
  namespace: string;
  name: string;
  uid: string;
}

export interface Placed {
  keysFile: string;
  mediaRoots: readonly MediaRoot[];
  host: string;
  port: number;
  scratchDir: string;
  managedBy: ManagedBy;
  /** CIDRs of the cluster's pods and services; empty outside a cluster. */
  clusterNetworks: readonly string[];
}

/**
 * Limits V8's young generation to 32 MB instead of 128: on a machine with much memory it would take half of the memory of a
 * process, with little benefit.
 */
export const NODE_OPTIONS = '--max-semi-space-size=16';

/**
 * Threads of a process for file system calls, among others: 4 by default, which four films of a mount that hangs would hold. Reads
 * are bounded below it (bounded-reads.ts).
 */
export const UV_THREADPOOL_SIZE = '48';

/** The part of the environment that is not secret. */
export function plainEnvironment(spec: MediaServerSpec, placed: Placed): Record<string, string> {
  return {
    NODE_ENV: 'production',
    NODE_OPTIONS,
    UV_THREADPOOL_SIZE,
    FOYER_KEYS_FILE: placed.keysFile,
    FOYER_MEDIA_ROOTS: JSON.stringify(placed.mediaRoots),
    FOYER_HOST: placed.host,
    FOYER_PORT: String(placed.port),
    FOYER_SCRATCH_DIR: placed.scratchDir,
    FOYER_MANAGED_BY: JSON.stringify(placed.managedBy),
    FOYER_TRUSTED_PROXIES: JSON.stringify(spec.network.trustedProxies),
    FOYER_WEBHOOK_NETWORKS: JSON.stringify(spec.network.allow.webhooks),
    FOYER_LIVE_NETWORKS: JSON.stringify(spec.network.allow.live),
    FOYER_CLUSTER_NETWORKS: JSON.stringify(placed.clusterNetworks),
    FOYER_MAX_SESSIONS: String(spec.transcode.sessionsPerJob),
  };
}
