import { expect } from 'chai';
import { managed, running } from './specs.ts';

describe('the certificate of an Ingress', () => {
  const asked = async (issuerRef: object): Promise<Record<string, string>> => {
    const here = await running({ ...managed, ingress: { host: 'films.example', tls: { issuerRef } } });
    const { annotations = {} } = here.kube.get('Ingress', 'media', 'home')?.metadata ?? {};
    return Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith('cert-manager.io/')));
  };

  it('is asked for as cert-manager takes it: its own kinds by name, those of others by kind and group', async () => {
    expect(await asked({ name: 'le' })).to.deep.equal({ 'cert-manager.io/issuer': 'le' });
    expect(await asked({ name: 'le', kind: 'ClusterIssuer' })).to.deep.equal({
      'cert-manager.io/cluster-issuer': 'le',
    });
    const theirs = { name: 'ca', kind: 'AWSPCAClusterIssuer', group: 'awspca.cert-manager.io' };
    expect(await asked(theirs)).to.deep.equal({
      'cert-manager.io/issuer': 'ca',
      'cert-manager.io/issuer-kind': theirs.kind,
      'cert-manager.io/issuer-group': theirs.group,
    });
  });
});
