// An operator with nothing to do stays ready, however long. Two bounds are shortened here; with FOYER_QUIET_SECONDS=600 they are the
// real ones, for ten quiet minutes.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { controllersOf } from '#operator/cluster.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import { type Controller, done } from '#operator/runtime/kube.ts';
import { newLog } from '#operator/runtime/log.ts';
import { Manager, type ManagerOptions } from '#operator/runtime/manager.ts';
import { type Cluster, controlPlane, UP_MS } from './support/cluster.ts';
import { until } from './support/until.ts';

const SECONDS = Number(process.env.FOYER_QUIET_SECONDS ?? 200);

const quietEvents: Controller = {
  kind: 'Library',
  watches: [{ apiVersion: 'v1', kind: 'Event', fields: { type: 'Warning' } }],
  reconcile: async () => done,
};

describe('an operator on a quiet cluster', function () {
  this.timeout((SECONDS + 120) * 1000);
  let cluster: Cluster;
  let namespace = '';
  const stopping = new AbortController();
  const running: Promise<boolean>[] = [];

  before(async function () {
    this.timeout(UP_MS);
    cluster = await controlPlane();
    await cluster.kubectl.installKinds();
    namespace = await cluster.kubectl.namespace('quiet');
  });
  after(async () => {
    stopping.abort();
    await Promise.all(running);
    await cluster.kubectl.deleteNamespace(namespace);
  });

  async function started(options: Pick<ManagerOptions, 'controllers' | 'idleMs' | 'staleMs'>): Promise<Manager> {
    const credentials = new Credentials(cluster.kubeconfig);
    const manager = new Manager({ ...options, credentials, log: newLog('silent'), namespaces: [namespace] });
    running.push(manager.run(stopping.signal));
    await until('it is ready', () => manager.ready());
    return manager;
  }

  /** The kinds that were stale at any time. */
  async function staleKinds(manager: Manager, seconds: number): Promise<string[]> {
    const stale = new Set<string>();
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(500))
      if (!manager.ready()) stale.add(oldest(await manager.exposition()));
    return [...stale];
  }

  it('is ready while no Event comes, of which the API server sends no bookmarks', async () => {
    const manager = await started({ controllers: [quietEvents], idleMs: 1000, staleMs: 70_000 });
    await sleep(5000);
    const events = /staleness_seconds\{kind="Event"[^}]*\} (\S+)/.exec(await manager.exposition());
    expect(Number(events?.[1])).to.be.below(3);
  });

  it('is ready with all that it watches', async () => {
    const controllers = controllersOf({
      ...{ namespace: [namespace], leaderElect: false, workers: 1, clusterNetwork: [] },
      ...{ host: '127.0.0.1', healthPort: 0, metricsPort: 0 },
    });
    const manager = await started({ controllers, staleMs: (SECONDS * 1000) / 2 });
    expect(await staleKinds(manager, SECONDS)).to.deep.equal([]);
  });
});

function oldest(exposition: string): string {
  const lines = [...exposition.matchAll(/staleness_seconds\{kind="(\w+)"[^}]*\} (\S+)/g)];
  const [first] = lines.toSorted(([, , a], [, , b]) => Number(b) - Number(a));
  return `${first?.[1]} ${Math.round(Number(first?.[2]))} s`;
}
