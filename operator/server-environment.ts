// What the server's processes are told, wherever they run: as pods of a cluster or as processes of one machine. Pure.
import type { MediaServerSpec } from './schemas/media-server.ts';

/** Name of a Secret to its keys and values. */
export type Secrets = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** The value that a checked reference points at. */
export const secretValue = (secrets: Secrets, ref: { name: string; key: string }): string =>
  secrets.get(ref.name)?.[ref.key] ?? '';

/** `s3://access:secret@host:port/?region=…&prefix=…&tls=0|1`, of a Secret with endpoint, accessKey, secretKey and maybe region. */
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

/** spec.settings, and the settings that other fields of the resource declare. */
export function declaredSettings(spec: MediaServerSpec, secrets: Secrets): Record<string, unknown> {
  const own = Object.entries(spec.settings ?? {}).map(([key, value]) => [key, resolved(value, secrets)]);
  const mail = spec.email ? mailSettings(secrets.get(spec.email.secretRef.name) ?? {}) : {};
  return { ...Object.fromEntries(own), ...mail, ...oidcSettings(spec, secrets), ...fieldSettings(spec) };
}

/** Keys of those that are declared as settings, or by email and oidc. */
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

/** Where people find the server, as the resource says: the setting, else the host of what leads in, unless that is any host of a domain. */
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

/** A media entry as the processes see it. */
export interface MediaRoot {
  id: string;
  name: string;
  path: string;
  readOnly: boolean;
}

/** The resource that owns what is declared, as the API names it in a 409. */
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
  /** CIDRs of the cluster's pods and services; none where there is no cluster. */
  clusterNetworks: readonly string[];
}

/**
 * Of V8's youngest objects 32 MB at most are kept, not 128: on a machine of many gigabytes it would take half of what a
 * process of ours uses for them, and little is gained by it.
 */
export const NODE_OPTIONS = '--max-semi-space-size=16';

/** The part of the environment that is no secret. */
export function plainEnvironment(spec: MediaServerSpec, placed: Placed): Record<string, string> {
  return {
    NODE_ENV: 'production',
    NODE_OPTIONS,
    FOYER_KEYS_FILE: placed.keysFile,
    FOYER_MEDIA_ROOTS: JSON.stringify(placed.mediaRoots),
    FOYER_HOST: placed.host,
    FOYER_PORT: String(placed.port),
    FOYER_SCRATCH_DIR: placed.scratchDir,
    FOYER_MANAGED_BY: JSON.stringify(placed.managedBy),
    FOYER_TRUSTED_PROXIES: JSON.stringify(spec.network.trustedProxies),
    FOYER_WEBHOOK_NETWORKS: JSON.stringify(spec.network.allow.webhooks),
    FOYER_CLUSTER_NETWORKS: JSON.stringify(placed.clusterNetworks),
    FOYER_MAX_SESSIONS: String(spec.transcode.sessionsPerJob),
  };
}
