// Secrets that are missing while data depends on them. They are not created again unless an annotation allows it. Pure.
import { keysSecret } from './desired/context.ts';
import { nameOf } from './desired/meta.ts';
import type { Observed } from './observed.ts';
import type { Server } from './server.ts';

/**
 * Allows replacing missing Secrets, as NAME@UID with the uid of this MediaServer, separated by spaces or commas. A value
 * restored from Git or a backup has another uid and allows nothing. Each entry applies once, until it is removed.
 */
export const REPLACE = 'foyer.media/replace-secrets';

/** The condition that reports it. */
type Type = 'SettingsValid' | 'DatabaseReady' | 'ObjectsReady';

export interface LostSecret {
  type: Type;
  reason: 'SecretLost';
  message: string;
  secret: string;
}

interface DataSecret {
  name: string;
  type: Type;
  /** Consequences of creating it again. */
  loss: string;
  /** A command that restores it from a running pod. */
  restoreCommand: string;
  /** Data that depends on it exists. */
  holdsData: boolean;
}

const claimOf = (server: Server, store: 'postgres' | 'objects'): string => `data-${nameOf(server, store)}-0`;

/** A command that creates a Secret; each value is a shell word. */
function createCommand({ namespace }: Server, name: string, values: Record<string, string>): string {
  const literals = Object.entries(values).map(([key, text]) => `--from-literal=${key}=${text}`);
  return [`kubectl -n ${namespace} create secret generic ${name}`, ...literals].join(' ');
}

const execIn = ({ namespace }: Server, pod: string, command: string): string =>
  `"$(kubectl -n ${namespace} exec ${pod} -- ${command})"`;

/** An environment variable of a pod, as a shell word. */
const variableOf = (server: Server, pod: string, name: string): string => execIn(server, pod, `sh -c 'echo $${name}'`);

const apiOf = (server: Server): string => `deploy/${nameOf(server, 'api')}`;

/** All data depends on the key ring, also in external stores. */
function keyRing(server: Server, { claims, release, known, children }: Observed): DataSecret {
  const name = keysSecret(server);
  const wasRolledOut = release !== undefined || known.serverId !== undefined;
  const hasDeployments = [...children.keys()].some((key) => key.startsWith('Deployment/'));
  const volumes = claims.has(claimOf(server, 'postgres')) || claims.has(claimOf(server, 'objects'));
  return {
    name,
    type: 'SettingsValid',
    loss: 'all users are signed out, the id of the server changes, and its sealed values (passwords and tokens of services) are lost',
    restoreCommand: createCommand(server, name, {
      'keys.json': execIn(server, apiOf(server), 'cat /etc/foyer/keys/keys.json'),
    }),
    holdsData: wasRolledOut || hasDeployments || volumes,
  };
}

function database(server: Server, { claims }: Observed): DataSecret[] {
  if (!server.spec.postgres.managed) return [];
  const name = nameOf(server, 'postgres');
  const values = {
    username: variableOf(server, `${name}-0`, 'POSTGRES_USER'),
    database: variableOf(server, `${name}-0`, 'POSTGRES_DB'),
    password: variableOf(server, `${name}-0`, 'POSTGRES_PASSWORD'),
    uri: variableOf(server, apiOf(server), 'FOYER_DATABASE_URL'),
  };
  const loss = 'only the password: the database gets the new one';
  const holdsData = claims.has(claimOf(server, 'postgres'));
  return [{ name, type: 'DatabaseReady', loss, restoreCommand: createCommand(server, name, values), holdsData }];
}

function objectStore(server: Server, { claims }: Observed): DataSecret[] {
  if (!server.spec.objects.managed) return [];
  const name = nameOf(server, 'objects');
  const values = {
    endpoint: `http://${name}:9000`,
    accessKey: variableOf(server, `${name}-0`, 'MINIO_ROOT_USER'),
    secretKey: variableOf(server, `${name}-0`, 'MINIO_ROOT_PASSWORD'),
  };
  const loss = 'only the keys: the object store gets the new ones';
  const holdsData = claims.has(claimOf(server, 'objects'));
  return [{ name, type: 'ObjectsReady', loss, restoreCommand: createCommand(server, name, values), holdsData }];
}

const dataSecretsOf = (server: Server, observed: Observed): DataSecret[] => [
  keyRing(server, observed),
  ...database(server, observed),
  ...objectStore(server, observed),
];

const entriesOf = (value: string | undefined): string[] => (value ?? '').split(/[\s,]+/).filter(Boolean);

/** The entry of the annotation for a Secret of this server. */
const entryFor = (name: string, { uid }: Server): string => `${name}@${uid}`;

/** The entries of the annotation, truncated to the length of the status field. */
const entriesIn = ({ annotations }: Server): string[] => entriesOf(annotations[REPLACE]?.slice(0, 1024));

/** The entry was applied before and has not been removed since. */
const isHandled = (server: Server, name: string, { known }: Observed): boolean =>
  entriesOf(known.replacedSecrets).includes(entryFor(name, server));

const isReplaced = (server: Server, name: string, observed: Observed): boolean =>
  entriesIn(server).includes(entryFor(name, server)) && !isHandled(server, name, observed);

const missing = (server: Server, observed: Observed): DataSecret[] =>
  dataSecretsOf(server, observed).filter(({ name, holdsData }) => holdsData && !observed.secrets.has(name));

function howToReplace(server: Server, name: string, observed: Observed): string {
  if (isHandled(server, name, observed))
    return `remove the annotation ${REPLACE}, which was used before; this message then shows the value to set`;
  return `set the annotation ${REPLACE}: ${entryFor(name, server)}`;
}

/** One fault for each Secret that must be restored or replaced before the next roll-out. */
export function lostSecrets(server: Server, observed: Observed): LostSecret[] {
  const lost = missing(server, observed).filter(({ name }) => !isReplaced(server, name, observed));
  return lost.map(({ name, type, loss, restoreCommand }) => ({
    type,
    reason: 'SecretLost',
    secret: name,
    message: `Secret ${name} is missing, and data depends on it: nothing is rolled out until it is restored. To create a new one, ${howToReplace(server, name, observed)}. A new one loses: ${loss}. To restore it: from a backup, or from running pods: ${restoreCommand}`,
  }));
}

/**
 * Entries whose Secrets exist count as applied, so an entry that was set in advance has no effect. Removed entries are
 * forgotten.
 */
export function handledReplacements(server: Server, observed: Observed): string | undefined {
  const before = entriesOf(observed.known.replacedSecrets);
  const lost = missing(server, observed).map(({ name }) => entryFor(name, server));
  const handled = entriesIn(server).filter((word) => before.includes(word) || !lost.includes(word));
  return handled.length > 0 ? handled.join(' ') : undefined;
}
