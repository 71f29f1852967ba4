import type { Agent } from 'node:http';
import type { Config } from '#platform/config.ts';
import { NEVER_CALLED } from '#platform/never-called.ts';
import { OutboundRefused, type OutboundSetting } from '#platform/outbound.ts';
import { type AddressJudge, createAddressJudge, judgedAgent } from '#platform/outbound-agent.ts';
import { StorageFault } from './reader.ts';

/** What decides on the addresses of a remote storage. */
export interface Reach {
  config: Pick<Config, 'clusterNetworks' | 'apiServerNetworks' | 'storageNetworks'>;
  /** A member entered the address: only public ones are reached, except those of these hosts, whatever redirects to others. */
  personal?: { hosts: readonly string[] } | undefined;
  /** For tests. */
  lookup?: OutboundSetting['lookup'];
}

const EVERYWHERE = ['0.0.0.0/0', '::/0'];
/** The names of this machine, and those of a cluster. */
const THIS_MACHINE = /(^|\.)localhost\.?$/i;
const CLUSTER = /(^|\.)(svc|cluster\.local)\.?$/i;

const isInside = (host: string, isPersonal: boolean): boolean =>
  THIS_MACHINE.test(host) || (isPersonal && CLUSTER.test(host));

/**
 * Judges every address that a storage connects to. Private ones, such as those of an object store in the same cluster, are
 * for storages of admins; loopback, link-local and the API server of the cluster are for none.
 */
export function judgeOf({ config, personal, lookup }: Reach, host: string): AddressJudge {
  const cluster = personal === undefined ? [] : config.clusterNetworks;
  const judging = (allow: string[]): AddressJudge =>
    createAddressJudge(
      { deny: [...NEVER_CALLED, ...cluster, ...config.apiServerNetworks], ...(lookup && { lookup }) },
      { allow, always: config.storageNetworks },
    );
  const judge = personal
    ? byHost(personal.hosts, { listed: judging(EVERYWHERE), other: judging([]) })
    : judging(EVERYWHERE);
  if (config.storageNetworks.length === 0 && isInside(host, personal !== undefined)) throw refused();
  try {
    judge.refuse(host);
  } catch (error) {
    throw error instanceof OutboundRefused ? refused(error) : error;
  }
  return judge;
}

/** A redirect of a listed host opens no address of another one. */
function byHost(hosts: readonly string[], { listed, other }: Record<'listed' | 'other', AddressJudge>): AddressJudge {
  const names = new Set(hosts.map(plain));
  const of = (host: string): AddressJudge => (names.has(plain(host)) ? listed : other);
  return {
    refuse: (host) => of(host).refuse(host),
    lookup: (name, ...given) => of(name).lookup(name, ...given),
  };
}

const plain = (host: string): string => host.toLowerCase().replace(/^\[|\]$/g, '');

const LOOKUP_MS = 5000;

/** Throws `StorageFault` for a host whose addresses are not reached. A name that does not resolve now is accepted. */
export async function refuseHost(reach: Reach, host: string): Promise<void> {
  const judge = judgeOf(reach, host);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, LOOKUP_MS);
  judge.lookup(host, { all: true }, (error) => (error instanceof OutboundRefused ? reject(refused(error)) : resolve()));
  await promise.finally(() => clearTimeout(late));
}

const refused = (cause?: Error): StorageFault =>
  new StorageFault('host-unreachable', 'this address is not reached from here', { stage: 'resolve', cause });

export interface AgentOptions {
  tls: boolean;
  silentMs: number;
  /** Accepts any certificate. */
  insecureTls?: boolean;
}

/** An agent whose connections go to judged addresses, redirects included. */
export function agentOf(judge: AddressJudge, { tls, silentMs, insecureTls = false }: AgentOptions): Agent {
  return judgedAgent(judge, { tls, silentMs, ...(insecureTls && { rejectUnauthorized: false }) });
}

const UNREACHABLE = new Set([
  ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNRESET', 'EPIPE', 'EADDRNOTAVAIL'],
]);
const CERTIFICATE = /^(CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO|ERR_SSL)/;

/** The fault of a network error; undefined for another error. Node nests the code in causes. */
export function networkFault(error: unknown): StorageFault | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const found = faultOfOne(at);
    if (found) return found;
  }
  return undefined;
}

function faultOfOne(error: Error): StorageFault | undefined {
  if (error instanceof StorageFault) return error;
  if (error instanceof OutboundRefused) return refused(error);
  const code = 'code' in error ? String(error.code) : '';
  const stage = /^(ENOTFOUND|EAI_AGAIN)$/.test(code) ? 'resolve' : 'connect';
  if (UNREACHABLE.has(code))
    return new StorageFault('host-unreachable', `the host does not answer (${code})`, { stage });
  if (CERTIFICATE.test(code))
    return new StorageFault('certificate-invalid', `the certificate is not valid (${code})`, { stage });
  const late = code === 'ETIMEDOUT' || error.name === 'TimeoutError' || /no response for/.test(error.message);
  return late ? new StorageFault('timeout', 'the host does not answer in time', { stage }) : undefined;
}
