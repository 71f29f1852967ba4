import { NEVER_CALLED } from '#platform/never-called.ts';
import { objectsOf } from '#platform/objects.ts';
import type { OutboundSetting } from '#platform/outbound.ts';
import { createAddressJudge, judgedAgent } from '#platform/outbound-agent.ts';
import { withoutEnds } from '#platform/text.ts';
import { type Destination, DestinationUnavailable } from './destination.ts';
import { objectsDestination } from './objects-destination.ts';

const PRIVATE_TOO = ['0.0.0.0/0', '::/0'];
const SILENT_MS = 60_000;

export interface S3Place {
  endpoint: string;
  region: string;
  bucket: string;
  prefix?: string | undefined;
  pathStyle: boolean;
  accessKeyId: string;
}

export interface S3Setting {
  place: S3Place;
  secret: string;
  /** CIDRs that the deployment opens; nothing closes them. */
  always: readonly string[];
  /** CIDRs that are closed in addition to the built-in ones. */
  deny: readonly string[];
  /** For tests. */
  lookup?: OutboundSetting['lookup'];
}

/**
 * An external bucket. Private addresses are allowed; this machine and the cluster's own networks never are. Throws
 * `DestinationUnavailable`.
 */
export function s3Destination({ place, secret, always, deny, lookup }: S3Setting): Destination {
  const url = new URL(place.endpoint);
  const tls = url.protocol === 'https:';
  const judge = createAddressJudge(
    { deny: [...NEVER_CALLED, ...deny], ...(lookup && { lookup }) },
    { allow: PRIVATE_TOO, always },
  );
  try {
    judge.refuse(url.hostname);
  } catch (error) {
    throw new DestinationUnavailable('unreachable', 'This address is not reached from here', { cause: error });
  }
  const options = {
    endPoint: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (tls ? 443 : 80)),
    useSSL: tls,
    accessKey: place.accessKeyId,
    secretKey: secret,
    region: place.region,
    pathStyle: place.pathStyle,
    transportAgent: judgedAgent(judge, { tls, silentMs: SILENT_MS }),
  };
  const prefix = place.prefix ? `${withoutEnds(place.prefix, '/')}/` : '';
  return objectsDestination(
    objectsOf(options, () => place.bucket),
    prefix,
  );
}
