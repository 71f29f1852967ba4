// The tuners of the servers of a cluster, through the public API with the operator's key of each server.
import { serverIdOf } from '../media-server/desired/context.ts';
import { mediaRoots } from '../media-server/desired/media.ts';
import type { KubeObject, Reader } from '../runtime/kube.ts';
import { Pool } from '../server-api/exchange.ts';
import { refusalText, type SendRequest, serverClient, Unreachable } from '../server-api/server-client.ts';
import { apiAddress, type ServerName, secretText } from '../server-api/servers.ts';
import type { Tuner } from './desired.ts';
import { urlRefs } from './environment.ts';
import { readFacts, type ServerFacts, statusFrom } from './server-facts.ts';
import { type SyncedTuner, syncTuner } from './server-tuner.ts';
import type { PodStatus } from './verdicts.ts';

/** All devices of a server use one reading. */
const FACTS_MS = 5000;

interface Known {
  key: string;
  request: SendRequest;
  /** Digests of the last requests. */
  sent: Map<string, string>;
  facts: Promise<ServerFacts | undefined>;
  at: number;
}

export class ServerTuners {
  readonly #pattern: string | undefined;
  readonly #known = new Map<string, Known>();
  /** By uid of the resource. */
  readonly #synced = new Map<string, SyncedTuner>();

  constructor(pattern?: string) {
    this.#pattern = pattern;
  }

  /** Undefined while the server has no key for the operator, or does not answer. */
  async facts(kube: Reader, server: ServerName): Promise<ServerFacts | undefined> {
    const known = this.#of(kube, server);
    if (!known) return undefined;
    if (Date.now() - known.at > FACTS_MS) {
      known.at = Date.now();
      known.facts = answered(readFacts(known.request));
    }
    return known.facts;
  }

  /** Makes the resource a tuner of its server. While the server does not answer, the last result. */
  async sync({ metadata }: KubeObject, tuner: Tuner, kube: Reader): Promise<SyncedTuner | undefined> {
    const { name, namespace = '', uid = '' } = metadata;
    const server = { namespace, name: tuner.server.name };
    const facts = await this.facts(kube, server);
    const known = this.#of(kube, server);
    if (!facts || !known) return this.#synced.get(uid);
    const media = mediaIds(tuner);
    const synced = await answered(
      syncTuner(
        { name, spec: tuner.spec, ...addressesOf(tuner) },
        {
          request: known.request,
          managedBy: { kind: 'TunerDevice', namespace, name, uid },
          facts,
          mediaId: (entry) => media.get(entry) ?? '',
          sent: known.sent,
        },
      ),
    );
    if (synced) this.#synced.set(uid, synced);
    if (!facts.tuners.some(({ id }) => id === synced?.tunerId)) known.at = 0; // a new one is not in them
    return synced ?? this.#synced.get(uid);
  }

  /** What the server knows about the tuner of a resource; undefined while it does not answer. */
  async known({ metadata }: KubeObject, server: ServerName, kube: Reader): Promise<Partial<PodStatus> | undefined> {
    const facts = await this.facts(kube, server);
    return facts && statusFrom(facts, metadata.uid ?? '');
  }

  /** Deletes the tuner of a resource that is deleted, and its guide. Returns why that was not possible. */
  async remove({ metadata }: KubeObject, server: ServerName, kube: Reader): Promise<string | undefined> {
    const known = this.#of(kube, server);
    if (!known) return `MediaServer ${server.name} is not set up`;
    known.at = 0;
    const facts = await this.facts(kube, server);
    if (!facts) return `MediaServer ${server.name} does not answer`;
    const isOwn = ({ managedBy }: { managedBy?: { uid: string } | null | undefined }): boolean =>
      managedBy?.uid === metadata.uid;
    const paths = [
      ...facts.guides.filter(isOwn).map(({ id }) => `/live/guide/sources/${id}`),
      ...facts.tuners.filter(isOwn).map(({ id }) => `/live/tuners/${id}?force=true`),
    ];
    for (const path of paths) {
      const answer = await answered(known.request('DELETE', path));
      if (!answer) return `MediaServer ${server.name} does not answer`;
      if (answer.status >= 300 && answer.status !== 404) return refusalText(answer);
    }
    this.#synced.delete(metadata.uid ?? '');
    return undefined;
  }

  #of(kube: Reader, server: ServerName): Known | undefined {
    const key = secretText(kube, { ...server, name: `${server.name}-operator-key` }, 'key');
    if (!key) return undefined;
    const name = `${server.namespace}/${server.name}`;
    const before = this.#known.get(name);
    if (before?.key === key) return before;
    const request = serverClient(apiAddress(server, this.#pattern), key, new Pool());
    const known = { key, request, sent: new Map<string, string>(), facts: Promise.resolve(undefined), at: 0 };
    this.#known.set(name, known);
    return known;
  }
}

/** Undefined when the server does not answer. */
async function answered<T>(request: Promise<T>): Promise<T | undefined> {
  return request.catch((error: unknown) => {
    if (error instanceof Unreachable) return undefined;
    throw error;
  });
}

/** Storage ids of the server's media, by name. */
function mediaIds({ server, secrets }: Tuner): Map<string, string> {
  const id = serverIdOf(secrets.get(`${server.name}-keys`)?.['keys.json']);
  return new Map(id === undefined ? [] : mediaRoots(server.spec, id).map((root) => [root.name, root.id]));
}

/** Addresses that Secrets hold. */
function addressesOf({ spec, secrets }: Tuner): { url: string | undefined; guideUrl: string | undefined } {
  const values = new Map(urlRefs(spec).map(({ variable, ref }) => [variable, secrets.get(ref.name)?.[ref.key]]));
  return { url: values.get('FOYER_TUNER_URL'), guideUrl: values.get('FOYER_TUNER_GUIDE_URL') };
}
