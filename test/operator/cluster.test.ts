import { expect } from 'chai';
import { networksOf } from '#operator/cluster.ts';
import { Refused } from '#operator/refused.ts';

describe('ranges of the cluster', () => {
  it('are each reported once, in one order', () => {
    const clusterNetwork = ['10.96.0.0/12', 'fd00:10::/56', '10.96.0.0/12', '10.244.0.0/16'];
    expect(networksOf({ clusterNetwork })).to.deep.equal(['10.244.0.0/16', '10.96.0.0/12', 'fd00:10::/56']);
    expect(networksOf({ clusterNetwork: [] })).to.deep.equal([]);
  });

  it('that are invalid stop the operator: a mistake would leave the cluster open', () => {
    for (const wrong of ['10.244.0.0', '10.244.0.0/33', '10.300.0.0/16', 'pods', 'fd00::/129'])
      expect(() => networksOf({ clusterNetwork: ['10.96.0.0/12', wrong] }), wrong).to.throw(Refused, wrong);
  });
});
