import { expect } from 'chai';
import { Cache } from '#operator/runtime/cache.ts';
import { type KubeObject, OWNER } from '#operator/runtime/kube.ts';

const object = (name: string, version: number, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a', resourceVersion: String(version), labels },
});

describe('cache', () => {
  let notified: string[];
  let cache: Cache;
  const version = (name: string) => cache.get('a', name)?.metadata.resourceVersion;

  beforeEach(() => {
    notified = [];
    cache = new Cache(({ metadata }) => notified.push(`${metadata.name} ${metadata.resourceVersion}`));
  });

  it('keeps our write when the watch still delivers an earlier state', () => {
    cache.put(object('x', 10));
    cache.put(object('x', 9));
    expect(version('x')).to.equal('10');
    cache.put(object('x', 100)); // a longer number is a later one
    expect(version('x')).to.equal('100');
    expect(notified).to.deep.equal(['x 10', 'x 100']);
  });

  it('is not brought back by the late answer to a write when it was deleted meanwhile', () => {
    cache.put(object('x', 10));
    cache.drop(object('x', 12));
    cache.put(object('x', 11));
    expect(version('x')).to.equal(undefined);
    cache.put(object('x', 13)); // created again
    expect(version('x')).to.equal('13');
  });

  it('removes objects that a list lacks, but not those that were written after the list was made', () => {
    cache.put(object('old', 10));
    cache.put(object('new', 30));
    cache.replace('a', [object('other', 15)], '20');
    expect([version('old'), version('new'), version('other')]).to.deep.equal([undefined, '30', '15']);
  });

  it('takes nothing from a list that is older than the cached state', () => {
    cache.put(object('x', 30));
    cache.replace('a', [object('x', 5)], '6');
    expect(version('x')).to.equal('30');
  });

  it('finds by namespace, labels and owner', () => {
    cache.put(object('x', 1, { [OWNER]: 'u1', role: 'api' }));
    cache.put(object('y', 2, { [OWNER]: 'u1' }));
    cache.put(object('z', 3, { [OWNER]: 'u2', role: 'api' }));
    const names = (labels: Record<string, string>, namespace = 'a') =>
      cache.list(namespace, labels).map(({ metadata }) => metadata.name);
    expect(names({ [OWNER]: 'u1' })).to.have.members(['x', 'y']);
    expect(names({ [OWNER]: 'u1', role: 'api' })).to.deep.equal(['x']);
    expect(names({ role: 'api' }, '')).to.have.members(['x', 'z']);
    expect(names({}, 'b')).to.deep.equal([]);
    cache.put(object('x', 4));
    expect(names({ [OWNER]: 'u1' })).to.deep.equal(['y']);
  });
});
