// The objects of the cluster, followed by watches, and the time of the last change of each resource and its children.
import { pino } from 'pino';
import { CHILDREN } from '#operator/media-server/observe.ts';
import { Caches } from '#operator/runtime/caches.ts';
import { Discovery } from '#operator/runtime/discovery.ts';
import { type Controller, GROUP_VERSION, KEEP, type KubeObject, OWNER, type Reader } from '#operator/runtime/kube.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import type { Rest } from '#operator/runtime/rest.ts';
import type { Condition } from '#operator/schemas/conditions.ts';
import { calm, type Held, stateOf } from '../support/end-state.ts';
import type { Mutation } from './mutation.ts';

type Kind = Mutation['kind'];

const OURS: readonly string[] = ['MediaServer', 'Library', 'TunerDevice'];
const laneOf = ({ kind, metadata }: KubeObject): string | undefined => {
  if (OURS.includes(kind)) return `${kind}/${metadata.name}`;
  const tuner = metadata.labels?.['foyer.media/tuner'];
  if (tuner !== undefined) return `TunerDevice/${tuner}`;
  const server = metadata.labels?.['app.kubernetes.io/instance'];
  return server === undefined ? undefined : `MediaServer/${server}`;
};

export class Watched {
  readonly reader: Reader;
  /** Every observed state of a resource of ours. */
  readonly states: KubeObject[] = [];
  readonly #caches: Caches;
  readonly #moved = new Map<string, number>();
  readonly #namespace: string;

  constructor(rest: Rest, namespace: string, controllers: readonly Controller[]) {
    const watches = controllers.flatMap(({ kind, watches: others }) => [
      { apiVersion: GROUP_VERSION, kind },
      ...others,
    ]);
    this.#caches = new Caches(
      { rest, metrics: newMetrics(), log: pino({ level: 'silent' }) },
      { namespaces: [namespace], watches, discovery: new Discovery(rest), changed: (object) => this.#changed(object) },
    );
    this.reader = this.#caches;
    this.#namespace = namespace;
  }

  async start(): Promise<void> {
    this.#caches.start();
    await this.#caches.synced();
  }

  stop(): Promise<void> {
    return this.#caches.stop();
  }

  get(kind: string, name: string): KubeObject {
    const found = this.#caches.get(kind, this.#namespace, name);
    if (!found) throw new Error(`no ${kind} ${name}`);
    return found;
  }

  /** Milliseconds since anything of it moved. */
  quietMs(kind: Kind, name: string): number {
    return performance.now() - (this.#moved.get(`${kind}/${name}`) ?? 0);
  }

  children(owner: KubeObject): KubeObject[] {
    const labels = { [OWNER]: owner.metadata.uid ?? '' };
    const kinds = CHILDREN.flatMap((kind) => this.#caches.list(kind, this.#namespace, labels));
    return kinds.filter(({ metadata }) => metadata.annotations?.['foyer.media/applied'] && !metadata.deletionTimestamp);
  }

  /** By name, without times and versions; finished Jobs and objects that are kept for ever may remain. */
  state(owner: KubeObject): Record<string, unknown> {
    const { conditions = [], ...rest } = (owner.status ?? {}) as { conditions?: Condition[] };
    const {
      observedGeneration: _seen,
      scanRequest: _asked,
      lastScan: _scan,
      ...status
    } = rest as Record<string, unknown>;
    const judged = conditions.map(({ type, status: is, reason, message }) => [type, { is, reason, message }] as const);
    const byType = Object.fromEntries(judged.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    const children = this.children(owner).filter(({ metadata }) => metadata.annotations?.[KEEP] === undefined);
    // Workers of the pool take the lowest free numbers: those of now need not be those of before.
    const workers = children
      .filter(({ metadata }) => metadata.name.includes('-transcode-'))
      .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
    const nameOf = (child: KubeObject): string =>
      workers.includes(child) ? `worker ${workers.indexOf(child)}` : child.metadata.name;
    const entries = children.map((child) => {
      const text = JSON.stringify(stateOf(child as unknown as Held)); // a worker's name stands in labels of its pod too
      return [
        `${child.kind} ${nameOf(child)}`,
        JSON.parse(text.replaceAll(child.metadata.name, nameOf(child))),
      ] as const;
    });
    const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
    const finalizers = owner.metadata.finalizers ?? [];
    return calm({ finalizers, status, conditions: byType, ...Object.fromEntries(sorted) });
  }

  #changed(object: KubeObject): void {
    const lane = laneOf(object);
    if (lane !== undefined) this.#moved.set(lane, performance.now());
    if (OURS.includes(object.kind)) this.states.push(object);
  }
}
