// Objects that may be removed: none that the plan did not know of.
import { expect } from 'chai';
import { Applier } from '#operator/runtime/apply.ts';
import { Cache } from '#operator/runtime/cache.ts';
import type { Caches } from '#operator/runtime/caches.ts';
import { APPLIED, type KubeObject, OWNER, type Prune } from '#operator/runtime/kube.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import type { Rest } from '#operator/runtime/rest.ts';

const owner: KubeObject = {
  apiVersion: 'foyer.media/v1alpha1',
  kind: 'MediaServer',
  metadata: { name: 'home', namespace: 'media', uid: 'u', generation: 1 },
};
const job = (name: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    ...{ name, namespace: 'media', uid: `uid of ${name}`, resourceVersion: '1' },
    ...{ labels: { [OWNER]: 'u' }, annotations: { [APPLIED]: 'x' } },
  },
});

async function pruned(prune: Prune): Promise<string[]> {
  const cache = new Cache(() => undefined);
  for (const name of ['known', 'come-since']) cache.put(job(name));
  const deleted: string[] = [];
  const rest = {
    read: async ({ path }: { path: string }) => (path === 'home' ? owner : job(path)),
    write: async ({ path }: { path: string }) => deleted.push(path) && {},
  } as unknown as Rest;
  const pathOf = async (_kind: string, _namespace: string, name: string) => name;
  const caches = { of: () => cache, pathOf, kinds: () => ['Job'] } as unknown as Caches;
  const applier = new Applier({ rest, caches, metrics: newMetrics(), drifted: () => undefined });
  await applier.apply(owner, [], { prune });
  return deleted.sort();
}

describe('children that are not desired', () => {
  it('go, but only those that the plan knew of', async () => {
    expect(await pruned(true)).to.deep.equal(['come-since', 'known']);
    expect(await pruned(new Set(['uid of known']))).to.deep.equal(['known']);
    expect(await pruned(false)).to.deep.equal([]);
  });
});
