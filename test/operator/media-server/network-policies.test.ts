import { expect } from 'chai';
import { managed, running } from './specs.ts';

const bucket = (endpoint: string) => ({ s3: { endpoint, bucket: 'backups', secretRef: { name: 's3' } } });
const opened = async (spec: object): Promise<number[]> => {
  const here = await running({ ...managed, ...spec });
  const { egress } = (here.kube.get('NetworkPolicy', 'media', 'home-outside')?.spec ?? {}) as {
    egress: { to?: object; ports?: { port: number }[] }[];
  };
  return egress.filter(({ to }) => !to).flatMap(({ ports = [] }) => ports.map(({ port }) => port));
};

describe('the way out of a server', () => {
  it('leads to the buckets of backups and the provider that the resource names, wherever they stand', async () => {
    expect(await opened({})).to.deep.equal([]);
    const backup = { destination: bucket('http://nas.lan:9000'), copyTo: bucket('https://10.1.2.3') };
    expect(await opened({ backup })).to.deep.equal([443, 9000]);
    const oidc = { issuer: 'https://id.auth.svc:8443/r', clientId: 'foyer', clientSecretRef: { name: 'oidc' } };
    expect(await opened({ oidc })).to.deep.equal([8443]);
  });
});
