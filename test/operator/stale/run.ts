// One operator over a cluster in memory, shown older states than the true one: its deletions, its repeated creations,
// and its end state.

import { mediaServerController } from '#operator/media-server/controller.ts';
import { observe, Probes } from '#operator/media-server/observe.ts';
import { planServer } from '#operator/media-server/plan.ts';
import { reconcileMediaServer } from '#operator/media-server/reconcile.ts';
import { serverOf } from '#operator/media-server/server.ts';
import { Caches } from '#operator/runtime/caches.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import { Discovery } from '#operator/runtime/discovery.ts';
import { EventRecorder } from '#operator/runtime/events.ts';
import { Refusal, StaleCache } from '#operator/runtime/faults.ts';
import { GROUP_VERSION, type KubeObject, PermanentFault } from '#operator/runtime/kube.ts';
import { KubeClient } from '#operator/runtime/kube-client.ts';
import { newLog } from '#operator/runtime/log.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { Rest } from '#operator/runtime/rest.ts';
import { named } from '../media-server/specs.ts';
import { countingFresh, mediaServer, World } from '../media-server/support.ts';
import { KINDS, StoreServer } from './store-server.ts';

/**
 * `late`: the watches of the kinds fall behind and catch up. `unseen`: they do, and a list follows: objects that came
 * and went meanwhile were never observed. `old`: another operator begins, whose first lists of the kinds are from an
 * earlier moment.
 */
export const MODES = ['late', 'unseen', 'old'] as const;

export interface Plan {
  mode: (typeof MODES)[number];
  kinds: readonly string[];
  /** The pass before which it begins, and for how many it lasts. */
  at: number;
  lasts: number;
  /** Of `old`: which change of the first of the kinds is not known yet, from 0 (the first) to 1 (the last). */
  from: number;
}

export interface Workload {
  spec: Record<string, unknown>;
  steps: readonly ((world: World, store: StoreServer) => void)[];
}

/** Passes after each step. */
export const PASSES = 8;
const REST_PASSES = 80;
const MADE_ONCE = /-(keys|postgres|objects|redis)$/;

export interface Ended {
  faults: string[];
  state: Record<string, string>;
  deletions: number;
}

class Run {
  readonly #store: StoreServer;
  readonly #world: World;
  readonly #rest: Rest;
  readonly #seen = new Map<string, number>();
  readonly #held = new Set<string>();
  #caches: Caches;
  #kube: KubeClient;
  readonly faults: string[] = [];
  deletions = 0;

