import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { managed, running, specs } from './specs.ts';

describe('the certificate of an Ingress', () => {
  const annotationsFor = async (issuerRef: object): Promise<Record<string, string>> => {
    const here = await running({ ...managed, ingress: { host: 'films.example', tls: { issuerRef } } });
    const { annotations = {} } = here.kube.get('Ingress', 'media', 'home')?.metadata ?? {};
    return Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith('cert-manager.io/')));
  };

  it('is named as cert-manager takes it: its own kinds by name, those of others by kind and group', async () => {
    expect(await annotationsFor({ name: 'le' })).to.deep.equal({ 'cert-manager.io/issuer': 'le' });
    expect(await annotationsFor({ name: 'le', kind: 'ClusterIssuer' })).to.deep.equal({
      'cert-manager.io/cluster-issuer': 'le',
    });
    const theirs = { name: 'ca', kind: 'AWSPCAClusterIssuer', group: 'awspca.cert-manager.io' };
    expect(await annotationsFor(theirs)).to.deep.equal({
      'cert-manager.io/issuer': 'ca',
      'cert-manager.io/issuer-kind': theirs.kind,
      'cert-manager.io/issuer-group': theirs.group,
    });
  });
});

describe('the HTTPRoute of a gateway', () => {
  it('is well once a Gateway takes it and finds the Service', async () => {
    const here = await running(specs.cloudNativePG);
    const route = here.kube.get('HTTPRoute', 'media', 'home') as KubeObject;
    const verdictFor = async (resolved: string): Promise<string> => {
      const accepted = { type: 'Accepted', status: 'True' };
      const refs = { type: 'ResolvedRefs', status: resolved, message: 'Service home-api is not found' };
      here.kube.put({ ...route, status: { parents: [{ conditions: [accepted, refs] }] } });
      await here.pass();
      return `${here.condition('IngressReady')}: ${here.message('IngressReady')}`;
    };
    expect(await verdictFor('False')).to.match(/^False NotAccepted: .*is not found$/);
    expect(await verdictFor('True')).to.match(/^True Accepted/);
  });
});
