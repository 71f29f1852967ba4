// Secrets that are created once: an existing one is returned unchanged, a missing one is created.
import type { Fresh } from '../../keys.ts';
import type { Manifest } from '../../runtime/manifest.ts';
import type { Secrets } from '../../server-environment.ts';
import type { Server } from '../server.ts';
import { type Component, metaOf, nameOf, secretObject } from './meta.ts';

/** Annotation on the operator's key: the value of the server's annotation for which the key was created. */
export const ROTATION = 'foyer.media/rotate-operator-key';

interface Made {
  suffix: string;
  component?: Component;
  /** Outlives the server: the remaining data cannot be read without it. */
  keep?: boolean;
  texts: () => Record<string, string>;
}

/** Without the namespace, so that a Secret restored into another namespace points to the store there. */
const host = ({ name }: Server, suffix: string): string => `${name}-${suffix}`;

function postgresTexts(server: Server, password: string): Record<string, string> {
  const uri = `postgres://foyer:${password}@${host(server, 'postgres')}:5432/foyer`;
  return { username: 'foyer', password, database: 'foyer', uri };
}

const redisTexts = (server: Server, password: string): Record<string, string> => ({
  password,
  uri: `redis://:${password}@${host(server, 'redis')}:6379`,
});

function objectsTexts(server: Server, secretKey: string): Record<string, string> {
  const address = `${host(server, 'objects')}:9000`;
  const uri = `s3://foyer:${secretKey}@${address}/?tls=0`;
  return { endpoint: `http://${address}`, accessKey: 'foyer', secretKey, uri };
}

function wanted(server: Server, { fresh, claim }: ToMake): Made[] {
  const { postgres, redis, objects } = server.spec;
  const store = (
    suffix: 'postgres' | 'redis' | 'objects',
    texts: (server: Server, password: string) => Record<string, string>,
  ): Made => ({
    suffix,
    component: suffix,
    keep: suffix !== 'redis',
    texts: () => texts(server, fresh.password()),
  });
  return [
    { suffix: 'keys', keep: true, texts: () => ({ 'keys.json': JSON.stringify(fresh.keyRing()) }) },
    ...(postgres.managed ? [store('postgres', postgresTexts)] : []),
    ...(redis.managed ? [store('redis', redisTexts)] : []),
    ...(objects.managed ? [store('objects', objectsTexts)] : []),
    ...(claim ? [{ suffix: 'claim', texts: () => ({ code: fresh.claimCode() }) }] : []),
  ];
}

export interface ToMake {
  /** Existing Secrets, decoded. */
  observed: Secrets;
  /** Annotation {@link ROTATION} of the existing operator's key. */
  rotatedFor: string | undefined;
  claim: boolean;
  fresh: Fresh;
  /** Secrets that must not be created again. */
  lost: ReadonlySet<string>;
}

function operatorKey(server: Server, { observed, rotatedFor, fresh }: ToMake): Manifest<'Secret'> {
  const requested = server.annotations[ROTATION];
  const before = observed.get(nameOf(server, 'operator-key'));
  const stays = before?.key !== undefined && (requested === undefined || requested === rotatedFor);
  const mark = requested ?? rotatedFor;
  const annotations = mark === undefined ? {} : { [ROTATION]: mark };
  const metadata = metaOf(server, { suffix: 'operator-key', annotations });
  return secretObject(metadata, stays ? before : { key: fresh.operatorKey() });
}

/** One Secret each, never rewritten. Only the operator's key changes, when the annotation requests it. */
export function secretsMadeOnce(server: Server, given: ToMake): Manifest<'Secret'>[] {
  const there = wanted(server, given).filter(({ suffix }) => !given.lost.has(nameOf(server, suffix)));
  const objects = there.map(({ suffix, component, keep = false, texts }) => {
    const metadata = metaOf(server, { suffix, keep, ...(component && { component }) });
    return secretObject(metadata, given.observed.get(nameOf(server, suffix)) ?? texts());
  });
  return [...objects, operatorKey(server, given)];
}
