// Secrets that opened data and are gone. They are not made anew over that data, unless an annotation says so. Pure.

import { keysSecret } from './desired/context.ts';
import { nameOf } from './desired/meta.ts';
import type { Fault } from './faults.ts';
import { childrenOf, type Seen } from './seen.ts';
import type { Server } from './server.ts';

/** Names Secrets to be made anew although data is there, separated by spaces or commas. Each value is answered once. */
export const REPLACE = 'foyer.media/replace-secrets';

interface Opener {
  name: string;
  type: Fault['type'];
  /** What becomes of the server if it is made anew. */
  loss: string;
  /** A command that puts it back from a running pod. */
  copy: string;
  /** There is something that it opens. */
  holdsData: boolean;
}

const claimOf = (server: Server, store: 'postgres' | 'objects'): string => `data-${nameOf(server, store)}-0`;

const create = (name: string, values: Record<string, string>): string =>
  [
    `kubectl create secret generic ${name}`,
    ...Object.entries(values).map(([key, text]) => `--from-literal=${key}=${text}`),
  ].join(' ');

const inPod = (pod: string, command: string): string => `"$(kubectl exec ${pod} -- ${command})"`;

function openersOf(server: Server, seen: Seen): Opener[] {
  const { claims, release, known } = seen;
  const [api, postgres, objects] = [
    `deploy/${nameOf(server, 'api')}`,
    `${nameOf(server, 'postgres')}-0`,
    nameOf(server, 'objects'),
  ];
  const ran = release !== undefined || known.serverId !== undefined || childrenOf(seen, 'Deployment').length > 0;
  const volumes = {
    postgres: claims.has(claimOf(server, 'postgres')),
    objects: claims.has(claimOf(server, 'objects')),
  };
  const keys = {
    name: keysSecret(server),
    type: 'SettingsValid' as const,
    loss: 'everybody is signed out, the id of the server changes, and what it sealed (passwords and tokens of services) is lost',
    copy: create(keysSecret(server), { 'keys.json': inPod(api, 'cat /etc/foyer/keys/keys.json') }),
    holdsData: ran || volumes.postgres || volumes.objects,
  };
  const database = {
    name: nameOf(server, 'postgres'),
    type: 'DatabaseReady' as const,
    loss: 'nothing but the password: the database is given the new one',
    copy: create(nameOf(server, 'postgres'), {
      username: inPod(postgres, `sh -c 'echo $POSTGRES_USER'`),
      database: inPod(postgres, `sh -c 'echo $POSTGRES_DB'`),
      password: inPod(postgres, `sh -c 'echo $POSTGRES_PASSWORD'`),
      uri: inPod(api, `sh -c 'echo $FOYER_DATABASE_URL'`),
    }),
    holdsData: volumes.postgres,
  };
  const store = {
    name: objects,
    type: 'ObjectsReady' as const,
    loss: 'nothing but the keys: the object store is given the new ones',
    copy: create(objects, {
      endpoint: `http://${objects}:9000`,
      accessKey: inPod(`${objects}-0`, `sh -c 'echo $MINIO_ROOT_USER'`),
      secretKey: inPod(`${objects}-0`, `sh -c 'echo $MINIO_ROOT_PASSWORD'`),
    }),
    holdsData: volumes.objects,
  };
  return [keys, ...(server.spec.postgres.managed ? [database] : []), ...(server.spec.objects.managed ? [store] : [])];
}

const namesIn = (value: string | undefined): string[] => (value ?? '').split(/[\s,]+/).filter(Boolean);

/** The annotation asks for a Secret of this name, with a value that was not answered yet. */
function isReplaced(server: Server, name: string, { known }: Seen): boolean {
  const asked = askedIn(server);
  return asked !== known.replacedSecrets && namesIn(asked).includes(name);
}

/** The annotation, as far as a status has room for it. */
const askedIn = ({ annotations }: Server): string | undefined => annotations[REPLACE]?.slice(0, 1024);

const missing = (server: Server, seen: Seen): Opener[] =>
  openersOf(server, seen).filter(({ name, holdsData }) => holdsData && !seen.secrets.has(name));

/** One fault for each Secret that must come back, or be given up, before anything rolls. */
export function lostSecrets(server: Server, seen: Seen): (Fault & { secret: string })[] {
  const lost = missing(server, seen).filter(({ name }) => !isReplaced(server, name, seen));
  return lost.map(({ name, type, loss, copy }) => ({
    type,
    reason: 'SecretLost',
    secret: name,
    message: `Secret ${name} is gone, and the data that it opened is there: nothing rolls until it is back. To have a new one made, set the annotation ${REPLACE}: ${name}. Lost with a new one: ${loss}. To put it back: from a backup, or from pods that still run: ${copy}`,
  }));
}

/** The value of the annotation, once every Secret that it names is there: set before a loss, it decides nothing. */
export function answeredReplacement(server: Server, seen: Seen): string | undefined {
  const asked = askedIn(server);
  if (asked === undefined || missing(server, seen).some(({ name }) => namesIn(asked).includes(name)))
    return seen.known.replacedSecrets;
  return asked;
}