  constructor(store: StoreServer, spec: Record<string, unknown>) {
    this.#store = store;
    store.put(...named);
    this.#world = new World(mediaServer(spec), store);
    const { connect } = this.#world.tools;
    this.#world.tools.connect = (server, key) => ({
      ...connect(server, key),
      metrics: async () => store.workers() + idleFor(store),
    });
    this.#rest = new Rest({ credentials: new Credentials(store.kubeconfig()), metrics: newMetrics() });
    store.deleting = (object) => this.#judge(object);
    store.writing = (before, next) => this.#compare(before, next);
    [this.#caches, this.#kube] = this.#operator();
  }

  async follow({ steps }: Workload, plan?: Plan): Promise<void> {
    let passes = 0;
    const turn = async (): Promise<void> => {
      if (plan && passes === plan.at) this.#begin(plan);
      if (plan && passes === plan.at + plan.lasts) this.#end(plan);
      passes += 1;
      await this.#pass();
    };
    for (const step of [() => undefined, ...steps]) {
      step(this.#world, this.#store);
      for (let count = 0; count < PASSES; count++) await turn();
    }
    if (plan) this.#end(plan);
    for (let quiet = 0, count = 0; quiet < 3; count++) {
      if (count > REST_PASSES) throw new Error('it never comes to rest');
      const before = this.#store.version;
      this.#world.later(5000);
      await turn();
      quiet = this.#store.version === before ? quiet + 1 : 0;
    }
  }

  close(): void {
    this.#rest.close();
  }

  #operator(): [Caches, KubeClient] {
    const { images, clusterNetworks, connect } = this.#world.tools;
    const { watches } = mediaServerController({ images, clusterNetworks, connect });
    const [log, metrics, rest] = [newLog('silent'), newMetrics(), this.#rest];
    const all = [...watches, { apiVersion: GROUP_VERSION, kind: 'MediaServer' }];
    const plan = { namespaces: ['media'], watches: all, discovery: new Discovery(rest), changed: () => undefined };
    const caches = new Caches({ rest, metrics, log }, plan);
    const recorder = new EventRecorder({ rest, log, fence: () => undefined });
    return [caches, new KubeClient({ rest, caches, metrics, recorder })];
  }

  #begin({ mode, kinds, from }: Plan): void {
    const { version } = this.#store;
    if (mode === 'old') {
      [this.#caches, this.#kube] = this.#operator();
      const changes = this.#store.history.filter(({ object }) => object.kind === kinds[0]);
      const then = (changes[Math.floor(from * changes.length)]?.version ?? version) - 1;
      for (const kind of KINDS) this.#list(kind, kinds.includes(kind) ? then : version);
    }
    for (const kind of kinds) this.#held.add(kind);
  }

  #end({ mode, kinds }: Plan): void {
    for (const kind of kinds) {
      if (mode === 'unseen' && this.#held.has(kind)) this.#list(kind, this.#store.version);
      this.#held.delete(kind);
    }
  }

  #list(kind: string, version: number): void {
    this.#caches.of(kind).replace('media', this.#store.at(kind, version), String(version));
    this.#seen.set(kind, version);
  }

  /** The content of the watches. */
  #follow(): void {
    const { version, history } = this.#store;
    for (const change of history) {
      const { kind } = change.object;
      if (this.#held.has(kind) || change.version <= (this.#seen.get(kind) ?? 0)) continue;
      if (change.gone) this.#caches.of(kind).drop(change.object);
      else this.#caches.of(kind).put(change.object);
    }
    for (const kind of KINDS) if (!this.#held.has(kind)) this.#seen.set(kind, version);
  }

  async #pass(): Promise<void> {
    this.#follow();
    const world = this.#world;
    world.later(1000);
    const given = { now: world.now, tools: world.tools };
    await reconcileMediaServer({ namespace: 'media', name: 'home' }, this.#kube, given).catch((error: unknown) => {
      const expected = [Refusal, StaleCache, PermanentFault].some((known) => error instanceof known);
      if (!expected) throw error;
    });
    this.#store.collect();
    this.#store.play(world.now);
  }

  /** A deletion is right where a look at how things truly are leaves the object out as well. */
  async #judge({ kind, metadata }: KubeObject): Promise<void> {
    this.deletions += 1;
    if (kind === 'Deployment') this.faults.push(`deleted Deployment ${metadata.name}: no pod serves`);
    if (metadata.name.includes('-transcode-')) return; // idle ones go one after the other, by the reports of the server
    const live = this.#store.get('MediaServer', 'media', 'home');
    const server = live && serverOf(live);
    if (!server || 'reason' in server) return;
    const { tools, now } = this.#world;
    const probes = new Probes();
    const seen = await probes.look(server, observe(server, this.#store, now), tools.connect(server, ''));
    const { objects } = planServer(server, seen, { ...tools, fresh: countingFresh() });
    const wanted = objects.some((object) => object.kind === kind && object.metadata.name === metadata.name);
    if (wanted) this.faults.push(`deleted ${kind} ${metadata.name}, which is wanted`);
  }

  #compare(before: KubeObject, next: KubeObject): void {
    const { name } = before.metadata;
    if (before.kind !== 'Secret' || !MADE_ONCE.test(name)) return;
    if (JSON.stringify(before.data) !== JSON.stringify(next.data)) this.faults.push(`Secret ${name} was made again`);
  }

  /** All objects but pods; random values, and names derived from them, left out. */
  state(): Record<string, string> {
    const all = [...this.#store.objects.values()].filter(({ kind }) => kind !== 'Pod');
    const entries = all.map((object) => {
      const { kind, metadata, data, status, ...rest } = object;
      const { labels, annotations } = metadata;
      const texts = Object.entries((data ?? {}) as Record<string, string>).map(([key, value]) => [
        key,
        kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value,
      ]);
      const conditions = (
        (status as { conditions?: { type: string; status: string; reason?: string }[] })?.conditions ?? []
      )
        .map((one) => `${one.type} ${one.status} ${one.reason}`)
        .sort();
      return [plain(`${kind}/${metadata.name}`), plain(JSON.stringify([labels, annotations, rest, texts, conditions]))];
    });
    return numbered(entries as [string, string][]);
  }
}

/** All workers have been idle for long. */
const idleFor = (store: StoreServer): string =>
  store
    .list('Pod', 'media')
    .map(({ metadata }) => `foyer_transcode_worker_idle_seconds{pod="${metadata.name}"} 100000\n`)
    .join('');

const RANDOM: readonly [RegExp, string][] = [
  [/canary-([a-z]+)-\d+/g, '$1'],
  [/"foyer.media\/applied":"[^"]*"/g, ''],
  [/\b[0-9a-f]{10,}\b/g, '#'],
  [/-transcode-\d+/g, '-transcode-#'],
];
const plain = (text: string): string => RANDOM.reduce((so, [what, by]) => so.replaceAll(what, by), text);

/** Several may have one name without its random part. */
function numbered(entries: readonly [string, string][]): Record<string, string> {
  const counts = new Map<string, number>();
  const sorted = entries.map(([name, text]) => ({ name, text })).sort((a, b) => (a.text < b.text ? -1 : 1));
  return Object.fromEntries(
    sorted.map(({ name, text }) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return [`${name} ${count}`, text];
    }),
  );
}

export async function runOf(workload: Workload, plan?: Plan): Promise<Ended> {
  const store = await new StoreServer().start();
  const run = new Run(store, workload.spec);
  try {
    await run.follow(workload, plan);
    return { faults: run.faults, state: run.state(), deletions: run.deletions };
  } finally {
    run.close();
    store.stop();
  }
}
