// Secrets that opened data and are gone. They are not made anew over that data, unless an annotation says so. Pure.
import { keysSecret } from './desired/context.ts';
import { nameOf } from './desired/meta.ts';
import type { Seen } from './observed.ts';
import type { Server } from './server.ts';

/**
 * Gives up Secrets although data is there, as NAME@UID with the uid of this MediaServer, separated by spaces or commas. A value that
 * comes back from Git or a backup names another object, and gives up nothing. Each word is answered once, until it is removed.
 */
export const REPLACE = 'foyer.media/replace-secrets';

/** The condition that tells of it. */
type Type = 'SettingsValid' | 'DatabaseReady' | 'ObjectsReady';

export interface LostSecret {
  type: Type;
  reason: 'SecretLost';
  message: string;
  secret: string;
}

interface Opener {
  name: string;
  type: Type;
  /** What becomes of the server if it is made anew. */
  loss: string;
  /** A command that puts it back from a running pod. */
  copy: string;
  /** There is something that it opens. */
  holdsData: boolean;
}

const claimOf = (server: Server, store: 'postgres' | 'objects'): string => `data-${nameOf(server, store)}-0`;

/** Makes a Secret; each value is a word of the shell. */
function create({ namespace }: Server, name: string, values: Record<string, string>): string {
  const literals = Object.entries(values).map(([key, text]) => `--from-literal=${key}=${text}`);
  return [`kubectl -n ${namespace} create secret generic ${name}`, ...literals].join(' ');
}

const inPod = ({ namespace }: Server, pod: string, command: string): string =>
  `"$(kubectl -n ${namespace} exec ${pod} -- ${command})"`;

/** A variable of the environment of a pod. */
const variable = (server: Server, pod: string, name: string): string => inPod(server, pod, `sh -c 'echo $${name}'`);

const apiOf = (server: Server): string => `deploy/${nameOf(server, 'api')}`;

/** Any data goes with the key ring, also that of stores of others. */
function keyRing(server: Server, { claims, release, known, children }: Seen): Opener {
  const name = keysSecret(server);
  const ran = release !== undefined || known.serverId !== undefined;
  const isThere = [...children.keys()].some((key) => key.startsWith('Deployment/'));
  const volumes = claims.has(claimOf(server, 'postgres')) || claims.has(claimOf(server, 'objects'));
  return {
    name,
    type: 'SettingsValid',
    loss: 'everybody is signed out, the id of the server changes, and what it sealed (passwords and tokens of services) is lost',
    copy: create(server, name, { 'keys.json': inPod(server, apiOf(server), 'cat /etc/foyer/keys/keys.json') }),
    holdsData: ran || isThere || volumes,
  };
}

function database(server: Server, { claims }: Seen): Opener[] {
  if (!server.spec.postgres.managed) return [];
  const name = nameOf(server, 'postgres');
  const values = {
    username: variable(server, `${name}-0`, 'POSTGRES_USER'),
    database: variable(server, `${name}-0`, 'POSTGRES_DB'),
    password: variable(server, `${name}-0`, 'POSTGRES_PASSWORD'),
    uri: variable(server, apiOf(server), 'FOYER_DATABASE_URL'),
  };
  const loss = 'nothing but the password: the database is given the new one';
  const holdsData = claims.has(claimOf(server, 'postgres'));
  return [{ name, type: 'DatabaseReady', loss, copy: create(server, name, values), holdsData }];
}

function objectStore(server: Server, { claims }: Seen): Opener[] {
  if (!server.spec.objects.managed) return [];
  const name = nameOf(server, 'objects');
  const values = {
    endpoint: `http://${name}:9000`,
    accessKey: variable(server, `${name}-0`, 'MINIO_ROOT_USER'),
    secretKey: variable(server, `${name}-0`, 'MINIO_ROOT_PASSWORD'),
  };
  const loss = 'nothing but the keys: the object store is given the new ones';
  const holdsData = claims.has(claimOf(server, 'objects'));
  return [{ name, type: 'ObjectsReady', loss, copy: create(server, name, values), holdsData }];
}

const openersOf = (server: Server, seen: Seen): Opener[] => [
  keyRing(server, seen),
  ...database(server, seen),
  ...objectStore(server, seen),
];

const wordsIn = (value: string | undefined): string[] => (value ?? '').split(/[\s,]+/).filter(Boolean);

/** What the annotation says to give up a Secret of this very server. */
const consentTo = (name: string, { uid }: Server): string => `${name}@${uid}`;

/** The words of the annotation, as far as a status has room for it. */
const askedIn = ({ annotations }: Server): string[] => wordsIn(annotations[REPLACE]?.slice(0, 1024));

/** The annotation gave this Secret up before, and was not removed since. */
const isAnswered = (server: Server, name: string, { known }: Seen): boolean =>
  wordsIn(known.replacedSecrets).includes(consentTo(name, server));

const isReplaced = (server: Server, name: string, seen: Seen): boolean =>
  askedIn(server).includes(consentTo(name, server)) && !isAnswered(server, name, seen);

const missing = (server: Server, seen: Seen): Opener[] =>
  openersOf(server, seen).filter(({ name, holdsData }) => holdsData && !seen.secrets.has(name));

function howToReplace(server: Server, name: string, seen: Seen): string {
  if (isAnswered(server, name, seen))
    return `remove the annotation ${REPLACE}, which was used before: this message then says what to set`;
  return `set the annotation ${REPLACE}: ${consentTo(name, server)}`;
}

/** One fault for each Secret that must come back, or be given up, before anything rolls. */
export function lostSecrets(server: Server, seen: Seen): LostSecret[] {
  const lost = missing(server, seen).filter(({ name }) => !isReplaced(server, name, seen));
  return lost.map(({ name, type, loss, copy }) => ({
    type,
    reason: 'SecretLost',
    secret: name,
    message: `Secret ${name} is gone, and the data that it opened is there: nothing rolls until it is back. To have a new one made, ${howToReplace(server, name, seen)}. Lost with a new one: ${loss}. To put it back: from a backup, or from pods that still run: ${copy}`,
  }));
}

/** Words of the annotation whose Secrets are there: set before a loss, they decide nothing. A word that is removed is forgotten. */
export function answeredReplacement(server: Server, seen: Seen): string | undefined {
  const before = wordsIn(seen.known.replacedSecrets);
  const lost = missing(server, seen).map(({ name }) => consentTo(name, server));
  const answered = askedIn(server).filter((word) => before.includes(word) || !lost.includes(word));
  return answered.length > 0 ? answered.join(' ') : undefined;
}
