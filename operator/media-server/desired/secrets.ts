// Secrets that are made once: what was seen is handed back as it is, what is missing is made.
import type { Fresh } from '../../keys.ts';
import type { KubeObject } from '../../runtime/kube.ts';
import type { Secrets } from '../../server-environment.ts';
import type { Server } from '../server.ts';
import { type Component, metaOf, nameOf, secretObject } from './meta.ts';

/** The value of the annotation that the operator's key was made for. */
export const ROTATION = 'foyer.media/rotate-operator-key';

interface Made {
  suffix: string;
  component?: Component;
  /** Outlives the server: the data that stays cannot be read without. */
  keep?: boolean;
  texts: () => Record<string, string>;
}

/** Without the namespace: a Secret that is restored into another one leads to the store there. */
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
  /** As seen, decoded. */
  seen: Secrets;
  /** Annotation {@link ROTATION} of the operator's key as seen. */
  rotatedFor: string | undefined;
  claim: boolean;
  fresh: Fresh;
  /** Names of those that must not be made anew. */
  lost: ReadonlySet<string>;
}

function operatorKey(server: Server, { seen, rotatedFor, fresh }: ToMake): KubeObject {
  const asked = server.annotations[ROTATION];
  const before = seen.get(nameOf(server, 'operator-key'));
  const stays = before?.key !== undefined && (asked === undefined || asked === rotatedFor);
  const mark = asked ?? rotatedFor;
  const annotations = mark === undefined ? {} : { [ROTATION]: mark };
  const metadata = metaOf(server, { suffix: 'operator-key', annotations });
  return secretObject(metadata, stays ? before : { key: fresh.operatorKey() });
}

/** One Secret each, never rewritten; only the operator's key changes, when the annotation asks for it. */
export function secretsMadeOnce(server: Server, given: ToMake): KubeObject[] {
  const there = wanted(server, given).filter(({ suffix }) => !given.lost.has(nameOf(server, suffix)));
  const objects = there.map(({ suffix, component, keep = false, texts }) => {
    const metadata = metaOf(server, { suffix, keep, ...(component && { component }) });
    return secretObject(metadata, given.seen.get(nameOf(server, suffix)) ?? texts());
  });
  return [...objects, operatorKey(server, given)];
}
